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
import { createSettledPosition, type Sight } from './settled-position.rules.ts';

export type SettledPosition = () => Promise<number>;

/** For one process. Callers at the same time share a look. */
export function settledPositionOf(database: Database): SettledPosition {
  const position = createSettledPosition();
  let looking: Promise<Sight> | undefined;
  const look = () => {
    looking ??= sightOf(database).finally(() => {
      looking = undefined;
    });
    return looking;
  };
  return async () => {
    for (const pauseMs of pausesMs) {
      const sight = await look();
      position.see(sight);
      if (position.through() >= sight.drawn) break;
      await wait(pauseMs);
    }
    return position.through();
  };
}

/** Most transactions end within these; a longer one delays the events behind it until the next call. */
const pausesMs = [2, 4, 8, 16, 0];

const drawnNumber = z.object({ drawn: z.number() });
const holder = z.object({ id: z.string() });

/** The order matters: what holds the lock is asked after the number was read. */
async function sightOf(database: Database): Promise<Sight> {
  const { drawn } = await oneRowOf(
    database.read(),
    drawnNumber,
    `select coalesce(pg_sequence_last_value('events_seq_seq'), 0)::float8 as drawn`,
  );
  const holders = await rowsOf(
    database.read(),
    holder,
    `select virtualtransaction as id from pg_locks
     where locktype = 'relation' and relation = 'events'::regclass and mode = 'RowExclusiveLock' and granted
       and database = (select oid from pg_database where datname = current_database())`,
  );
  return { drawn, holders: new Set(holders.map(({ id }) => id)) };
}
