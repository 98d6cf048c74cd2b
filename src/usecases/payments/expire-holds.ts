/**
 * Ends expired records in bulk: releases holds that were not collected, fails confirms without an authorization, and
 * books clearings without one. Can run at any time, also concurrently.
 * @module
 */
import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { type Db, type Given, type Query, query } from '../../db/db.ts';
import type { Tx } from '../../db/tx.ts';
import { bookExpiry } from '../../domains/payments/transactions/booking.service.ts';
import { failUnlinked } from '../../domains/payments/transactions/confirm.service.ts';
import { lockPayment } from '../../domains/payments/transactions/payment-lock.service.ts';
import type { TransactionRow } from '../../domains/payments/transactions/transaction.entity.ts';
import type { Cause } from '../../platform/cause.ts';
import { cardWasUsed } from '../cards/card-was-used.ts';
import { type BookOrphansDeps, bookOrphanClearings } from './book-orphan-clearings.ts';
import { forEachCollectingErrors, throwAll } from './for-each-collecting-errors.ts';

export type Expired = { readonly holds: number; readonly confirms: number; readonly orphans: number };

const batch = 100;

/** `at` is business time. */
export const expireHolds =
  ({ database }: BookOrphansDeps) =>
  async (at: Date): Promise<Expired> => {
    const holds = await drain(database, at, expiredHolds, async (tx, row, cause) => {
      const isDue = row.holdExpiresAt != null && row.holdExpiresAt <= at;
      if (isDue && row.status === 'pending') await bookExpiry(tx, row, cause, cardWasUsed);
    });
    const confirms = await drain(database, at, unlinkedConfirms, async (tx, row, cause) => {
      if (row.linkUntil != null && row.linkUntil <= at) await failUnlinked(tx, row, cause);
    });
    const orphans = await bookOrphanClearings({ database })(at);
    throwAll([...holds.failures, ...confirms.failures, ...orphans.failures], 'of what has aged');
    return { holds: holds.done, confirms: confirms.done, orphans: orphans.done };
  };

type Due = { readonly at: Date; readonly after: string };

const expiredHolds = query((from, given: Given<Due>) =>
  batchBehind(from, given).where('holdExpiresAt', '<=', given('at')).where('status', '=', sql.lit('pending')),
);

const unlinkedConfirms = query((from, given: Given<Due>) =>
  batchBehind(from, given).where('linkUntil', '<=', given('at')),
);

const batchBehind = (from: Db, given: Given<Due>) =>
  from.selectFrom('transactions').select('id').where('id', '>', given('after')).orderBy('id').limit(sql.lit(batch));

type Expire = (tx: Tx, row: TransactionRow, cause: Cause) => Promise<void>;
type Drained = { readonly done: number; readonly failures: unknown[] };

/** One transaction each, and each once in a pass, so that no lock is held for long. */
async function drain(database: Database, at: Date, due: Query<Due, { id: string }>, expire: Expire): Promise<Drained> {
  const failures: unknown[] = [];
  let done = 0;
  let after = '';
  for (;;) {
    const found = await due.all(database.read(), { at, after });
    const failed = await forEachCollectingErrors(found, ({ id }) =>
      database.write(async (tx) => expire(tx, await lockPayment(tx, id), causeOf(id, at))),
    );
    failures.push(...failed);
    done += found.length - failed.length;
    after = found.at(-1)?.id ?? after;
    if (found.length < batch) return { done, failures };
  }
}

const causeOf = (id: string, at: Date): Cause => ({
  causeId: `expiry:${id}:${at.toISOString()}`,
  requestId: `expiry/${id}`,
  actor: { kind: 'deadline' },
  at,
});
