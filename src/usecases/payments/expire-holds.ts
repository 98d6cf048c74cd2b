/**
 * Ends expired records in bulk: releases holds that were not collected, fails confirms without an authorization, and
 * books clearings without one. Can run at any time, also concurrently.
 * @module
 */
import { sql } from 'kysely';
import { type Database, isDatabaseAway } from '../../db/database.ts';
import { type Given, query } from '../../db/db.ts';
import { waitForLocks } from '../../db/lock-wait.ts';
import type { Tx } from '../../db/tx.ts';
import { failUnlinked } from '../../domains/payments/transactions/confirm.service.ts';
import { bookExpiries } from '../../domains/payments/transactions/giving-back.service.ts';
import { lockPayment, lockPayments } from '../../domains/payments/transactions/payment-lock.service.ts';
import { second } from '../../kernel/instant.ts';
import type { Cause } from '../../platform/cause.ts';
import { cardWasUsed } from '../cards/card-was-used.ts';
import { type BookOrphansDeps, bookOrphanClearings } from './book-orphan-clearings.ts';
import { forEachCollectingErrors, throwAll } from './for-each-collecting-errors.ts';

type Deps = BookOrphansDeps & {
  /** How long each lock of what is ended alone is awaited: longer than in a batch, and shorter than a caller waits. */
  readonly lockWaitMs?: number;
};

export type Expired = { readonly holds: number; readonly confirms: number; readonly orphans: number };

const batch = 100;
const batchLockWaitMs = second / 4;
const aloneLockWaitMs = 2 * second;

/** `at` is business time. */
export const expireHolds =
  ({ database, lockWaitMs = aloneLockWaitMs }: Deps) =>
  async (at: Date): Promise<Expired> => {
    const patient = waiting(database, lockWaitMs);
    const holds = await sweepHolds(patient, at);
    const confirms = await failConfirms(patient, at);
    const orphans = await bookOrphanClearings({ database: patient })(at);
    throwAll([...holds.failures, ...confirms.failures, ...orphans.failures], 'of what has aged');
    return { holds: holds.done, confirms: confirms.done, orphans: orphans.done };
  };

type Writing = Pick<Database, 'read' | 'write'>;

/** One row whose lock is kept for long keeps no other waiting: it fails in time, and alone. */
const waiting = (database: Writing, lockWaitMs: number): Writing => ({
  read: database.read,
  write: (work) =>
    database.write(async (tx) => {
      await waitForLocks(tx, lockWaitMs);
      return work(tx);
    }),
});

type Drained = { readonly done: number; readonly failures: unknown[] };
type Place = { readonly at: Date; readonly afterAt: Date; readonly after: string };
const firstPlace = { afterAt: new Date(0), after: '' };

/** In the order of the index, so that a batch reads only the holds of the batch. */
const expiredHolds = query((from, given: Given<Place>) =>
  from
    .selectFrom('transactions')
    .select(['id', 'holdExpiresAt'])
    .where('holdExpiresAt', '<=', given('at'))
    .where('status', '=', sql.lit('pending'))
    .where(sql<boolean>`(hold_expires_at, id) > (${given('afterAt')}::timestamptz, ${given('after')})`)
    .orderBy('holdExpiresAt')
    .orderBy('id')
    .limit(sql.lit(batch)),
);

/** Each batch is one transaction, small enough, and with so short a wait for locks, that no decision waits long for its agents. */
async function sweepHolds(database: Writing, at: Date): Promise<Drained> {
  const failures: unknown[] = [];
  let done = 0;
  let place = firstPlace;
  for (;;) {
    const found = await expiredHolds.all(database.read(), { at, ...place });
    const ids = found.map(({ id }) => id);
    const failed = await expireTogether(database, ids, at);
    failures.push(...failed);
    done += ids.length - failed.length;
    const last = found.at(-1);
    if (last?.holdExpiresAt == null || ids.length < batch) return { done, failures };
    place = { afterAt: last.holdExpiresAt, after: last.id };
  }
}

/**
 * One that cannot be booked, or whose locks take too long, stops no other: then each is booked alone, and the next sweep
 * takes those whose locks still took too long.
 */
async function expireTogether(database: Writing, ids: readonly string[], at: Date): Promise<unknown[]> {
  const expire = (some: readonly string[]) => database.write((tx) => expireIn(tx, some, at));
  if (ids.length === 0) return [];
  try {
    await expire(ids);
    return [];
  } catch (error) {
    if (isDatabaseAway(error)) throw error;
    return forEachCollectingErrors(ids, (id) => expire([id]));
  }
}

/** What a clearing, a reversal or another sweep has ended meanwhile, or made to last longer, stays. */
async function expireIn(tx: Tx, ids: readonly string[], at: Date): Promise<void> {
  // While one owner's lock is awaited, no other owner's is kept.
  if (ids.length > 1) await waitForLocks(tx, batchLockWaitMs);
  const rows = await lockPayments(tx, ids);
  const due = rows.filter((row) => row.status === 'pending' && row.holdExpiresAt != null && row.holdExpiresAt <= at);
  await bookExpiries(
    tx,
    due.map((row) => ({ row, cause: causeOf(row.id, at) })),
    cardWasUsed,
  );
}

const unlinkedConfirms = query((from, given: Given<Place>) =>
  from
    .selectFrom('transactions')
    .select(['id', 'linkUntil'])
    .where('linkUntil', '<=', given('at'))
    .where(sql<boolean>`(link_until, id) > (${given('afterAt')}::timestamptz, ${given('after')})`)
    .orderBy('linkUntil')
    .orderBy('id')
    .limit(sql.lit(batch)),
);

/** One transaction each: confirms whose authorization never comes are rare. */
async function failConfirms(database: Writing, at: Date): Promise<Drained> {
  const failures: unknown[] = [];
  let done = 0;
  let place = firstPlace;
  for (;;) {
    const found = await unlinkedConfirms.all(database.read(), { at, ...place });
    const failed = await forEachCollectingErrors(found, ({ id }) =>
      database.write(async (tx) => {
        const row = await lockPayment(tx, id);
        if (row.linkUntil != null && row.linkUntil <= at) await failUnlinked(tx, row, causeOf(id, at));
      }),
    );
    failures.push(...failed);
    done += found.length - failed.length;
    const last = found.at(-1);
    if (last?.linkUntil == null || found.length < batch) return { done, failures };
    place = { afterAt: last.linkUntil, after: last.id };
  }
}

const causeOf = (id: string, at: Date): Cause => ({
  causeId: `expiry:${id}:${at.toISOString()}`,
  requestId: `expiry/${id}`,
  actor: { kind: 'deadline' },
  at,
});
