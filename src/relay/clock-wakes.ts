/**
 * Requests a wake of every row that is due after a move of the sandbox clock. The request is one row, written with the
 * clock; the marks follow in batches, made by the first free process, so that neither a crash nor the number of rows
 * loses one.
 * @module
 */
import * as z from 'zod';
import type { Database } from '../db/database.ts';
import { oneRowOf, runSql } from '../db/statement.ts';
import type { Tx } from '../db/tx.ts';
import { rowsByIndex } from './by-index.ts';

const markedAtOnce = 1_000;

/** In the transaction that moves the clock. An earlier request that is not done yet is contained in the new one. */
export async function requestClockWakes(tx: Tx, until: Date): Promise<void> {
  await runSql(
    tx,
    `insert into clock_wakes values (1, $1, '-infinity', '', '{}', 0, false)
     on conflict (id) do update set until = greatest(clock_wakes.until, excluded.until), after_due = '-infinity',
       after_id = '', skipped = '{}', marked = 0, is_done = false`,
    [until],
  );
}

/** Marks what is due, for about `forMs`. A row that another transaction holds is marked by a later call. */
export async function markDue(database: Database, forMs: number): Promise<void> {
  const open = await runSql(database.read(), 'select 1 from clock_wakes where not is_done');
  if (open === 0) return;
  for (const until = performance.now() + forMs; performance.now() < until; ) {
    if (!(await markSome(database))) return;
  }
}

/** Counts open rows that are due by the request: those that have their wake, and those that still wait for it. */
export async function countClockWakes(database: Database): Promise<{ woken: number; left: number }> {
  const { marked, waiting, unmarked } = await oneRowOf(
    database.read(),
    z.object({ marked: z.int(), waiting: z.int(), unmarked: z.int() }),
    `select marked, cardinality(skipped) + (select count(*)::int from workflow_runs
         where not is_done and is_open and due_at is not null and due_at <= until
           and (due_at, id) > (after_due, after_id)) as unmarked,
       (select count(*)::int from workflow_runs
         where (wanted_wake or waking_until is not null) and is_open and due_at <= until
           and (due_at, id) <= (after_due, after_id)) as waiting
     from clock_wakes`,
  );
  return { woken: Math.max(0, marked - waiting), left: waiting + unmarked };
}

/** True when there is more to mark. Waits for no lock: neither of the request nor of a row. */
async function markSome(database: Database): Promise<boolean> {
  const found = await rowsByIndex(
    database,
    z.object({ isMore: z.boolean() }),
    `with request as materialized (
       select until, after_due, after_id, skipped from clock_wakes where not is_done for update skip locked
     ), page as materialized (
       select p.id, p.due_at from request r cross join lateral (
         select id, due_at from workflow_runs
         where is_open and due_at is not null and due_at <= r.until and (due_at, id) > (r.after_due, r.after_id)
         order by due_at, id limit ${markedAtOnce}) p
     ), wanted as materialized (
       select id from page union select unnest(skipped) from request
     ), open_rows as materialized (
       select id from workflow_runs where id = any(array(select id from wanted)) and is_open
     ), marked as (
       update workflow_runs set wanted_wake = true where id = any(array(
         select id from workflow_runs where id = any(array(select id from open_rows)) for update skip locked))
       returning id
     ), last as (
       select due_at, id from page order by due_at desc, id desc limit 1
     )
     update clock_wakes set
       after_due = coalesce((select due_at from last), after_due), after_id = coalesce((select id from last), after_id),
       skipped = array(select id from open_rows except select id from marked),
       marked = marked + (select count(*) from marked),
       is_done = (select count(*) from page) < ${markedAtOnce}
         and not exists (select id from open_rows except select id from marked)
     where exists (select from request)
     returning not is_done as "isMore"`,
  );
  return found[0]?.isMore === true;
}
