/**
 * From which number a claim looks for deliveries that wait. Each delivery that is over leaves a dead entry in the index of what
 * waits until the next vacuum, and a claim that began at the oldest number would step over all of them. Claims nothing.
 * @module
 */
import * as z from 'zod';
import { oneRowOf, runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';

/** Numbers of deliveries, as text. */
export type Backlog = {
  /** From this number on, a delivery is new, and a claim finds it. */
  readonly newFrom: string;
  /** By receiver with older deliveries that wait: the first of their numbers. */
  readonly older: Readonly<Record<string, string>>;
  /** The last number as of this look. */
  readonly last: string;
  /** All receivers that something waited for. */
  readonly receivers: readonly string[];
};

/** Everything is new. */
export const unknownBacklog: Backlog = { newFrom: '0', older: {}, last: '0', receivers: [] };

const lookRow = z.object({ last: z.string(), waiting: z.record(z.string(), z.string()) });

/**
 * Looks through all that waits, also at what was given back or committed late. New is what came after `before`, so that
 * a transaction that took its numbers before that look may commit until this one. One that takes longer, and what is
 * given back meanwhile, waits for the next look.
 */
export async function lookForBacklog(tx: Tx, before: Backlog): Promise<Backlog> {
  await throughIndexes(tx);
  const { last, waiting } = await oneRowOf(tx, lookRow, lookThrough);
  const newFrom = before.last;
  const older = Object.entries(waiting).filter(([, first]) => BigInt(first) < BigInt(newFrom));
  return { newFrom, older: Object.fromEntries(older), last, receivers: Object.keys(waiting) };
}

/**
 * What is open is little beside what is over, but comes and goes faster than statistics are taken; a plan that reads a
 * whole table is never right here. For this transaction only.
 */
export const throughIndexes = (tx: Tx, further: readonly string[] = []): Promise<number> =>
  runSql(tx, `select set_config(name, 'off', true) from unnest($1::text[]) as name`, [
    ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', ...further],
  ]);

/** Where something is parked, any of it may wait again, so all numbers are looked at. */
const lookThrough = `with recursive with_parked(id) as (
    (select d.webhook_id from webhook_deliveries d where d.is_parked
     order by d.webhook_id, d.subject_id, d.seq limit 1)
    union all
    select n.webhook_id from with_parked p cross join lateral (
      select d.webhook_id from webhook_deliveries d where d.is_parked and d.webhook_id > p.id
      order by d.webhook_id, d.subject_id, d.seq limit 1) n),
  waiting as (
    select id, min(seq) as seq from (
      select webhook_id as id, seq from first_waiting_deliveries(0, false) union all select id, 0 from with_parked) w group by id)
  select coalesce((select d.seq::text from webhook_deliveries d order by d.id desc limit 1), '0') as last,
    coalesce((select jsonb_object_agg(id, seq::text) from waiting), '{}') as waiting`;
