/** The events of a booking: completion, and alerts for the owner. Shapes only; the booking writes them. @module */
import type { EventsLike } from '../../../events/catalog.ts';
import type { Change } from '../../../events/record.ts';
import { type Cents, cents, eurosFromCents, percentOf } from '../../../kernel/money.ts';
import type { TransactionRow } from './transaction.entity.ts';
import { overClearingTolerancePercent, type TransactionChange } from './transaction.rules.ts';
import { completedData, transactionData } from './transaction.wire.ts';

export const completion = (row: TransactionRow, { completes }: TransactionChange): Change[] =>
  completes
    ? [{ event: 'transaction.completed', ...aboutTransaction(row), data: completedData(row), details: {} }]
    : [];

type AlertedRow = Pick<TransactionRow, 'id' | 'ownerId' | 'agentId' | 'status'>;

type Circumstances = {
  change: TransactionChange;
  before: { heldCents: Cents; approvedCents: Cents };
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
  return alertAbout(row, signals, { beyondCents: change.beyondCents, owedCents });
}

/**
 * A payment ends: now it is known that more was given back than was collected. Until then a clearing could still come,
 * so the refund itself raised no alert.
 */
export function refundAlert(row: TransactionRow, { completes, isFullyReversed }: TransactionChange): Change[] {
  const beyondCents = cents(Math.max(0, row.refundedCents - row.clearedCents));
  if (!(completes || isFullyReversed) || beyondCents === 0) return [];
  return alertAbout(row, ['refunded_above_collected'], { beyondCents });
}

/** `beyondCents`: by how much the message goes beyond what was known of the payment. */
export function alertAbout(
  row: AlertedRow,
  signals: readonly string[],
  { beyondCents, owedCents = 0 }: { readonly beyondCents: Cents; readonly owedCents?: number },
): Change[] {
  if (signals.length === 0) return [];
  const figures = { beyondEuros: eurosFromCents(beyondCents), receivableEuros: eurosFromCents(cents(owedCents)) };
  const data = {
    id: row.id,
    transactionId: row.id,
    ownerId: row.ownerId,
    agentId: row.agentId,
    status: row.status,
    action: 'alert',
    signals: [...signals],
    ...figures,
  };
  return [{ event: 'risk.alert_created', ...aboutTransaction(row), data, details: { signals } }];
}

const aboutTransaction = ({ id, ownerId, agentId }: Pick<AlertedRow, 'id' | 'ownerId' | 'agentId'>) => ({
  ownerId,
  agentId,
  subjectId: id,
});

/** The network has decided, and not the rules. */
export const approvedByNetwork = (row: TransactionRow, details: Record<string, unknown>): Change => ({
  event: 'transaction.authorization',
  ...aboutTransaction(row),
  data: { ...transactionData(row), decision: null },
  details,
});

export const changeOf = (
  row: TransactionRow,
  event: EventsLike<'transaction.created'> | 'transaction.updated',
  details: Record<string, unknown> = {},
): Change => ({ event, ...aboutTransaction(row), data: transactionData(row), details });
