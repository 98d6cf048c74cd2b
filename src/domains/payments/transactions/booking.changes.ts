/** What a booking tells: completion, and what an owner should look at. Shapes only; written by the booking. @module */
import type { Change } from '../../../events/record.ts';
import { eurosFromCents, percentOf } from '../../../kernel/money.ts';
import type { TransactionRow } from './transaction.entity.ts';
import { overClearingTolerancePercent, type TransactionChange } from './transaction.rules.ts';
import { completedData, transactionData } from './transaction.wire.ts';

export const completion = (row: TransactionRow, { completes }: TransactionChange): Change[] =>
  completes ? [{ ...changeOf(row, 'transaction.completed'), data: completedData(row) }] : [];

type Circumstances = {
  change: TransactionChange;
  before: { heldCents: number; approvedCents: number };
  owedCents: number;
};

/** What an owner should look at: a charge without a live hold, far above it, or more than there was money for. */
export function alerts(row: TransactionRow, { change, before, owedCents }: Circumstances): Change[] {
  const usualCents = percentOf(before.approvedCents, overClearingTolerancePercent);
  const signals = [
    ...(before.heldCents === 0 && change.beyondCents > 0 ? ['cleared_without_hold'] : []),
    ...(before.heldCents > 0 && change.beyondCents > usualCents ? ['cleared_above_tolerance'] : []),
    ...(owedCents > 0 ? ['receivable'] : []),
  ];
  if (signals.length === 0) return [];
  const figures = { beyondEuros: eurosFromCents(change.beyondCents), receivableEuros: eurosFromCents(owedCents) };
  const data = {
    id: row.id,
    agentId: row.agentId,
    transactionId: row.id,
    status: row.status,
    action: 'alert',
    signals,
    ...figures,
  };
  return [{ ...changeOf(row, 'risk.alert_created'), data, details: { signals } }];
}

type TransactionEvent = Extract<Change['event'], `transaction.${string}` | 'risk.alert_created'>;

export const changeOf = (
  row: TransactionRow,
  event: TransactionEvent,
  details: Record<string, unknown> = {},
): Change => ({
  event,
  ownerId: row.ownerId,
  agentId: row.agentId,
  subjectId: row.id,
  data: transactionData(row),
  details,
});
