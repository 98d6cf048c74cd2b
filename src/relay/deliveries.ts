/**
 * Delivers first attempts: claims waiting deliveries, sends them with bounded concurrency, records results many at a
 * time. Runs in the worker process without Temporal; several may run concurrently. The retry workflow handles failed
 * deliveries.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, isDatabaseAway } from '../db/database.ts';
import { lookForBacklog, unknownBacklog } from '../domains/delivery/webhooks/delivery.backlog.service.ts';
import {
  type Claimed,
  claimFirstAttempts,
  closedReceivers,
  type FirstAttempts,
  freeForgottenFrom,
  releaseExpired,
} from '../domains/delivery/webhooks/delivery.claim.service.ts';
import { endPendingOf } from '../domains/delivery/webhooks/delivery.end.service.ts';
import { firstSubject } from '../domains/delivery/webhooks/delivery.order.service.ts';
import { recordResults, recordSuccesses } from '../domains/delivery/webhooks/delivery.result.service.ts';
import type { Result, SendDelivery } from '../domains/delivery/webhooks/delivery.send.service.ts';
import { second } from '../kernel/instant.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import { type Loop, startLoop } from '../platform/loop.ts';
import { stopTimes } from '../platform/stop-times.ts';

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
  /** Between two rounds while few attempts are under way. */
  readonly restMs?: number;
};

const { drainMs } = stopTimes;
const firstLookAgainMs = 50;
const sweepMs = 5 * second;
const mostRecordedAtOnce = 500;
const longestPassMs = 2 * second;
/**
 * A round costs two commits, however little it records and claims: while fewer than this many are under way, more come
 * together first. Not while an ordered delivery is, because the next one of its subject waits for its result.
 */
const fewUnderWay = 100;
const usualRestMs = 20;

export function startDeliveryRelay(options: DeliveryRelayOptions): Loop {
  const { database, clock, send, log, pollMs = retryPollMs, mostUnderWay = 1_000, restMs = usualRestMs } = options;
  const limits = {
    perReceiver: options.perReceiver ?? claimLimits.perReceiver,
    leaseMs: options.leaseMs ?? claimLimits.leaseMs,
  };
  const underWay = new Set<Promise<void>>();
  const results: Result[] = [];
  let orderedUnderWay = 0;
  let stopping = false;
  let sweptAt = Number.NEGATIVE_INFINITY;
  let nextSubject = firstSubject;
  let backlog = unknownBacklog;
  let lookAgainMs = firstLookAgainMs;
  let lookAgain: NodeJS.Timeout | undefined;

  const pass = async (): Promise<void> => {
    let claimedAny = false;
    // Elapsed time, because the clock of the machine may be set back.
    for (const until = performance.now() + longestPassMs; ; ) {
      if (performance.now() - sweptAt >= Math.min(sweepMs, pollMs)) await sweep();
      const recorded = await record();
      const { claimed, hasMore } = await claim();
      for (const one of claimed) carry(one);
      claimedAny ||= claimed.length > 0;
      if (claimed.length === 0 && recorded === 0 && !hasMore) break;
      if (performance.now() > until) {
        loop.wake(); // Goes on at once, but the loop has been seen alive.
        break;
      }
      const isFull = Math.max(underWay.size, claimed.length + recorded) >= fewUnderWay;
      if (!isFull && !hasMore && orderedUnderWay === 0 && !stopping) await sleep(restMs);
    }
    scheduleLook(claimedAny);
  };

  const claim = async (): Promise<FirstAttempts> => {
    const free = mostUnderWay - underWay.size - results.length;
    if (free <= 0 || stopping) return { claimed: [], hasMore: false };
    return database.write((tx) => claimFirstAttempts(tx, free, limits, backlog));
  };

  const carry = (claimed: Claimed): void => {
    if (claimed.isOrdered) orderedUnderWay += 1;
    const sending = send(claimed)
      .then((result) => {
        results.push(result);
      })
      // A fault of ours, not the receiver's: the lease runs out and the delivery is claimed again.
      .catch((error: unknown) => log.error({ err: error, deliveryId: claimed.id }, 'delivery not attempted'))
      .finally(() => {
        underWay.delete(sending);
        if (claimed.isOrdered) orderedUnderWay -= 1;
        loop.wake();
      });
    underWay.add(sending);
  };

  const record = async (): Promise<number> => {
    const batch = results.splice(0, mostRecordedAtOnce);
    if (batch.length === 0) return 0;
    try {
      await save(batch);
    } catch (error) {
      if (isDatabaseAway(error)) {
        results.unshift(...batch); // Recorded by a later pass; if that is too late, the fencing token refuses it.
        throw error;
      }
      await saveEach(batch);
    }
    return batch.length;
  };

  /** At the end: what cannot be written now is claimed again by another relay once its lease has run out. */
  const recordRest = async (): Promise<void> => {
    try {
      while (results.length > 0) await record();
    } catch (error) {
      log.warn({ err: error, results: results.length }, 'results not recorded before the end');
    }
  };

  const save = async (batch: readonly Result[]): Promise<void> => {
    const now = await clock.now();
    const left = await recordSuccesses(database.read(), batch, now);
    if (left.length > 0) await database.write((tx) => recordResults(tx, left, now, options.gapsMs));
  };

  /** One result that cannot be written must not keep the others from it; its delivery is claimed again. */
  const saveEach = async (batch: readonly Result[]): Promise<void> => {
    for (const result of batch) {
      await save([result]).catch((error: unknown) =>
        log.error({ err: error, deliveryId: result.claimed.id }, 'result not recorded'),
      );
    }
  };

  const sweep = async (): Promise<void> => {
    sweptAt = performance.now();
    await database.write(releaseExpired);
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
    if (lookAgainMs < pollMs && !stopping) lookAgain = setTimeout(() => loop.wake(), lookAgainMs);
  };

  const loop = startLoop({ name: 'deliveries', everyMs: pollMs, pass, log });
  return {
    wake: () => {
      lookAgainMs = firstLookAgainMs;
      loop.wake();
    },
    state: loop.state,
    stop: async () => {
      stopping = true;
      clearTimeout(lookAgain);
      await loop.stop();
      clearTimeout(lookAgain);
      await Promise.race([Promise.all(underWay), new Promise((done) => setTimeout(done, drainMs).unref())]);
      await recordRest();
    },
  };
}
