/**
 * Through which sequence number the events are settled: each event up to it is visible, or never will be. Numbers are
 * drawn when an event is written, and transactions commit in another order, so the highest visible number is not it.
 * A transaction holds a lock on the table from before it draws a number until after its commit is visible. So once the
 * holders of a moment are gone, all numbers drawn until that moment are settled. Writers do nothing for it.
 * @module
 */
import { setTimeout as wait } from 'node:timers/promises';
import * as z from 'zod';
import type { Database } from '../../../db/database.ts';
import { oneRowOf, rowsOf } from '../../../db/statement.ts';
import { createSettledPosition } from './settled-position.rules.ts';

/** Undefined while not even one position is known to be settled: a process that began while transactions were open. */
export type SettledPosition = () => Promise<number | undefined>;

/** For one process. Callers at the same time share a look. */
export function settledPositionOf(database: Database): SettledPosition {
  const position = createSettledPosition();
  let looking: Promise<boolean> | undefined;
  const isAllSettled = () => {
    looking ??= look().finally(() => {
      looking = undefined;
    });
    return looking;
  };
  return async () => {
    for (const pauseMs of pausesMs) {
      if (await isAllSettled()) break;
      await wait(pauseMs);
    }
    return position.through();
  };

  /** The order matters: what holds the lock is asked after the number was read. */
  async function look(): Promise<boolean> {
    const drawn = await lastDrawn(database);
    // Nothing was written since: `pg_locks` takes PostgreSQL's lock tables one after the other, so it is asked rarely.
    if (drawn <= (position.through() ?? -1)) return true;
    position.see({ drawn, holders: await holdersOf(database) });
    return (position.through() ?? -1) >= drawn;
  }
}

/** Most transactions end within these; a longer one delays the events behind it until the next call. */
const pausesMs = [3, 12, 0];

const drawnNumber = z.object({ drawn: z.number() });
const holder = z.object({ id: z.string() });

async function lastDrawn(database: Database): Promise<number> {
  const { drawn } = await oneRowOf(
    database.read(),
    drawnNumber,
    `select coalesce(pg_sequence_last_value('events_seq_seq'), 0)::float8 as drawn`,
  );
  return drawn;
}

async function holdersOf(database: Database): Promise<ReadonlySet<string>> {
  const holders = await rowsOf(
    database.read(),
    holder,
    `select virtualtransaction as id from pg_locks
     where locktype = 'relation' and relation = 'events'::regclass and mode = 'RowExclusiveLock' and granted
       and database = (select oid from pg_database where datname = current_database())`,
  );
  return new Set(holders.map(({ id }) => id));
}
