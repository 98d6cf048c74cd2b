/** The shape of an intent for callers and for its events. Shapes only. @module */
import type { EventData } from '../../../events/catalog.ts';
import { isoOf, isoOrNull } from '../../../kernel/instant.ts';
import { eurosFromCents } from '../../../kernel/money.ts';
import { figuresWire } from '../policies/policy.wire.ts';
import type { DeclinedCharge } from './allow-once.rules.ts';
import type { IntentRow } from './intent.entity.ts';
import type { DeclinedView, IntentView } from './intent.messages.ts';
import type { IntentFacts, IntentWindowWire } from './intent-shapes.contract.ts';
import type { Window } from './windows/recurrence.rules.ts';
import type { WindowStatus } from './windows/window.rules.ts';

/** Every published field of an intent comes from these. */
export const publishedFields = [
  'id',
  'ownerId',
  'agentId',
  'purpose',
  'expectedAmountCents',
  'expectedMerchant',
  'status',
  'recurring',
  'expiresAt',
  'cardId',
  'policyCheck',
  'clientIntentId',
  'approvedBy',
  'approvedAt',
  'deniedReason',
  'completedAt',
  'matchedTransactionId',
  'transferId',
  'openPaymentId',
  'transactionId',
  'declinedCharge',
  'allowsOnceOf',
  'attestedAt',
  'verified',
  'createdAt',
  'windowNumber',
  'windowDueAt',
  'windowFromAt',
  'windowToAt',
] as const satisfies readonly (keyof IntentRow)[];
export type PublishedIntent = Pick<IntentRow, (typeof publishedFields)[number]>;

type NotInEvents =
  | 'purpose'
  | 'expectedMerchant'
  | 'policyCheck'
  | 'clientIntentId'
  | 'approvedBy'
  | 'deniedReason'
  | 'openPaymentId';
/** What the events of an intent are made of. */
export type EventedIntent = Omit<PublishedIntent, NotInEvents>;

export const intentWire = (row: PublishedIntent): IntentFacts => ({
  id: row.id,
  ownerId: row.ownerId,
  agentId: row.agentId,
  purpose: row.purpose,
  expectedAmountEuros: eurosFromCents(row.expectedAmountCents),
  expectedMerchant: row.expectedMerchant ?? null,
  status: row.status,
  recurring: row.recurring ?? null,
  expiresAt: isoOf(row.expiresAt),
  cardId: row.cardId,
  policyCheck: row.policyCheck,
  clientIntentId: row.clientIntentId ?? null,
  approvedBy: row.approvedBy ?? null,
  approvedAt: isoOrNull(row.approvedAt),
  deniedReason: row.deniedReason ?? null,
  completedAt: isoOrNull(row.completedAt),
  matchedTransactionId: row.matchedTransactionId ?? null,
  transferId: row.transferId ?? null,
  openPaymentId: row.openPaymentId ?? null,
  transactionId: row.transactionId ?? null,
  declinedCharge: declinedChargeWire(row.declinedCharge ?? null),
  allowsOnceOf: row.allowsOnceOf ?? null,
  attestedAt: isoOrNull(row.attestedAt),
  verified: row.verified,
  createdAt: isoOf(row.createdAt),
  window: currentWindow(row),
});

const declinedChargeWire = (charge: DeclinedCharge | null): IntentFacts['declinedCharge'] =>
  charge === null
    ? null
    : {
        transactionId: charge.transactionId,
        merchantId: charge.merchant.id,
        merchantMcc: charge.merchant.mcc,
        merchantCountry: charge.merchant.country,
        rule: charge.rule,
        figures: figuresWire(charge.figures),
      };

/** The days are whole days in UTC, so the due day has no time. */
export const windowWire = ({ number, dueAt, fromAt, toAt }: Window): IntentWindowWire => ({
  number,
  dueOn: dueAt.toISOString().slice(0, 10),
  from: fromAt.toISOString(),
  to: toAt.toISOString(),
});

type PaidWindow = Window & { readonly status: WindowStatus; readonly transactionId: string | null };

/** Without purpose, merchant, reason and approver, which are texts or may name people. */
export const intentEventData = (row: EventedIntent): EventData<'intent.created'> => ({
  ...withoutWindow(row),
  window: currentWindow(row),
});

/** Of a recurring intent: the event's own window takes the place of the current one. */
export const windowEventData = (row: EventedIntent, window: PaidWindow): EventData<'intent_window.completed'> => ({
  ...withoutWindow(row),
  matchedTransactionId: window.transactionId,
  window: { ...windowWire(window), status: window.status },
});

const withoutWindow = (row: EventedIntent): Omit<EventData<'intent.created'>, 'window'> => ({
  id: row.id,
  ownerId: row.ownerId,
  agentId: row.agentId,
  cardId: row.cardId,
  status: row.status,
  expectedAmountEuros: eurosFromCents(row.expectedAmountCents),
  recurring: row.recurring ?? null,
  expiresAt: isoOf(row.expiresAt),
  approvedAt: isoOrNull(row.approvedAt),
  completedAt: isoOrNull(row.completedAt),
  matchedTransactionId: row.matchedTransactionId ?? null,
  transactionId: row.transactionId ?? null,
  transferId: row.transferId ?? null,
  declinedTransactionId: row.declinedCharge?.transactionId ?? null,
  allowsOnceOf: row.allowsOnceOf ?? null,
  attestedAt: isoOrNull(row.attestedAt),
  verified: row.verified,
  createdAt: isoOf(row.createdAt),
});

/** Of an approved recurring one: what is current or next, and unpaid. */
function windowOf({ status, windowNumber, windowDueAt, windowFromAt, windowToAt }: EventedIntent): Window | null {
  if (status !== 'approved' || windowNumber == null) return null;
  if (windowDueAt == null || windowFromAt == null || windowToAt == null) return null;
  return { number: windowNumber, dueAt: windowDueAt, fromAt: windowFromAt, toAt: windowToAt };
}

function currentWindow(row: EventedIntent): IntentWindowWire | null {
  const window = windowOf(row);
  return window === null ? null : windowWire(window);
}

export const intentView = (row: IntentRow): IntentView => ({
  intentId: row.id,
  status: row.status,
  isMatched: isMatched(row),
  transferId: row.transferId ?? null,
  openPaymentId: row.openPaymentId ?? null,
  expiresAt: row.expiresAt.toISOString(),
  amountCents: row.expectedAmountCents,
  agentId: row.agentId,
  approvedBy: row.approvedBy ?? null,
  recurring: row.recurring?.cadence ?? null,
  window: windowView(windowOf(row)),
});

/** What an operator reads of the charge: ids, codes and amounts. */
export function declinedView({ declinedCharge, allowsOnceOf }: IntentRow): DeclinedView | null {
  if (declinedCharge == null) return null;
  const { transactionId, merchant, rule, figures } = declinedCharge;
  const { limitCents, spentCents } = figures;
  return {
    transactionId,
    merchantId: merchant.id.slice(0, 100),
    mcc: merchant.mcc,
    country: merchant.country,
    rule,
    limitCents: typeof limitCents === 'number' ? limitCents : null,
    spentCents: typeof spentCents === 'number' ? spentCents : null,
    isAllowed: allowsOnceOf != null,
  };
}

const windowView = (window: Window | null): NonNullable<IntentView['window']> | null =>
  window === null
    ? null
    : { dueAt: window.dueAt.toISOString(), from: window.fromAt.toISOString(), to: window.toAt.toISOString() };

const isMatched = (row: IntentRow): boolean => (row.matchedTransactionId ?? null) !== null || row.transferId != null;
