/**
 * Transactions of the card network that wait for locks only so long: a message that gets no answer in time is sent again,
 * and each one that waits keeps a connection of the pool. Nothing is written where a lock is not given in time.
 * @module
 */
import { type Database, isLockTimeout } from '../../db/database.ts';
import { waitForLocks } from '../../db/lock-wait.ts';
import type { Tx } from '../../db/tx.ts';
import { DomainError } from '../../kernel/errors.ts';
import { second } from '../../kernel/instant.ts';

/**
 * `mostWaitMs`: how long each statement may wait for a lock. A transaction that is begun again, by another call of the
 * answered function or by `database.write`, has what is left of it.
 */
export function writeWithin<T>(database: Database, mostWaitMs: number, work: (tx: Tx) => Promise<T>): () => Promise<T> {
  const until = performance.now() + mostWaitMs;
  return () =>
    database.write(async (tx) => {
      const leftMs = Math.max(1, Math.ceil(until - performance.now()));
      await waitForLocks(tx, leftMs);
      return work(tx);
    });
}

/** 503 where a lock was not given in time. */
export async function orUnavailable<T>(why: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
    throw new DomainError('unavailable', why, { retryAfterSeconds: 1, cause: error });
  }
}

/** What a booking waits for its locks: money has moved, so it waits longer than a decision may. */
export const bookingWaitMs = 10 * second;

/** Writes what a message of the network books. 503 where another change holds what it needs for too long. */
export const writeBooking = <T>(database: Database, mostWaitMs: number, work: (tx: Tx) => Promise<T>): Promise<T> =>
  orUnavailable(
    `another change held what this message needs for ${mostWaitMs} ms; nothing is booked, and the network may send it again`,
    writeWithin(database, mostWaitMs, work)(),
  );
