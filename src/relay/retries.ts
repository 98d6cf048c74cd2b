/**
 * Retries failed deliveries: claims the due ones of one subscription, sends them with bounded concurrency, and records
 * results many at a time. A batch waits only some seconds for hanging attempts; these continue in the background, so
 * that a hanging receiver takes no activity slot. Decides nothing about a delivery.
 * @module
 */
import type { Database } from '../db/database.ts';
import { type Claimed, type ClaimLimits, claimRetries } from '../domains/delivery/webhooks/delivery.claim.service.ts';
import { recordResults } from '../domains/delivery/webhooks/delivery.result.service.ts';
import type { Result, SendDelivery } from '../domains/delivery/webhooks/delivery.send.service.ts';
import { type BatchOutcome, endpointWorkflowId } from '../domains/delivery/webhooks/endpoint.messages.ts';
import { inBatches } from '../kernel/batches.ts';
import type { Id } from '../kernel/ids.ts';
import { second } from '../kernel/instant.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import { stopTimes } from '../platform/stop-times.ts';
import { wakeWorkflowRun } from '../platform/workflow-runs.ts';

export type RetrySender = {
  /**
   * Attempts what is due at one subscription until nothing is, an attempt hangs, or the batch has taken long enough.
   */
  attemptDue(webhookId: Id<'webhook'>): Promise<BatchOutcome>;
  /** Claims nothing more; waits for what is under way, as long as a stop may take. */
  stop(): Promise<void>;
};

export type RetryOptions = {
  readonly database: Database;
  readonly clock: Clock;
  readonly send: SendDelivery;
  readonly log: Logger;
  readonly limits: ClaimLimits;
  /** Between attempts, in business time. */
  readonly gapsMs?: readonly number[];
  /** Attempts under way in this process, over all subscriptions. */
  readonly mostUnderWay?: number;
  /** Attempts of one batch at a time. */
  readonly mostOfBatch?: number;
  /** Without any result for so long, a batch leaves its attempts to themselves. */
  readonly patienceMs?: number;
};

const longestBatchMs = 10 * second;
const { drainMs } = stopTimes;
const mostRecordedAtOnce = 500;

export function createRetrySender(options: RetryOptions): RetrySender {
  const { database, clock, send, log, limits } = options;
  const { mostUnderWay = 400, mostOfBatch = 50, patienceMs = 3 * second } = options;
  const underWay = new Set<Promise<void>>();
  let stopping = false;
  let isDrained = false;

  const save = async (results: readonly Result[]): Promise<void> => {
    const now = await clock.now();
    await database.write((tx) => recordResults(tx, results, now, options.gapsMs));
  };
  const saveWithOthers = inBatches<Result>(save, { atOnce: mostRecordedAtOnce, mostWaiting: mostUnderWay });

  /** A failure here is ours, not the receiver's: the lease runs out, and the delivery is claimed again. */
  const carryOut = async (claimed: Claimed): Promise<void> => {
    try {
      const result = await send(claimed);
      if (isDrained && result.attempted.status === null) {
        // The process closes its connections now, which is no failure of the receiver. An answer still counts.
        log.warn({ deliveryId: claimed.id }, 'the process stopped before an answer came; the retry is made again');
        return;
      }
      // One result that cannot be written must not keep the others from being written.
      await saveWithOthers(result).catch(() => save([result]));
    } catch (error) {
      log.error({ err: error, deliveryId: claimed.id }, 'retry not recorded; it is made again');
    }
  };

  const claim = async (webhookId: Id<'webhook'>, ofBatch: number): Promise<Claimed[]> => {
    // No subscription gets more than a quarter of what is free, so that the others find room while it hangs.
    const free = mostUnderWay - underWay.size;
    const most = Math.min(mostOfBatch - ofBatch, free > 0 ? Math.max(1, Math.floor(free / 4)) : 0);
    if (most <= 0 || stopping) return [];
    const now = await clock.now();
    return database.write((tx) => claimRetries(tx, webhookId, now, most, limits));
  };

  const wake = async (webhookId: string): Promise<void> => {
    try {
      await database.write((tx) => wakeWorkflowRun(tx, endpointWorkflowId(webhookId)));
    } catch (error) {
      log.warn({ err: error, webhookId }, 'not woken after its results; the run looks again later');
    }
  };

  return {
    attemptDue: async (webhookId) => {
      const until = performance.now() + longestBatchMs;
      const batch = new Set<Promise<void>>();
      let attempted = 0;
      let isOver = false;
      while (!isOver) {
        const claimed = performance.now() < until ? await claim(webhookId, batch.size) : [];
        attempted += claimed.length;
        for (const one of claimed) {
          const attempt = carryOut(one).finally(() => {
            batch.delete(attempt);
            underWay.delete(attempt);
          });
          batch.add(attempt);
          underWay.add(attempt);
        }
        if (batch.size === 0) break;
        // More is claimed when half of the batch is done, and not after each result.
        isOver = !(await halfIsDone(batch, patienceMs, until));
      }
      const left = batch.size;
      // The run that asked may have been lost meanwhile: its successor waits for these results.
      if (left > 0) void Promise.all(batch).then(() => wake(webhookId));
      else if (attempted > 0) await wake(webhookId);
      return { attempted, underWay: left };
    },
    stop: async () => {
      stopping = true;
      await within(drainMs, Promise.all(underWay));
      isDrained = true;
    },
  };
}

/** Waits for half of what is under way. False when none of it ends for `patienceMs`, or the time is `until`. */
async function halfIsDone(batch: ReadonlySet<Promise<void>>, patienceMs: number, until: number): Promise<boolean> {
  const enough = Math.floor(batch.size / 2);
  while (batch.size > enough) {
    const before = batch.size;
    await within(Math.min(patienceMs, Math.max(0, until - performance.now())), Promise.race(batch));
    if (batch.size === before) return false;
  }
  return true;
}

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
