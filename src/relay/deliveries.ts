/**
 * Delivers first attempts: claims waiting deliveries and sends them with bounded concurrency, while the results of those
 * before are recorded. Runs in the worker process without Temporal; several may run concurrently. The retry workflow
 * handles failed deliveries.
 * @module
 */
import type { Database } from '../db/database.ts';
import { lookForBacklog, unknownBacklog } from '../domains/delivery/webhooks/delivery.backlog.service.ts';
import {
  type Claimed,
  closedReceivers,
  type FirstAttempts,
  freeForgottenFrom,
} from '../domains/delivery/webhooks/delivery.claim.service.ts';
import { endPendingOf } from '../domains/delivery/webhooks/delivery.end.service.ts';
import { releaseExpired } from '../domains/delivery/webhooks/delivery.lease.service.ts';
import { firstSubject } from '../domains/delivery/webhooks/delivery.order.service.ts';
import type { SendDelivery } from '../domains/delivery/webhooks/delivery.send.service.ts';
import { probeRestMs } from '../domains/delivery/webhooks/webhook.rules.ts';
import { second } from '../kernel/instant.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import { type Loop, oldestOf, startLoop } from '../platform/loop.ts';
import { createPause } from '../platform/pause.ts';
import { stopTimes } from '../platform/stop-times.ts';
import { startDeliveryResults } from './delivery-results.ts';
import { claimInSteps } from './first-attempts.ts';

export const deliveriesChannel = 'bursar_deliveries';

/** How often it looks without a notification. */
export const retryPollMs = 30 * second;

/** Shared by the relay and the retries, so that they count the same places. */
export const claimLimits = { perReceiver: 100, leaseMs: 45 * second };

export type DeliveryRelayOptions = {
  readonly database: Database;
  readonly clock: Clock;
  readonly send: SendDelivery;
  readonly log: Logger;
  readonly pollMs?: number;
  readonly leaseMs?: number;
  readonly perReceiver?: number;
  /** Between attempts, in business time. */
  readonly gapsMs?: readonly number[];
  /** Attempts under way in this process. */
  readonly mostUnderWay?: number;
  /** At most between two claims, and from the first result of a batch to its writing. */
  readonly restMs?: number;
};

const { drainMs } = stopTimes;
const firstLookAgainMs = 50;
const sweepMs = 5 * second;
const longestPassMs = 2 * second;
/**
 * A claim costs a commit, however little it claims: while fewer than `fewUnderWay` are under way, or more than this share
 * of what may be, more come together first, for longer after a claim of few. Not when an ordered delivery was recorded,
 * because the next one of its subject waits for that.
 */
const fewUnderWay = 100;
const manyUnderWay = 0.3;
const fewClaimed = 50;
const usualRestMs = 50;
const shortRestMs = 20;

export function startDeliveryRelay(options: DeliveryRelayOptions): Loop {
  const { database, clock, send, log, pollMs = retryPollMs, mostUnderWay = 1_000, restMs = usualRestMs } = options;
  const limits = {
    perReceiver: options.perReceiver ?? claimLimits.perReceiver,
    leaseMs: options.leaseMs ?? claimLimits.leaseMs,
  };
  const underWay = new Set<Promise<void>>();
  const pause = createPause();
  /** An ordered delivery was recorded since the last claim began, and the next one of its subject waits. */
  let isNextFree = false;
  let stopping = false;
  let sweptAt = Number.NEGATIVE_INFINITY;
  let nextSubject = firstSubject;
  let backlog = unknownBacklog;
  let lookAgainMs = firstLookAgainMs;
  let lookAgain: NodeJS.Timeout | undefined;
  /** Elapsed time: then the last receiver that a first attempt did not reach may be probed. */
  let probesFrom = Number.NEGATIVE_INFINITY;

  const pass = async (): Promise<void> => {
    let claimedAny = false;
    // Elapsed time, because the clock of the machine may be set back.
    for (const until = performance.now() + longestPassMs; ; ) {
      if (performance.now() - sweptAt >= Math.min(sweepMs, pollMs)) await sweep();
      const { claimed, hasMore } = await claim();
      claimedAny ||= claimed.length > 0;
      if (claimed.length === 0 && !hasMore) break;
      if (performance.now() > until) {
        loop.wake(); // Goes on at once, but the loop has been seen alive.
        break;
      }
      if (!hasMore && !isNextFree && !isWorthwhile() && !stopping) await pause.upTo(restAfter(claimed.length));
    }
    scheduleLook(claimedAny);
  };

  const restAfter = (claimed: number): number => (claimed < fewClaimed ? restMs : Math.min(restMs, shortRestMs));

  /** Enough is under way to keep this process busy during the claim, and enough is free to claim many at once. */
  const isWorthwhile = (): boolean => underWay.size >= fewUnderWay && underWay.size <= manyUnderWay * mostUnderWay;

  const claim = async (): Promise<FirstAttempts> => {
    isNextFree = false;
    // While results cannot be recorded, no more than these are in memory.
    const free = Math.min(mostUnderWay, 2 * mostUnderWay - results.unrecorded()) - underWay.size;
    if (free <= 0 || stopping) return { claimed: [], hasMore: false };
    return claimInSteps(database, free, limits, { backlog, over: results.unrecordedSuccesses() }, take);
  };

  const take = (claimed: readonly Claimed[]): void => claimed.forEach(carry);

  const carry = (claimed: Claimed): void => {
    const sending = attempt(claimed).then(() => {
      underWay.delete(sending);
      if (isWorthwhile()) pause.end();
      loop.wake();
    });
    underWay.add(sending);
  };

  const attempt = async (claimed: Claimed): Promise<void> => {
    try {
      results.add(await send(claimed));
    } catch (error) {
      // A fault of ours, not the receiver's: the lease runs out and the delivery is claimed again.
      log.error({ err: error, deliveryId: claimed.id }, 'delivery not attempted');
    }
  };

  const sweep = async (): Promise<void> => {
    sweptAt = performance.now();
    // What this process has results of is recorded, and not sent again because PostgreSQL was away for long.
    await database.write((tx) => releaseExpired(tx, undefined, results.unrecordedClaims()));
    nextSubject = await database.write((tx) => freeForgottenFrom(tx, nextSubject));
    backlog = await database.write((tx) => lookForBacklog(tx, backlog));
    const closed = await closedReceivers(database.read(), backlog);
    if (closed.length === 0) return;
    const ids = closed.map(({ id }) => id);
    await database.write((tx) => endPendingOf(tx, ids, 'the subscription was closed'));
  };

  /** A change may commit after the notification of another one: looks again, less and less often, until the poll. */
  const scheduleLook = (claimedAny: boolean): void => {
    lookAgainMs = claimedAny ? firstLookAgainMs : lookAgainMs * 2;
    clearTimeout(lookAgain);
    const restMs = probesFrom - performance.now();
    const waitMs = restMs > 0 ? Math.min(restMs, lookAgainMs) : lookAgainMs;
    if (waitMs < pollMs && !stopping) lookAgain = setTimeout(() => loop.wake(), waitMs);
  };

  const loop = startLoop({ name: 'deliveries', everyMs: pollMs, pass, log });
  const results = startDeliveryResults({
    ...{ database, clock, log, pollMs, restMs, gapsMs: options.gapsMs },
    onRecorded: (recorded) => {
      isNextFree ||= recorded.some(({ claimed }) => claimed.isOrdered);
      if (isNextFree) pause.end();
      if (recorded.some(({ attempted }) => attempted.status === null)) probesFrom = performance.now() + probeRestMs;
      loop.wake();
    },
  });
  return {
    wake: () => {
      lookAgainMs = firstLookAgainMs;
      loop.wake();
    },
    state: () => oldestOf([loop.state(), results.state()]),
    stop: async () => {
      stopping = true;
      clearTimeout(lookAgain);
      pause.end();
      await loop.stop();
      clearTimeout(lookAgain);
      await Promise.race([Promise.all(underWay), new Promise((done) => setTimeout(done, drainMs).unref())]);
      await results.stop();
    },
  };
}
