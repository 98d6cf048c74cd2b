/**
 * Converts an intent's row for the rules, and a refusal of the rules into an error. Decides nothing and changes
 * nothing.
 * @module
 */
import { DomainError } from '../../../kernel/errors.ts';
import type { IntentRow } from './intent.entity.ts';
import {
  type IntentDeadline,
  type IntentState,
  type IntentUse,
  statusAsOf,
  whyPastDeadline,
  whyUnpayable,
} from './intent.rules.ts';

/** The columns that say where an intent stands. */
export type Standing = Pick<
  IntentRow,
  'status' | 'matchedTransactionId' | 'transferId' | 'openPaymentId' | 'recurring' | 'expiresAt' | 'allowsOnceOf'
>;

export const stateOf = (row: Standing): IntentState & IntentDeadline & IntentUse => ({
  status: row.status,
  matchedTransactionId: row.matchedTransactionId ?? null,
  transferId: row.transferId ?? null,
  openPaymentId: row.openPaymentId ?? null,
  isRecurring: (row.recurring ?? null) !== null,
  expiresAt: row.expiresAt,
  allowsOnceOf: row.allowsOnceOf ?? null,
});

export function refusePastDeadline(row: Standing, at: Date): void {
  const why = whyPastDeadline(stateOf(row), at);
  if (why !== undefined) throw new DomainError('invalid_state', why);
}

/** From its deadline on an intent is expired, whether or not its workflow has marked it. */
export function refuseExpired(row: Standing, command: string, at: Date): void {
  if (statusAsOf(stateOf(row), at) !== 'expired') return;
  throw new DomainError('invalid_state', `cannot ${command} an intent that is expired`);
}

/** Of a recurring intent it says nothing about its windows. */
export function refuseUnpayable(row: Standing, at: Date): void {
  const why = whyUnpayable(stateOf(row), at);
  if (why !== undefined) throw new DomainError('invalid_state', why);
}
