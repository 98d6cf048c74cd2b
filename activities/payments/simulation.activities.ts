/** Simulation steps the worker runs, safe to repeat: read the row, have the network charge the card. @module */
import { setTimeout } from 'node:timers/promises';
import type { Database } from '../../src/db/database.ts';
import type { Tx } from '../../src/db/tx.ts';
import { cardRefOf } from '../../src/domains/cards/cards/card.queries.ts';
import type { SimulationRow } from '../../src/domains/payments/simulations/simulation.entity.ts';
import type { ChargeOutcome, NetworkSimulator } from '../../src/domains/payments/simulations/simulation.port.ts';
import { findSimulation, simulationState } from '../../src/domains/payments/simulations/simulation.queries.ts';
import { isFinalSimulation } from '../../src/domains/payments/simulations/simulation.rules.ts';
import { askAgain, endSimulation } from '../../src/domains/payments/simulations/simulation.service.ts';
import type { TransactionRow } from '../../src/domains/payments/transactions/transaction.entity.ts';
import { findByAuthorization, findTransaction } from '../../src/domains/payments/transactions/transaction.queries.ts';
import { notFound, unavailable } from '../../src/kernel/errors.ts';
import { type Cause, causedBy } from '../../src/platform/cause.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { refusing } from '../lib/refusals.ts';

type Deps = { readonly database: Database; readonly clock: Clock; readonly simulator: NetworkSimulator };

type SimulationState = ReturnType<typeof simulationState>;

/** The name by which the simulated network signs. */
const adapter = 'sandbox';

export const simulationActivities = (deps: Deps) => ({
  readSimulation: refusing(
    async (simulationId: string): Promise<SimulationState> => simulationState(await known(deps, simulationId)),
  ),

  /** The authorization wrote its transaction while the network was asked; here the row learns which it is. */
  playSimulation: refusing(async (simulationId: string): Promise<SimulationState> => {
    const { database, clock, simulator } = deps;
    const row = await known(deps, simulationId);
    if (isFinalSimulation(row.status)) return simulationState(row);
    const outcome = await simulator.charge({
      simulationId,
      cardRef: await cardRefOf(database.read(), row.cardId),
      amountCents: row.amountCents,
      merchant: { name: row.merchant, mcc: row.mcc, country: row.country },
      idempotencyKey: `${simulationId}/${row.attempt}`,
    });
    await hearLateAnswer(database, outcome);
    const at = await clock.now();
    const own = { causeId: `simulation:${simulationId}`, requestId: row.requestId, actor: system, at };
    const cause = causedBy(own, row);
    const ended = await database.write((tx) => conclude(tx, row, outcome, cause));
    if (ended === undefined) throw unavailable('the simulated network decided without hearing the answer');
    return simulationState(ended);
  }),
});

export type SimulationActivities = ReturnType<typeof simulationActivities>;

const system = { kind: 'system' } as const;

/** Bursar may be deciding still, too late for the network: what comes of that is better than a second charge. */
async function hearLateAnswer(database: Database, outcome: ChargeOutcome): Promise<void> {
  if (outcome.outcome !== 'undecided') return;
  if ((await transactionOf(database.read(), outcome)) === null) await setTimeout(lateAnswerMs);
}
const lateAnswerMs = 2_000;

/** Undefined: nothing came of it, and the network is asked anew under another key. */
async function conclude(
  tx: Tx,
  { id, attempt }: SimulationRow,
  outcome: ChargeOutcome,
  cause: Cause,
): Promise<SimulationRow | undefined> {
  if (outcome.outcome === 'refused')
    return endSimulation(tx, id, { status: 'refused', refusal: outcome.reason }, cause);
  const transaction = await transactionOf(tx, outcome);
  if (transaction !== null) return endSimulation(tx, id, { status: 'done', transactionId: transaction.id }, cause);
  await askAgain(tx, id, attempt, cause.at);
  return undefined;
}

const transactionOf = (
  tx: Tx,
  answer: Exclude<ChargeOutcome, { outcome: 'refused' }>,
): Promise<TransactionRow | null> =>
  answer.outcome === 'asked'
    ? findTransaction(tx, answer.transactionId)
    : findByAuthorization(tx, adapter, answer.authorizationId);

async function known({ database }: Deps, id: string): Promise<SimulationRow> {
  const row = await findSimulation(database.read(), id);
  if (row === null) throw notFound('simulation', id);
  return row;
}
