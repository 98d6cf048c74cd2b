/**
 * Books refunds whose authorization has not come within a day, as refunds that give back no known payment. If the
 * authorization comes later, it is decided without them.
 * @module
 */
import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { type Given, query } from '../../db/db.ts';
import { runSql } from '../../db/statement.ts';
import type { Tx } from '../../db/tx.ts';
import { waitingMessages } from '../../domains/payments/network/authorization-facts.ts';
import { refundMessage } from '../../domains/payments/network/network.contract.ts';
import { networkCauseId } from '../../domains/payments/network/network.routes.ts';
import {
  cardRefOfAuthorization,
  messageBooked,
  messageMisfits,
} from '../../domains/payments/network/network-message.service.ts';
import { sourceOf } from '../../domains/payments/transactions/booking.posting.service.ts';
import { bookRefund } from '../../domains/payments/transactions/refund.service.ts';
import type { Cause } from '../../platform/cause.ts';
import { forEachCollectingErrors } from './for-each-collecting-errors.ts';
import { holderOf } from './holder-of-card.ts';
import { lockedHolder } from './refund-card-payment.ts';

const batch = 100;

const orphans = query((from, given: Given<{ since: Date }>) =>
  from
    .selectFrom('network_messages')
    .select(['adapter', 'id', 'cardRef'])
    // A refund without one waits for nothing.
    .select(sql<string>`authorization_id`.as('authorizationId'))
    .where('isWaiting', '=', sql.lit(true))
    .where('kind', '=', sql.lit('refund'))
    .where('receivedAt', '<=', given('since'))
    .orderBy('receivedAt')
    .limit(sql.lit(batch)),
);
type Orphan = Awaited<ReturnType<typeof orphans.all>>[number];

/** `since`: what came before it has waited long enough. The next pass tries the failed ones again. */
export async function bookOrphanRefunds(
  database: Pick<Database, 'read' | 'write'>,
  { since, at }: { readonly since: Date; readonly at: Date },
): Promise<{ done: number; failures: unknown[] }> {
  const found = await orphans.all(database.read(), { since });
  const failures = await forEachCollectingErrors(found, (orphan) => database.write((tx) => book(tx, orphan, at)));
  return { done: found.length - failures.length, failures };
}

async function book(tx: Tx, { adapter, id, authorizationId, cardRef }: Orphan, at: Date): Promise<void> {
  await runSql(tx, 'select lock_authorization($1, $2)', [adapter, authorizationId]);
  const waiting = await waitingMessages(tx, adapter, authorizationId);
  const refund = waiting.find((message) => message.kind === 'refund' && message.id === id);
  const holder = await holderOf.first(tx, { cardRef });
  if (refund === undefined || holder === null) return; // Its authorization came meanwhile.
  const authorizedCard = await cardRefOfAuthorization(tx, adapter, authorizationId);
  if (authorizedCard !== undefined && authorizedCard !== cardRef) {
    // It was declined as of a card that is not known, and another card's refund does not fit it.
    return messageMisfits(tx, { adapter, id, kind: 'refund' }, 'other_card');
  }
  const message = refundMessage.parse(refund.body);
  const { amountCents, merchant } = message;
  const cause: Cause = {
    causeId: networkCauseId(adapter, 'refund', id),
    requestId: refund.requestId ?? `orphan/${id}`,
    actor: { kind: 'deadline' },
    at,
  };
  const of = await lockedHolder(tx, holder);
  const row = await bookRefund(tx, { source: sourceOf(adapter, message), amountCents, merchant, of }, cause);
  await messageBooked(tx, { adapter, id, kind: 'refund' }, row.id);
}
