/**
 * Decides the next step of one subscription's retries: attempt, wait or end. Pure; `now` is business time, leases are
 * in real time.
 * @module
 */
import { longestWaitMs, minute, second } from '../../../kernel/instant.ts';
import { isProbed, placesForRetries } from './webhook.rules.ts';

export type EndpointFacts = {
  readonly isPaused: boolean;
  /** Deliveries that wait for another attempt. */
  readonly waiting: number;
  /** When the first of them is due, in business time. */
  readonly nextAttemptAt: Date | null;
  /** Repeated attempts without a result whose lease still runs. */
  readonly underWay: number;
  /** Those whose lease has run out: their holder died, and they may be claimed again. */
  readonly orphaned: number;
  /** Until the first lease of those under way runs out. */
  readonly leaseLeftMs: number;
  /** Requests open to the receiver, first attempts included. */
  readonly openRequests: number;
  readonly unansweredInRow: number;
};

/** `full`: deliveries are due, but first attempts have all the receiver's places. */
export type EndpointStep = {
  readonly kind: 'attempt' | 'wait' | 'full' | 'final';
  readonly waitMs: number;
};

const pausedWaitMs = 5 * minute;

export function nextEndpointStep(facts: EndpointFacts, perReceiver: number, now: Date): EndpointStep {
  const { waiting, underWay, orphaned, leaseLeftMs } = facts;
  if (waiting + underWay + orphaned === 0) return { kind: 'final', waitMs: 0 };
  // A result wakes the run; the lease only counts where its holder dies.
  const leaseWaitMs = underWay > 0 ? Math.max(second, leaseLeftMs) : longestWaitMs;
  const untilDueMs = untilDue(facts, now);
  if (untilDueMs > 0) return wait(Math.min(untilDueMs, leaseWaitMs));
  if (facts.isPaused) return wait(Math.min(pausedWaitMs, leaseWaitMs));
  const probed = isProbed(facts.unansweredInRow);
  const hasPlace =
    facts.openRequests < (probed ? 1 : perReceiver) || (!probed && underWay < placesForRetries(perReceiver));
  if (hasPlace) return { kind: 'attempt', waitMs: 0 };
  return underWay > 0 ? wait(leaseWaitMs) : { kind: 'full', waitMs: 0 };
}

function untilDue({ orphaned, waiting, nextAttemptAt }: EndpointFacts, now: Date): number {
  if (orphaned > 0) return 0;
  if (waiting === 0 || nextAttemptAt === null) return longestWaitMs;
  return nextAttemptAt.getTime() - now.getTime();
}

const wait = (ms: number): EndpointStep => ({ kind: 'wait', waitMs: Math.min(ms, longestWaitMs) });

/** Until a run looks again for a free place at its receiver, after so many looks in vain. */
export const waitForPlaceMs = (vainLooks: number): number => Math.min(2 * second * 2 ** Math.min(vainLooks, 5), minute);
