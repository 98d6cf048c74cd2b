/**
 * Sets the window that the row of a recurring intent contains: the current or the next one. Changes the row; the caller
 * saves it.
 * @module
 */
import type { IntentRow } from '../intent.entity.ts';
import { isBeingPaid } from '../intent.rules.ts';
import { type Standing, stateOf } from '../intent.state.service.ts';
import { scheduleOf } from '../matchable-intent.rules.ts';
import { type Window, windowNotOver } from './recurrence.rules.ts';

/** A person or the policy approves it now: its schedule begins. */
export function anchor(intent: IntentRow, at: Date): void {
  if (intent.recurring == null) return;
  intent.anchorAt = at;
  const schedule = scheduleOf(intent);
  show(intent, schedule === undefined ? undefined : windowNotOver(schedule, at));
}

export function show(intent: IntentRow, window: Window | undefined): void {
  intent.windowNumber = window?.number ?? null;
  intent.windowDueAt = window?.dueAt ?? null;
  intent.windowFromAt = window?.fromAt ?? null;
  intent.windowToAt = window?.toAt ?? null;
}

/** When the workflow run acts next; null while a payment is in progress. */
export function dueAt(intent: Standing & Pick<IntentRow, 'windowToAt'>): Date | null {
  if (isBeingPaid(stateOf(intent))) return null;
  const { status, windowToAt, expiresAt } = intent;
  return status === 'approved' ? (windowToAt ?? expiresAt) : expiresAt;
}
