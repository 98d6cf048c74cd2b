/** The window in which a recurring intent may be paid now, or the error when there is none. @module */
import type { Tx } from '../../../../db/tx.ts';
import { DomainError } from '../../../../kernel/errors.ts';
import type { IntentRow } from '../intent.entity.ts';
import { scheduleOf } from '../matchable-intent.rules.ts';
import { spanInWords, windowAt, windowNotOver } from './recurrence.rules.ts';
import { findWindow, type WindowRow } from './window.queries.ts';

/** A charge of an open machine payment counts as of when the payment was begun, whatever has passed since. */
export const payableAt = ({ openPaymentAt }: Pick<IntentRow, 'openPaymentAt'>, at: Date): Date => openPaymentAt ?? at;

/**
 * What is known of the window that `at` lies in: null where nothing has paid for it yet. While a machine payment is open
 * it is that payment's window.
 */
export async function windowOfNow(tx: Tx, intent: IntentRow, at: Date): Promise<WindowRow | null> {
  const schedule = scheduleOf(intent);
  const window = schedule === undefined ? undefined : windowAt(schedule, payableAt(intent, at));
  return window === undefined ? null : findWindow(tx, intent.id, window.number);
}

export function isBetweenWindows(intent: IntentRow, at: Date): boolean {
  const schedule = scheduleOf(intent);
  return schedule !== undefined && windowAt(schedule, payableAt(intent, at)) === undefined;
}

/** Says nothing to an intent that is for one payment. */
export function refuseBetweenWindows(intent: IntentRow, at: Date): void {
  const schedule = scheduleOf(intent);
  if (schedule === undefined || !isBetweenWindows(intent, at)) return;
  const next = windowNotOver(schedule, at);
  const when = next === undefined ? 'no window of it is left' : `it may be paid for next ${spanInWords(next)}`;
  throw new DomainError('invalid_state', `the intent cannot be paid for now: ${when}`);
}

/** The intent is locked, so that its windows stand still. */
export async function refuseClosedWindow(tx: Tx, intent: IntentRow, at: Date): Promise<void> {
  refuseBetweenWindows(intent, at);
  const window = await windowOfNow(tx, intent, at);
  if (window?.transactionId == null) return;
  throw new DomainError(
    'invalid_state',
    `transaction ${window.transactionId} has paid for the window ${spanInWords(window)} already`,
  );
}
