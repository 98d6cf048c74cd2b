/**
 * Removes finished deliveries, samples of tests, hours of attempts and events that are older than they are kept, some at
 * a time, and secrets that sign no more. A finished delivery is as old as its end; what waits stays, however old it is.
 * @module
 */
import * as z from 'zod';
import { idRow } from '../../../db/row-values.ts';
import { oneRowOf, rowsOf, runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';

/** Each returns how many went. */
type Purge = (tx: Tx, before: Date, most: number) => Promise<number>;

/** A delivery in the list of its subscription. The instant is PostgreSQL's text, because a `Date` is less exact. */
const place = z.object({ createdAt: z.string(), id: z.string() });
/** By subscription: none of its deliveries up to there may go yet. */
export type Passed = ReadonlyMap<string, z.output<typeof place>>;

const purgedPart = z.object({
  webhookId: z.string(),
  looked: z.int(),
  purged: z.int(),
  /** The last one that was looked at; null where some before it may go and another transaction has locked them. */
  passed: place.nullable(),
});
export type PurgedPart = Readonly<z.output<typeof purgedPart>>;

const placesIn = (passed: Passed): readonly unknown[] => {
  const places = [...passed];
  return [places.map(([id]) => id), places.map(([, { createdAt }]) => createdAt), places.map(([, { id }]) => id)];
};

/** Subscriptions with deliveries from before that instant behind what was passed, in no order. */
export async function subscriptionsToPurge(tx: Tx, before: Date, passed: Passed): Promise<string[]> {
  const found = await rowsOf(tx, idRow, toPurge, [before, ...placesIn(passed)]);
  return found.map(({ id }) => id);
}

/** Looks at up to `most` deliveries of each subscription, the oldest behind what was passed, and removes what may go. */
export const purgeOldDeliveries = (
  tx: Tx,
  webhookIds: readonly string[],
  { before, most, passed }: { readonly before: Date; readonly most: number; readonly passed: Passed },
): Promise<PurgedPart[]> => rowsOf(tx, purgedPart, oldDeliveries, [before, ...placesIn(passed), webhookIds, most]);

export const purgeOldTestEvents: Purge = (tx, before, most) => runSql(tx, oldTestEvents, [before, most]);
export const purgeOldHours: Purge = (tx, before, most) => runSql(tx, oldHours, [before, most]);
export const purgeOldEvents: Purge = async (tx, before, most) =>
  (await oneRowOf(tx, purgedRow, oldEvents, [before, most])).purged;

/** Secrets that sign no more, because the overlap of their rotation is over in real time. Returns how many. */
export const wipeEndedSecrets = (tx: Tx): Promise<number> =>
  runSql(
    tx,
    `update webhooks set previous_sealed_secret = null, previous_secret_until = null
     where previous_secret_until is not null and previous_secret_until < now()`,
  );

/** Business time; where nothing says when a delivery ended, it ended with a version that did not record it. */
const endOf = (d: string): string => `coalesce(${d}.delivered_at, ${d}.ended_at,
  (${d}.attempts -> -1 ->> 'at')::timestamptz, ${d}.created_at)`;

const passedPlaces = `passed as materialized (
  select * from unnest($2::text[], $3::timestamptz[], $4::text[]) as p(webhook_id, created_at, id))`;
/** Of the list of subscription `w`, from its end: what was passed is not read. */
const behind = `webhook_deliveries d where d.webhook_id = w.id and d.created_at < $1
    and (d.created_at, d.id) > (coalesce(p.created_at, '-infinity'), coalesce(p.id, ''))
  order by d.created_at, d.id`;

const toPurge = `with ${passedPlaces}
  select w.id from webhooks w left join passed p on p.webhook_id = w.id
  cross join lateral (select from ${behind} limit 1) d order by random()`;

/** What an owner's call has locked is left to a later pass. */
const oldDeliveries = `with ${passedPlaces},
  looked as materialized (
    select d.* from unnest($5::text[]) as w(id) left join passed p on p.webhook_id = w.id cross join lateral (
      select d.webhook_id, d.created_at, d.id, d.status in ('succeeded', 'failed', 'dead') and ${endOf('d')} < $1 as may_go
      from ${behind} limit $6::int) d),
  free as materialized (
    select d.id from webhook_deliveries d
    where d.id = any((select array_agg(id) from looked where may_go)::text[]) for update skip locked),
  gone as (
    delete from webhook_deliveries where id = any((select array_agg(id) from free)::text[]) returning webhook_id)
  select l.webhook_id as "webhookId", count(*)::int as looked, coalesce(g.count, 0)::int as purged,
    case when count(*) filter (where l.may_go) = coalesce(g.count, 0) then
      (array_agg(jsonb_build_object('createdAt', l.created_at::text, 'id', l.id)
         order by l.created_at desc, l.id desc))[1]
    end as passed
  from looked l left join (select webhook_id, count(*) from gone group by webhook_id) g using (webhook_id)
  group by l.webhook_id, g.count`;

const oldTestEvents = `delete from webhook_test_events where id in (
  select id from webhook_test_events where created_at < $1 order by created_at limit $2)`;

const oldHours = `delete from webhook_hours where (webhook_id, hour) in (
  select webhook_id, hour from webhook_hours where hour < $1 order by hour limit $2)`;

const purgedRow = z.object({ purged: z.int() });
const oldEvents = 'select purge_events($1, $2) as purged';
