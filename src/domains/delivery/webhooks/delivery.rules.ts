/**
 * The state transitions of a delivery: which answer counts as success, how many attempts its plan has, when the next
 * one is due, and how it ends. Pure; `now` is business time.
 * @module
 */
import { day, hour, later, minute } from '../../../kernel/instant.ts';
import type { Outcome } from './webhook.rules.ts';

export const deliveryStatuses = ['pending', 'delivering', 'succeeded', 'failed', 'dead'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];
export const isFinalDelivery = (status: DeliveryStatus): boolean => status !== 'pending' && status !== 'delivering';

/** Why a delivery was made: `event` with its event, the others by a call of the owner. */
export const deliveryOrigins = ['event', 'redelivery', 'recovery', 'test'] as const;
export type DeliveryOrigin = (typeof deliveryOrigins)[number];

/** Why a delivery cannot be made again; undefined where it can. */
export function whyNotRedelivered(
  status: DeliveryStatus,
  subscription: { readonly status: string; readonly isDeleted: boolean },
  isEventKept: boolean,
): string | undefined {
  if (!isFinalDelivery(status)) return `it is still ${status}; wait until it is over`;
  if (!isEventKept) return 'its event is not kept any more';
  if (subscription.isDeleted) return 'its subscription was deleted';
  if (subscription.status !== 'active') return `its subscription is ${subscription.status}; make it active first`;
  return undefined;
}

export const plans = ['free', 'starter', 'business', 'enterprise'] as const;
export type Plan = (typeof plans)[number];
export type Tier = { readonly name: string; readonly maxAttempts: number; readonly hasDeadLetters: boolean };

const tiers: Readonly<Record<Plan, Tier>> = {
  free: { name: 'basic', maxAttempts: 1, hasDeadLetters: false },
  starter: { name: 'full', maxAttempts: 1, hasDeadLetters: false },
  business: { name: 'full_retry', maxAttempts: 5, hasDeadLetters: false },
  enterprise: { name: 'full_dlq', maxAttempts: 5, hasDeadLetters: true },
};

const isPlan = (text: string): text is Plan => Object.hasOwn(tiers, text);

export function tierOf(plan: string): Tier {
  return tiers[isPlan(plan) ? plan : 'free'];
}

/** The published steps; the last one would follow a fifth attempt and is there for plans with more. */
export const publishedGapsMs: readonly number[] = [minute, 5 * minute, 15 * minute, hour, 4 * hour];
const longestRetryAfterMs = day;

/**
 * From the end of attempt number `attempt` to the next one: the receiver may ask for more, never for less. The last gap
 * counts for all later attempts.
 */
export function gapAfter(attempt: number, retryAfterMs = 0, gapsMs: readonly number[] = publishedGapsMs): number {
  const gapMs = gapsMs[Math.min(attempt, gapsMs.length) - 1] ?? minute;
  return Math.max(gapMs, Math.min(retryAfterMs, longestRetryAfterMs));
}

/** `Retry-After` in seconds or as a date, seen at real time `now`; 0 when absent, past or unreadable. */
export function retryAfterMs(header: string | undefined, now: Date): number {
  const text = header?.trim() ?? '';
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1_000, longestRetryAfterMs);
  const at = /^[A-Za-z]{3}, /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? 0 : Math.max(0, at - now.getTime());
}

/** What became of one attempt on the wire. */
export type Attempted = {
  readonly status: number | null;
  readonly timedOut: boolean;
  /** Why there was no answer. */
  readonly failure: string | null;
};
export type Evaluated = { readonly outcome: Outcome; readonly error: string | null };

export const isSuccess = (attempted: Attempted): boolean => evaluateAttempt(attempted).outcome === 'success';

export function evaluateAttempt({ status, timedOut, failure }: Attempted): Evaluated {
  if (status !== null && status >= 200 && status < 300) return { outcome: 'success', error: null };
  if (status === 410) return { outcome: 'gone', error: 'answered 410 Gone' };
  if (status !== null && status >= 300 && status < 400) {
    return { outcome: 'failure', error: `answered ${status}; redirects are not followed` };
  }
  if (timedOut) return { outcome: 'timeout', error: failure ?? 'no answer in time' };
  if (status !== null) return { outcome: 'failure', error: `answered ${status}, not 2xx` };
  return { outcome: 'unreachable', error: failure ?? 'no answer' };
}

export type AfterAttempt =
  | { readonly status: 'succeeded' }
  | { readonly status: 'pending'; readonly nextAttemptAt: Date }
  | { readonly status: 'failed' | 'dead' };

type Standing = {
  readonly plan: string;
  /** The number of the attempt that was evaluated. */
  readonly attempt: number;
  readonly outcome: Outcome;
  readonly retryAfterMs: number;
  /** The subscription still takes deliveries. */
  readonly isOpen: boolean;
  readonly gapsMs?: readonly number[];
};

export function afterAttempt(
  { plan, attempt, outcome, retryAfterMs, isOpen, gapsMs }: Standing,
  now: Date,
): AfterAttempt {
  if (outcome === 'success') return { status: 'succeeded' };
  const mayRetry = isOpen && outcome !== 'gone' && attempt < tierOf(plan).maxAttempts;
  return mayRetry
    ? { status: 'pending', nextAttemptAt: later(now, gapAfter(attempt, retryAfterMs, gapsMs)) }
    : { status: lostStatus(plan) };
}

/** The final state of a delivery that is not attempted again. */
export const lostStatus = (plan: string): 'failed' | 'dead' => (tierOf(plan).hasDeadLetters ? 'dead' : 'failed');
