/**
 * How far the feed of events lags behind the present: an event appears when every transaction that wrote events at the
 * same time has ended (the settled position in src/domains/delivery/events), so the oldest of them is the lag.
 * @module
 */
import * as z from 'zod';
import type { Database } from '../db/database.ts';
import { oneRowOf } from '../db/statement.ts';

const lag = z.object({ seconds: z.number() });

/** In seconds of real time; 0 where nothing is written. The age of another role's transaction is not visible. */
export async function feedLagSeconds(database: Database): Promise<number> {
  const { seconds } = await oneRowOf(
    database.read(),
    lag,
    `select coalesce(max(extract(epoch from clock_timestamp() - a.xact_start)), 0)::float8 as seconds
     from pg_locks l join pg_stat_activity a using (pid)
     where l.locktype = 'relation' and l.relation = 'events'::regclass and l.mode = 'RowExclusiveLock' and l.granted
       and l.database = (select oid from pg_database where datname = current_database())`,
  );
  return Math.max(0, seconds);
}
