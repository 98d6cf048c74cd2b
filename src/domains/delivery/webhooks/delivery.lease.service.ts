/**
 * Deliveries under way are those in `delivery_claims`. Here: how statements ask for them, how the holder of a claim takes
 * out what is over, and how claims are released whose holder died. Claims nothing.
 * @module
 */
import { runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { throughIndexes } from './delivery.backlog.service.ts';

/** Whether a delivery is under way, for one or for a page of them; `d` names it. */
export const isUnderWay = (d: string): string =>
  `exists (select from delivery_claims c where c.webhook_id = ${d}.webhook_id and ${d}.seq = any(c.seqs))`;

/** As the API shows it: what is under way is stored as pending. */
export const shownStatus = (d: string): string =>
  `case when ${d}.status = 'pending' and ${isUnderWay(d)} then 'delivering' else ${d}.status end`;

/** For many deliveries of the receivers in `webhookIds`, an array: their claims are read once. */
export const isNotUnderWay = (d: string, webhookIds: string): string =>
  `${d}.seq not in (select c.seq from claimed_deliveries(${webhookIds}) c)`;

/** A delivery of a claim. */
export type ClaimedPlace = { readonly webhookId: string; readonly claim: number; readonly seq: number };

/**
 * Nothing is claimed at these receivers meanwhile, so what is not under way can be ended. Whoever also locks a subscription
 * locks its health first.
 */
export const lockHealth = (tx: Tx, webhookIds: readonly string[]): Promise<number> =>
  runSql(tx, 'select 1 from webhook_health where webhook_id = any($1::text[]) order by webhook_id for update', [
    webhookIds,
  ]);

/** These are recorded, or are not sent. They take no place of their receiver any more. */
export async function leaveClaims(tx: Tx, places: readonly ClaimedPlace[]): Promise<void> {
  await runSql(tx, 'select leave_claims($1, $2, $2, $3)', [
    places.map(({ webhookId }) => webhookId),
    places.map(({ claim }) => claim),
    places.map(({ seq }) => seq),
  ]);
}

/**
 * Releases the claims whose lease has run out, of these subscriptions or of all: their holders died, so that what has no
 * result can be claimed again, with another number in `X-Service-Delivery-Id`. Comes before every claim. Skips a claim that
 * a late result is being written to. `held`: claims that the caller has results of, which count until their release.
 */
export async function releaseExpired(
  tx: Tx,
  webhookIds?: readonly string[],
  held: readonly number[] = [],
): Promise<void> {
  // Each look-up names the order of its index, and nothing is sorted: with the statistics of a moment when much was under way, a
  // plan reads all deliveries of the receiver.
  await throughIndexes(tx, ['enable_sort']);
  const [claims, deliveries] =
    webhookIds === undefined ? [expiredClaims(), leftByOlder()] : [ofEach(expiredClaims), ofEach(leftByOlder)];
  await runSql(
    tx,
    `with expired as materialized (
       ${claims}),
     released as (
       delete from delivery_claims c using expired e where c.webhook_id = e.webhook_id and c.id = e.id),
     -- The version before this one claims by status and lease of the delivery.
     older as (
       update webhook_deliveries set status = 'pending', lease_until = null where id = any(array(${deliveries})))
     -- By an array and not by a join, which a plan that was made for empty tables would begin with all deliveries.
     update webhook_deliveries u set claims = u.claims + 1
     where u.id = any(array(select d.id from expired e cross join lateral open_deliveries(e.webhook_id, e.seqs) d))
       -- Another claim may have it, where the clock of PostgreSQL was set forward; its result counts by the next number.
       and not exists (
         select from delivery_claims o
         where o.webhook_id = u.webhook_id and o.lease_until >= now() and u.seq = any(o.seqs))`,
    webhookIds === undefined ? [held] : [held, webhookIds],
  );
}

type OfReceiver = { readonly where: string; readonly order: string };
const ofAll = (order: string): OfReceiver => ({ where: '', order });

const expiredClaims = ({ where, order }: OfReceiver = ofAll('c.lease_until')): string =>
  `select c.webhook_id, c.id, c.seqs from delivery_claims c
   where ${where} c.lease_until < now() and c.id <> all ($1::bigint[]) order by ${order} for update skip locked`;

const leftByOlder = ({ where, order }: OfReceiver = ofAll('d.webhook_id, d.lease_until')): string =>
  `select d.id from webhook_deliveries d
   where ${where} d.status = 'delivering' and d.lease_until < now() order by ${order} for update skip locked`;

/** From receiver to receiver, so that those of others are not read. */
const ofEach = (found: (of: OfReceiver) => string): string =>
  `select f.* from unnest($2::text[]) as r(id)
   cross join lateral (${found({ where: 'webhook_id = r.id and', order: 'lease_until' })}) f`;
