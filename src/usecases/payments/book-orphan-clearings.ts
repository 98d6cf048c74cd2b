/**
 * Books clearings and refunds whose authorization has not come within a day. Clearings of 0 alone have collected nothing
 * and wait further. If the authorization comes later, the collected amount stays booked and the rules decide on the rest.
 * @module
 */
import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { type Given, query } from '../../db/db.ts';
import { runSql } from '../../db/statement.ts';
import type { Tx } from '../../db/tx.ts';
import { waitingMessages } from '../../domains/payments/network/authorization-facts.ts';
import { clearingMessage } from '../../domains/payments/network/network.contract.ts';
import { cardRefOfAuthorization, messageMisfits } from '../../domains/payments/network/network-message.service.ts';
import { lockForEarly } from '../../domains/payments/transactions/booking.posting.service.ts';
import { findByAuthorization } from '../../domains/payments/transactions/transaction.queries.ts';
import { day } from '../../kernel/instant.ts';
import type { Cause } from '../../platform/cause.ts';
import { bookEarlyMessages } from './book-early-messages.ts';
import { bookOrphanRefunds } from './book-orphan-refunds.ts';
import { forEachCollectingErrors } from './for-each-collecting-errors.ts';
import { holderOf } from './holder-of-card.ts';
import { openForcePost } from './open-force-post.ts';

export type BookOrphansDeps = { readonly database: Pick<Database, 'read' | 'write'> };

const waitsMs = day;
const batch = 100;

const orphans = query((from, given: Given<{ since: Date }>) =>
  from
    .selectFrom('network_messages')
    .distinct()
    .select(['adapter', 'cardRef'])
    // Only a refund may be without one.
    .select(sql<string>`authorization_id`.as('authorizationId'))
    .where('isWaiting', '=', sql.lit(true))
    .where('kind', '=', sql.lit('clearing'))
    .where('receivedAt', '<=', given('since'))
    .where(sql<boolean>`(body ->> 'amountCents')::bigint > 0`)
    .limit(sql.lit(batch)),
);
type Orphan = { readonly adapter: string; readonly authorizationId: string; readonly cardRef: string };

/** `at` is business time; `done` counts authorizations. The next pass tries the failed ones again. */
export const bookOrphanClearings =
  ({ database }: BookOrphansDeps) =>
  async (at: Date): Promise<{ done: number; failures: unknown[] }> => {
    const since = new Date(at.getTime() - waitsMs);
    const found = await orphans.all(database.read(), { since });
    const failures = await forEachCollectingErrors(found, (orphan) => database.write((tx) => book(tx, orphan, at)));
    // A refund of a payment that was just booked went with it.
    const refunds = await bookOrphanRefunds(database, { since, at });
    const done = found.length - failures.length + refunds.done;
    return { done, failures: [...failures, ...refunds.failures] };
  };

async function book(tx: Tx, { adapter, authorizationId, cardRef }: Orphan, at: Date): Promise<void> {
  await runSql(tx, 'select lock_authorization($1, $2)', [adapter, authorizationId]);
  if ((await findByAuthorization(tx, adapter, authorizationId)) !== null) return; // It came meanwhile.
  const early = await waitingMessages(tx, adapter, authorizationId);
  const authorizedCard = await cardRefOfAuthorization(tx, adapter, authorizationId);
  if (authorizedCard !== undefined && authorizedCard !== cardRef) {
    // It was declined as of a card that is not known, and another card's clearing does not fit it.
    for (const { id, kind } of early.filter((message) => message.cardRef === cardRef)) {
      await messageMisfits(tx, { adapter, id, kind }, 'other_card');
    }
    return;
  }
  const holder = await holderOf.first(tx, { cardRef });
  const clearing = early.find((message) => message.kind === 'clearing' && message.cardRef === cardRef);
  if (holder === null || clearing === undefined) return;
  const { merchant } = clearingMessage.parse(clearing.body);
  const cause: Cause = {
    causeId: `orphan:${adapter}:${authorizationId}`,
    requestId: clearing.requestId ?? `orphan/${authorizationId}`,
    actor: { kind: 'deadline' },
    at,
  };

  const row = await openForcePost(tx, { adapter, authorizationId, cardRef, holder, merchant }, cause);
  await lockForEarly(tx, row, early, cause);
  await bookEarlyMessages(tx, { adapter, cause, cardRef, early, transactionId: row.id });
}
