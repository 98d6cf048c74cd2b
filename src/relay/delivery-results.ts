/**
 * Records the results of first attempts, many at a time, beside the loop that claims and sends. A result that cannot be
 * written keeps no other from it. Decides nothing about an attempt.
 * @module
 */
import { type Database, isDatabaseAway } from '../db/database.ts';
import type { ClaimedPlace } from '../domains/delivery/webhooks/delivery.lease.service.ts';
import { recordResults, recordSuccesses } from '../domains/delivery/webhooks/delivery.result.service.ts';
import { isSuccess } from '../domains/delivery/webhooks/delivery.rules.ts';
import type { Result } from '../domains/delivery/webhooks/delivery.send.service.ts';
import { second } from '../kernel/instant.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import { type Loop, oldestOf, startLoop } from '../platform/loop.ts';
import { createPause } from '../platform/pause.ts';

type Options = {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Logger;
  readonly pollMs: number;
  /** From the first result of a batch to its writing, while few come. */
  readonly restMs: number;
  readonly gapsMs: readonly number[] | undefined;
  /** What waited for these can be claimed. */
  readonly onRecorded: (results: readonly Result[]) => void;
};

export type DeliveryResults = Pick<Loop, 'state'> & {
  add(result: Result): void;
  /** How many are not recorded yet. */
  unrecorded(): number;
  /** Those that succeeded. One that failed may close the places of its receiver, so it keeps its own until it is recorded. */
  unrecordedSuccesses(): readonly ClaimedPlace[];
  /** The claims that unrecorded results are of. */
  unrecordedClaims(): readonly number[];
  /** Records what is there, if that can be written now. The rest is claimed again once its lease has run out. */
  stop(): Promise<void>;
};

/** A loop that goes on for longer would not be seen alive. */
const longestPassMs = 2 * second;
const mostRecordedAtOnce = 500;
/** A batch costs a commit, however little it records: while fewer wait, more come together first. */
const manyResults = 250;

/**
 * Two queues: most successes are recorded by one statement. What that leaves is recorded by a transaction of many, for
 * which the successes after it do not wait: beside one receiver that fails, each of these took several times as long.
 * Results of a receiver wait until those before them are recorded: they keep their order, and meet no lock of the other
 * queue.
 */
export function startDeliveryResults(options: Options): DeliveryResults {
  const { database, clock, log, pollMs, restMs, gapsMs, onRecorded } = options;
  const shared = { log, pollMs };
  const others = startQueue({
    ...{ ...shared, name: 'delivery results by transaction', restMs: 0, held: () => new Set() },
    save: async (batch) => {
      const now = await clock.now();
      await database.write((tx) => recordResults(tx, batch, now, gapsMs));
      return batch;
    },
    onRecorded: (recorded) => {
      all.wake();
      onRecorded(recorded);
    },
  });
  const all = startQueue({
    ...{ ...shared, name: 'delivery results', restMs },
    held: () => new Set(others.unrecorded().map(({ claimed }) => claimed.webhookId)),
    save: async (batch) => {
      const left = new Set(await recordSuccesses(database.read(), batch, await clock.now()));
      left.forEach(others.add);
      return batch.filter((result) => !left.has(result));
    },
    onRecorded: (recorded) => {
      if (recorded.length > 0) onRecorded(recorded);
    },
  });
  const unrecorded = () => [...all.unrecorded(), ...others.unrecorded()];
  return {
    add: all.add,
    unrecorded: () => unrecorded().length,
    unrecordedSuccesses: () =>
      unrecorded().flatMap(({ claimed, attempted }) => (isSuccess(attempted) ? [claimed] : [])),
    unrecordedClaims: () => [...new Set(unrecorded().map(({ claimed }) => claimed.claim))],
    state: () => oldestOf([all.state(), others.state()]),
    stop: async () => {
      const held = await all.stop();
      held.forEach(others.add);
      await others.stop();
    },
  };
}

type Queue = Pick<Loop, 'state' | 'wake'> & {
  add(result: Result): void;
  unrecorded(): readonly Result[];
  /** Saves what is there, if that can be written now, and answers what was held. */
  stop(): Promise<readonly Result[]>;
};

type QueueOptions = Pick<Options, 'log' | 'pollMs' | 'restMs' | 'onRecorded'> & {
  readonly name: string;
  /** Receivers whose results wait until somebody wakes the queue. */
  readonly held: () => ReadonlySet<string>;
  /** Answers those that it recorded. */
  readonly save: (batch: readonly Result[]) => Promise<readonly Result[]>;
};

/** Saves results in batches, those of a receiver in the order in which they come. */
function startQueue({ name, held, save, log, pollMs, restMs, onRecorded }: QueueOptions): Queue {
  const pause = createPause();
  let waiting: Result[] = [];
  let recording: readonly Result[] = [];
  let stopping = false;

  const pass = async (): Promise<void> => {
    // Elapsed time, because the clock of the machine may be set back.
    const until = performance.now() + longestPassMs;
    while (ready().length > 0 && performance.now() < until) {
      if (restMs > 0 && !stopping && !isUrgent(ready())) await pause.upTo(restMs);
      onRecorded(await record());
    }
    if (ready().length > 0) loop.wake(); // Goes on at once, but the loop has been seen alive.
  };

  const ready = (): readonly Result[] => {
    const receivers = held();
    return receivers.size === 0 ? waiting : waiting.filter(({ claimed }) => !receivers.has(claimed.webhookId));
  };

  /** The next delivery of a subject waits for the result of the one before it. */
  const isUrgent = (results: readonly Result[]): boolean =>
    results.length >= manyResults || results.some(({ claimed }) => claimed.isOrdered);

  const record = async (): Promise<readonly Result[]> => {
    const batch = ready().slice(0, mostRecordedAtOnce);
    if (batch.length === 0) return []; // Held during the rest.
    const taken = new Set(batch);
    waiting = waiting.filter((result) => !taken.has(result));
    recording = batch;
    try {
      return await save(batch);
    } catch (error) {
      if (isDatabaseAway(error)) {
        waiting.unshift(...batch); // Recorded by a later pass; if that is too late, the fencing token refuses it.
        throw error;
      }
      return await saveEach(batch);
    } finally {
      recording = [];
    }
  };

  /**
   * One result that cannot be written must not keep the others from it; its delivery is claimed again. What follows one that
   * went to the other queue waits for that.
   */
  const saveEach = async (batch: readonly Result[]): Promise<readonly Result[]> => {
    const saved: Result[] = [];
    const left: Result[] = [];
    for (const [place, result] of batch.entries()) {
      if (held().has(result.claimed.webhookId)) {
        left.push(result);
        continue;
      }
      try {
        saved.push(...(await save([result])));
      } catch (error) {
        if (isDatabaseAway(error)) {
          left.push(...batch.slice(place));
          break;
        }
        log.error({ err: error, deliveryId: result.claimed.id }, 'result not recorded');
      }
    }
    waiting.unshift(...left);
    return saved;
  };

  const loop = startLoop({ name, everyMs: pollMs, pass, log });
  return {
    add: (result) => {
      waiting.push(result);
      if (result.claimed.isOrdered || waiting.length === manyResults) pause.end();
      loop.wake();
    },
    unrecorded: () => [...waiting, ...recording],
    wake: loop.wake,
    state: loop.state,
    stop: async () => {
      stopping = true;
      pause.end();
      await loop.stop();
      try {
        while (ready().length > 0) await record();
      } catch (error) {
        log.warn({ err: error, results: waiting.length }, 'results not recorded before the end');
      }
      return waiting;
    },
  };
}
