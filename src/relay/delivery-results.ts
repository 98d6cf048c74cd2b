/**
 * Records the results of first attempts, many at a time, beside the loop that claims and sends. A result that cannot be
 * written keeps no other from it. Decides nothing about an attempt.
 * @module
 */
import { type Database, isDatabaseAway } from '../db/database.ts';
import type { ClaimedPlace } from '../domains/delivery/webhooks/delivery.lease.service.ts';
import { recordResults, recordSuccesses } from '../domains/delivery/webhooks/delivery.result.service.ts';
import { evaluateAttempt } from '../domains/delivery/webhooks/delivery.rules.ts';
import type { Result } from '../domains/delivery/webhooks/delivery.send.service.ts';
import { second } from '../kernel/instant.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import { type Loop, startLoop } from '../platform/loop.ts';
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
  /** Records what is there, if that can be written now. The rest is claimed again once its lease has run out. */
  stop(): Promise<void>;
};

/** A loop that goes on for longer would not be seen alive. */
const longestPassMs = 2 * second;
const mostRecordedAtOnce = 500;
/** A batch costs a commit, however little it records: while fewer wait, more come together first. */
const manyResults = 250;

export function startDeliveryResults(options: Options): DeliveryResults {
  const { database, clock, log, pollMs, restMs, gapsMs, onRecorded } = options;
  const pause = createPause();
  const waiting: Result[] = [];
  let recording: readonly Result[] = [];
  let stopping = false;

  const pass = async (): Promise<void> => {
    // Elapsed time, because the clock of the machine may be set back.
    const until = performance.now() + longestPassMs;
    while (waiting.length > 0 && performance.now() < until) {
      if (!stopping && !isUrgent()) await pause.upTo(restMs);
      onRecorded(await record());
    }
    if (waiting.length > 0) loop.wake(); // Goes on at once, but the loop has been seen alive.
  };

  /** The next delivery of a subject waits for the result of the one before it. */
  const isUrgent = (): boolean => waiting.length >= manyResults || waiting.some(({ claimed }) => claimed.isOrdered);

  const record = async (): Promise<readonly Result[]> => {
    const batch = waiting.splice(0, mostRecordedAtOnce);
    recording = batch;
    try {
      await save(batch);
    } catch (error) {
      if (isDatabaseAway(error)) {
        waiting.unshift(...batch); // Recorded by a later pass; if that is too late, the fencing token refuses it.
        throw error;
      }
      await saveEach(batch);
    } finally {
      recording = [];
    }
    return batch;
  };

  const save = async (batch: readonly Result[]): Promise<void> => {
    const now = await clock.now();
    const left = await recordSuccesses(database.read(), batch, now);
    if (left.length > 0) await database.write((tx) => recordResults(tx, left, now, gapsMs));
  };

  /** One result that cannot be written must not keep the others from it; its delivery is claimed again. */
  const saveEach = async (batch: readonly Result[]): Promise<void> => {
    for (const result of batch) {
      await save([result]).catch((error: unknown) =>
        log.error({ err: error, deliveryId: result.claimed.id }, 'result not recorded'),
      );
    }
  };

  const loop = startLoop({ name: 'delivery results', everyMs: pollMs, pass, log });
  return {
    add: (result) => {
      waiting.push(result);
      if (result.claimed.isOrdered || waiting.length === manyResults) pause.end();
      loop.wake();
    },
    unrecorded: () => waiting.length + recording.length,
    unrecordedSuccesses: () =>
      [...waiting, ...recording].flatMap(({ claimed, attempted }) =>
        evaluateAttempt(attempted).outcome === 'success' ? [claimed] : [],
      ),
    state: loop.state,
    stop: async () => {
      stopping = true;
      pause.end();
      await loop.stop();
      try {
        while (waiting.length > 0) await record();
      } catch (error) {
        log.warn({ err: error, results: waiting.length }, 'results not recorded before the end');
      }
    },
  };
}
