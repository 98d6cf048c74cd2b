/**
 * Simulation writes: the row with its workflow run, a further attempt, and the end, each in the caller's transaction.
 * The network's messages change money and intents.
 * @module
 */
import type { Tx } from '../../../db/tx.ts';
import type { Cents } from '../../../kernel/money.ts';
import { assertBelowLimit } from '../../../platform/assert-limit.ts';
import type { Cause } from '../../../platform/cause.ts';
import { recordTransition } from '../../../platform/transitions.ts';
import { closeWorkflowRun, openWorkflowRun } from '../../../platform/workflow-runs.ts';
import { SimulationRow } from './simulation.entity.ts';
import { simulationWorkflow, simulationWorkflowId } from './simulation.messages.ts';
import type { ChargeRefusal } from './simulation.port.ts';
import { lockSimulation } from './simulation.queries.ts';
import { isFinalSimulation, type WantedOutcome } from './simulation.rules.ts';

export type NewSimulation = {
  readonly id: SimulationRow['id'];
  readonly ownerId: string;
  readonly agentId: string;
  readonly cardId: string;
  readonly intentId: string | null;
  readonly amountCents: Cents;
  readonly merchant: string;
  readonly mcc: string;
  readonly country: string;
  readonly wanted: WantedOutcome;
};

export async function openSimulation(tx: Tx, cause: Cause, wish: NewSimulation): Promise<SimulationRow> {
  const { at, requestId, runId = null } = cause;
  await assertBelowLimit(tx, 'simulations', { ownerId: wish.ownerId, subject: wish.ownerId, at });
  const row = tx.create(SimulationRow, {
    ...wish,
    status: 'open',
    attempt: 1,
    transactionId: null,
    refusal: null,
    requestId,
    runId,
    createdAt: at,
    updatedAt: at,
  });
  await tx.flush();
  await recordTransition(tx, 'simulation', row.id, { from: null, to: 'open' }, cause);
  await openWorkflowRun(tx, {
    id: simulationWorkflowId(row.id),
    workflow: simulationWorkflow,
    subjectId: row.id,
    ownerId: wish.ownerId,
    agentId: wish.agentId,
    stage: 'open',
    amountCents: wish.amountCents,
    dueAt: at,
    at,
  });
  return row;
}

export type SimulationEnd =
  | { readonly status: 'done'; readonly transactionId: string }
  | { readonly status: 'refused'; readonly refusal: ChargeRefusal };

/** One that has ended stays as it is. */
export async function endSimulation(tx: Tx, id: string, end: SimulationEnd, cause: Cause): Promise<SimulationRow> {
  const row = await lockSimulation(tx, id);
  if (isFinalSimulation(row.status)) return row;
  Object.assign(row, end, { updatedAt: cause.at });
  await tx.flush();
  await recordTransition(tx, 'simulation', id, { from: 'open', to: row.status }, cause);
  await closeWorkflowRun(tx, simulationWorkflowId(id), { isOwnStep: true });
  return row;
}

/** The network is asked anew, unless that was noted before. */
export async function askAgain(tx: Tx, id: string, attempt: number, at: Date): Promise<void> {
  const row = await lockSimulation(tx, id);
  if (isFinalSimulation(row.status) || row.attempt !== attempt) return;
  Object.assign(row, { attempt: attempt + 1, updatedAt: at });
  await tx.flush();
}
