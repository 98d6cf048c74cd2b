/**
 * The time of the last successful pass of each background loop, stored for the health check of other processes. Real
 * time.
 * @module
 */
import * as z from 'zod';
import type { Database } from '../db/database.ts';
import { rowsOf, runSql } from '../db/statement.ts';

export async function beat(database: Database, loop: string): Promise<void> {
  await runSql(
    database.read(),
    `insert into heartbeats (loop, succeeded_at) values ($1, now())
     on conflict (loop) do update set succeeded_at = excluded.succeeded_at
       where heartbeats.succeeded_at < now() - interval '5 seconds'`,
    [loop],
  );
}

/** Names of the loops that did their work within the last `seconds`. */
export async function beatingLoops(database: Database, seconds: number): Promise<Set<string>> {
  const beating = await rowsOf(
    database.read(),
    z.object({ loop: z.string() }),
    'select loop from heartbeats where succeeded_at > now() - make_interval(secs => $1)',
    [seconds],
  );
  return new Set(beating.map(({ loop }) => loop));
}
