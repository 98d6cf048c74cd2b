/**
 * Removes finished deliveries, samples of tests, hours of attempts and events that are older than they are kept, some at
 * a time, and secrets that sign no more. A finished delivery is as old as its end; what waits stays, however old it is.
 * @module
 */
import * as z from 'zod';
import { oneRowOf, runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';

/** Each returns how many went. */
type Purge = (tx: Tx, before: Date, most: number) => Promise<number>;

export const purgeOldDeliveries: Purge = (tx, before, most) => runSql(tx, oldDeliveries, [before, most]);
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

/**
 * Subscription by subscription from the end of its list, so that nothing younger is read; in no order of subscriptions,
 * so that one with many old deliveries does not keep those of others. What an owner's call has locked is left to the
 * next pass.
 */
const oldDeliveries = `delete from webhook_deliveries where id in (
  select d.id from (select id from webhooks order by random()) w cross join lateral (
    select d.id from webhook_deliveries d
    where d.webhook_id = w.id and d.created_at < $1 and d.status in ('succeeded', 'failed', 'dead')
      and ${endOf('d')} < $1
    order by d.created_at, d.id limit $2 for update skip locked) d
  limit $2)`;

const oldTestEvents = `delete from webhook_test_events where id in (
  select id from webhook_test_events where created_at < $1 order by created_at limit $2)`;

const oldHours = `delete from webhook_hours where (webhook_id, hour) in (
  select webhook_id, hour from webhook_hours where hour < $1 order by hour limit $2)`;

const purgedRow = z.object({ purged: z.int() });
const oldEvents = 'select purge_events($1, $2) as purged';
