/** The highest amount that one charge of an intent may take, for its approver. No decision is made here. @module */
import type { Tx } from '../../../db/tx.ts';
import type { Cents } from '../../../kernel/money.ts';
import { maxChargeCentsFor, tolerancesOf } from '../policies/index.ts';
import type { PublishedIntent } from './intent.wire.ts';

type Chargeable = Pick<PublishedIntent, 'id' | 'agentId' | 'expectedAmountCents' | 'recurring'>;

/** By the policies in force, which a charge is evaluated by as well. */
export async function maxChargeCentsOf(tx: Tx, intents: readonly Chargeable[]): Promise<(intent: Chargeable) => Cents> {
  const tolerances = await tolerancesOf(tx, [...new Set(intents.map(({ agentId }) => agentId))]);
  return ({ id, agentId, expectedAmountCents, recurring }) =>
    maxChargeCentsFor(
      { id, expectedAmountCents, tolerancePercent: recurring?.amountTolerancePercent },
      tolerances.get(agentId),
    );
}
