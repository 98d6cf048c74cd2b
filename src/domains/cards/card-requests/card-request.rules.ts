/**
 * The state transitions of a card request, when a person is reminded of it and when it expires, and which limits an approval
 * grants. Pure: the row, the time and whether the cause was seen are arguments.
 * @module
 */
import { hour, later } from '../../../kernel/instant.ts';
import type { Cents } from '../../../kernel/money.ts';
import type { Move } from '../../../kernel/move.ts';
import type { RowState } from '../../../kernel/row-state.ts';

export const cardRequestTypes = ['new_card', 'limit_change'] as const;
export type CardRequestType = (typeof cardRequestTypes)[number];
export const cardRequestStatuses = ['pending', 'approved', 'denied', 'cancelled', 'expired'] as const;
export type CardRequestStatus = (typeof cardRequestStatuses)[number];
export type CardRequestCommand = 'approve' | 'deny' | 'cancel' | 'expire';

const target: Readonly<Record<CardRequestCommand, CardRequestStatus>> = {
  approve: 'approved',
  deny: 'denied',
  cancel: 'cancelled',
  expire: 'expired',
};

/**
 * `seen`: this same cause has moved the row before. A command that finds the row in its target state changes nothing
 * and succeeds: denying and cancelling only revoke, and an approval keeps its first approver.
 */
export function moveCardRequest(
  from: CardRequestStatus,
  command: CardRequestCommand,
  seen: boolean,
): Move<CardRequestStatus> {
  if (seen || from === target[command]) return { outcome: 'already', next: from };
  if (from === 'pending') return { outcome: 'moved', next: target[command] };
  return { outcome: 'refused', why: `cannot ${command} a card request that is ${from}` };
}

export const isFinalCardRequest = (status: CardRequestStatus): boolean => status !== 'pending';

/** How long a person has to decide. */
const decisionMs = 72 * hour;

export const expiryOf = (createdAt: Date): Date => later(createdAt, decisionMs);
export const reminderOf = (createdAt: Date): Date => later(createdAt, decisionMs / 2);

type Deadline = { readonly status: CardRequestStatus; readonly expiresAt: Date };

/** A pending request has expired from its deadline on, whether or not its workflow marked that. */
export const statusAsOf = ({ status, expiresAt }: Deadline, at: Date): CardRequestStatus =>
  status === 'pending' && expiresAt <= at ? 'expired' : status;

type Waiting = Deadline & { readonly createdAt: Date; readonly remindedAt: Date | null };

/** When the workflow acts next; null for a final row. */
export function dueAt({ status, expiresAt, createdAt, remindedAt }: Waiting): Date | null {
  if (isFinalCardRequest(status)) return null;
  return remindedAt === null ? reminderOf(createdAt) : expiresAt;
}

/** What the workflow of a card request waits for: the reminder at half time, then the decision or the expiry. */
export type CardRequestFact = 'reminded' | 'decided';
export type CardRequestDue = 'reminder' | 'deadline';

/** The facts that a request has reached, and its due times. A reminder as late as the deadline is left out. */
export function cardRequestFacts(
  { status, expiresAt, createdAt, remindedAt }: Waiting,
  now: Date,
): Pick<RowState<never, CardRequestFact, CardRequestDue>, 'final' | 'reached' | 'dueInMs'> {
  if (isFinalCardRequest(status)) return { final: true, reached: ['reminded', 'decided'], dueInMs: {} };
  const inMs = (at: Date): number => at.getTime() - now.getTime();
  const deadline = { deadline: inMs(expiresAt) };
  if (remindedAt !== null) return { final: false, reached: ['reminded'], dueInMs: deadline };
  const isReminderOpen = expiresAt > now;
  return {
    final: false,
    reached: [],
    dueInMs: isReminderOpen ? { reminder: inMs(reminderOf(createdAt)), ...deadline } : deadline,
  };
}

/** Limits of a request; null where none is requested. */
export type RequestedLimits = {
  readonly maxTransactionCents: Cents | null;
  readonly dailyLimitCents: Cents | null;
  readonly monthlyLimitCents: Cents | null;
};

/** The names of the limits on the wire, with the label for people. */
export const limitNames = {
  maxTransactionEuros: { field: 'maxTransactionCents', label: 'Most for one payment' },
  dailyLimitEuros: { field: 'dailyLimitCents', label: 'Daily limit' },
  monthlyLimitEuros: { field: 'monthlyLimitCents', label: 'Monthly limit' },
} as const satisfies Record<string, { field: keyof RequestedLimits; label: string }>;

export type LimitChanges = Readonly<Record<string, Cents | undefined>>;

/** Why the approver's changes are none of a card request; undefined where they are. */
export function whyNoChanges(changes: LimitChanges): string | undefined {
  const unknown = Object.keys(changes).filter((name) => !Object.hasOwn(limitNames, name));
  if (unknown.length === 0) return undefined;
  return `an approver of a card request may change ${Object.keys(limitNames).join(', ')} and nothing else`;
}

/** The changes of an approver who names the limits in cents. */
export const changesOf = (limits: Partial<Record<keyof RequestedLimits, Cents | undefined>>): Record<string, Cents> =>
  Object.fromEntries(
    Object.entries(limitNames).flatMap(([name, { field }]) => {
      const amount = limits[field];
      return amount === undefined ? [] : [[name, amount]];
    }),
  );

/** What an approval grants: the requested limits, and those that the approver sets instead. */
export const grantedLimits = (requested: RequestedLimits, changes: LimitChanges = {}): RequestedLimits => ({
  maxTransactionCents: changes.maxTransactionEuros ?? requested.maxTransactionCents,
  dailyLimitCents: changes.dailyLimitEuros ?? requested.dailyLimitCents,
  monthlyLimitCents: changes.monthlyLimitEuros ?? requested.monthlyLimitCents,
});
