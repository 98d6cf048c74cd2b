/**
 * Simulation reads: the row, its view for the workflow, and its facts for a decision. No decision is made here.
 * @module
 */
import { LockMode } from '@mikro-orm/core';
import { type Given, query } from '../../../db/db.ts';
import type { Tx } from '../../../db/tx.ts';
import { notFound } from '../../../kernel/errors.ts';
import type { RowState } from '../../../kernel/row-state.ts';
import type { OriginatingCall } from '../../../platform/cause.ts';
import { SimulationRow } from './simulation.entity.ts';
import type { SimulationView } from './simulation.messages.ts';
import { isFinalSimulation, type SimulationFact, type WantedOutcome } from './simulation.rules.ts';

export const findSimulation = (tx: Tx, id: string): Promise<SimulationRow | null> =>
  tx.findOne(SimulationRow, { id: id as SimulationRow['id'] }, { refresh: true });

export async function lockSimulation(tx: Tx, id: string): Promise<SimulationRow> {
  const options = { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true } as const;
  const row = await tx.findOne(SimulationRow, { id: id as SimulationRow['id'] }, options);
  if (row === null) throw notFound('simulation', id);
  return row;
}

const simulationView = (row: SimulationRow): SimulationView => ({
  simulationId: row.id,
  agentId: row.agentId,
  status: row.status,
  amountCents: row.amountCents,
  transactionId: row.transactionId ?? null,
  code: row.refusal ?? null,
});

/** The simulation as its workflow follows it. */
export function simulationState(row: SimulationRow): RowState<SimulationView, SimulationFact> {
  const final = isFinalSimulation(row.status);
  return { version: row.version, final, reached: final ? ['charged'] : [], dueInMs: {}, view: simulationView(row) };
}

/** What a charge that the network was asked to make is evaluated by besides the rules. Never changes. */
export type SimulationFacts = {
  readonly id: string;
  /** The only intent that may pay for it; null leaves the choice to the rules. */
  readonly intentId: string | null;
  readonly wanted: WantedOutcome;
} & OriginatingCall;

const facts = query((from, given: Given<{ id: string; cardId: string }>) =>
  from
    .selectFrom('simulations')
    .select(['id', 'intentId', 'wanted', 'requestId', 'runId'])
    .where('id', '=', given('id'))
    .where('cardId', '=', given('cardId')),
);

/** Null for what was not asked for here, or of another card: then the charge is one like any. */
export const simulationFactsOf = (tx: Tx, asked: { id: string; cardId: string }): Promise<SimulationFacts | null> =>
  facts.first(tx, asked);
