/**
 * When a recurring intent may be charged: its due days, and around each a window of whole UTC days. Windows never
 * overlap, so that every instant belongs to one of them at most. Pure arithmetic on the calendar.
 * @module
 */
import { day, later } from '../../../../kernel/instant.ts';
import type { WindowStatus } from './window.rules.ts';

export const cadences = ['daily', 'weekly', 'monthly', 'yearly'] as const;
export type Cadence = (typeof cadences)[number];

/** As declared, and as the row keeps it. */
export type Recurring = {
  readonly cadence: Cadence;
  readonly windowStartDaysBefore: number;
  readonly windowEndDaysAfter: number;
  readonly amountTolerancePercent: number;
  readonly merchantMatch: boolean;
};

/** `from` belongs to it, `to` does not. The first one is number 1. */
export type Window = { readonly number: number; readonly dueAt: Date; readonly fromAt: Date; readonly toAt: Date };

/** From when and until when an approved recurring intent stands; the first due day is that of `anchorAt`. */
export type Schedule = { readonly recurring: Recurring; readonly anchorAt: Date; readonly endsAt: Date };

/** The window that `at` lies in; none between two windows, before the anchor and at the end. */
export function windowAt(schedule: Schedule, at: Date): Window | undefined {
  const window = windowNotOver(schedule, at);
  return window !== undefined && window.fromAt <= at ? window : undefined;
}

/** The window that `at` lies in, else the next one; none once the last is over. */
export function windowNotOver(schedule: Schedule, at: Date): Window | undefined {
  const from = Math.max(1, near(schedule, at) - 1);
  for (let number = from; ; number++) {
    const window = windowNumbered(schedule, number);
    if (window === undefined || window.toAt > at) return window;
  }
}

/** The last instant at which a charge can be made; undefined for a schedule without a window. */
export function lastInstantOf(schedule: Schedule): Date | undefined {
  for (let number = near(schedule, schedule.endsAt) + 2; number >= 1; number--) {
    const window = windowNumbered(schedule, number);
    if (window !== undefined) return later(window.toAt, -1);
  }
  return undefined;
}

/** None where it would begin after the end. */
export function windowNumbered(schedule: Schedule, number: number): Window | undefined {
  const { anchorAt, endsAt } = schedule;
  const fromAt = number === 1 ? anchorAt : instantOf(firstDay(schedule, number));
  if (fromAt >= endsAt) return undefined;
  const toAt = instantOf(lastDay(schedule, number) + 1);
  return { number, dueAt: instantOf(dueDay(schedule, number)), fromAt, toAt: toAt < endsAt ? toAt : endsAt };
}

/** Of a window that has one before it. */
const firstDay = (schedule: Schedule, number: number): number =>
  Math.max(lastDay(schedule, number - 1) + 1, dueDay(schedule, number) - schedule.recurring.windowStartDaysBefore);

/** The last day that belongs to a window: a day that the next one wants as well goes to the nearer due day. */
function lastDay(schedule: Schedule, number: number): number {
  const { windowStartDaysBefore, windowEndDaysAfter } = schedule.recurring;
  const [due, nextDue] = [dueDay(schedule, number), dueDay(schedule, number + 1)];
  const beforeNext = nextDue - windowStartDaysBefore - 1;
  const halfway = Math.floor((due + nextDue) / 2); // As far from both: the earlier one's, because charges come late.
  return Math.min(due + windowEndDaysAfter, Math.max(halfway, beforeNext));
}

/** Days since 1970. Months are counted from the anchor, so that the 31st comes back after a shorter month. */
function dueDay({ recurring: { cadence }, anchorAt }: Schedule, number: number): number {
  const anchorDay = dayOf(anchorAt);
  const steps = number - 1;
  if (cadence === 'daily') return anchorDay + steps;
  if (cadence === 'weekly') return anchorDay + 7 * steps;
  const months = anchorAt.getUTCMonth() + (cadence === 'monthly' ? steps : 12 * steps);
  const lastOfMonth = new Date(Date.UTC(anchorAt.getUTCFullYear(), months + 1, 0));
  return dayOf(lastOfMonth) - Math.max(0, lastOfMonth.getUTCDate() - anchorAt.getUTCDate());
}

/** The number of the last due day at or before `at`, or one next to it. */
function near({ recurring: { cadence }, anchorAt }: Schedule, at: Date): number {
  if (cadence === 'daily' || cadence === 'weekly') {
    return Math.floor((dayOf(at) - dayOf(anchorAt)) / (cadence === 'daily' ? 1 : 7)) + 1;
  }
  const years = at.getUTCFullYear() - anchorAt.getUTCFullYear();
  return cadence === 'yearly' ? years + 1 : 12 * years + at.getUTCMonth() - anchorAt.getUTCMonth() + 1;
}

const dayOf = (at: Date): number => Math.floor(at.getTime() / day);
const instantOf = (dayNumber: number): Date => later(new Date(0), dayNumber * day);

/** What is known of the window that `at` lies in: whether something has paid for it, or its end was seen already. */
export type TakenWindow = {
  readonly number: number;
  readonly status: WindowStatus;
  readonly transactionId: string | null;
};

/** Why a recurring intent cannot be charged at `at`, in words with figures; undefined when it can. */
export function closedBecause(
  { id, schedule }: { id: string; schedule: Schedule },
  taken: readonly TakenWindow[],
  at: Date,
): string | undefined {
  const window = windowAt(schedule, at);
  if (window === undefined) {
    const next = windowNotOver(schedule, at);
    const when = next === undefined ? 'has no window left' : `may be charged next ${spanInWords(next)}`;
    return `intent ${id} ${when}, asked at ${at.toISOString()}`;
  }
  const known = taken.find(({ number }) => number === window.number);
  if (known?.status === 'missed') return `intent ${id} may be charged ${spanInWords(window)}, which went by unpaid`;
  if (known === undefined || known.transactionId === null) return undefined;
  return `intent ${id} is charged once ${spanInWords(window)}, and transaction ${known.transactionId} was that charge`;
}

export const spanInWords = ({ fromAt, toAt }: Pick<Window, 'fromAt' | 'toAt'>): string =>
  `from ${fromAt.toISOString()} until ${toAt.toISOString()}`;
