/**
 * Looks for events on behalf of all calls that wait: one position and one statement each time, however many they are.
 * @module
 */
import { setTimeout as wait } from 'node:timers/promises';
import * as z from 'zod';
import type { Database } from '../../../db/database.ts';
import { rowsOf } from '../../../db/statement.ts';
import type { SettledPosition } from './settled-position.queries.ts';

type Waiting = { readonly ownerId: string; readonly after: number };

/** `hasEvents`: the owner has events behind `after`, through the position; perhaps of other agents. */
type Seen = { readonly through: number; readonly hasEvents: boolean };

const lookEveryMs = 250;

export function sharedLook(
  database: Database,
  settledPosition: SettledPosition,
): (waiting: Waiting) => Promise<Seen | undefined> {
  type Asking = Waiting & PromiseWithResolvers<Seen | undefined>;
  let asking: Asking[] = [];

  /** Who asks while it looks is in the next look, because its position may be one that this look has passed. */
  async function look(): Promise<void> {
    await wait(lookEveryMs);
    const all = asking;
    asking = [];
    try {
      const through = await settledPosition();
      const behind = through === undefined ? [] : all.filter(({ after }) => after < through);
      const found = through === undefined ? new Set() : await withEvents(database, behind, through);
      for (const one of all) one.resolve(through === undefined ? undefined : { through, hasEvents: found.has(one) });
    } catch (error) {
      for (const { reject } of all) reject(error);
    }
  }

  return (waiting) => {
    const one = { ...waiting, ...Promise.withResolvers<Seen | undefined>() };
    one.promise.catch(() => undefined); // Its caller gets the error; perhaps it does not wait any more.
    if (asking.push(one) === 1) void look();
    return one.promise;
  };
}

const place = z.object({ place: z.number() });

/** Those whose owner has events. Each costs one step in the index, however many events there are. */
async function withEvents(
  database: Database,
  waiting: readonly Waiting[],
  through: number,
): Promise<ReadonlySet<Waiting | undefined>> {
  if (waiting.length === 0) return new Set();
  const rows = await rowsOf(
    database.read(),
    place,
    `select (w.n - 1)::int as place
     from unnest($1::text[], $2::bigint[]) with ordinality as w (owner_id, after, n)
     where exists (select from events e where e.owner_id = w.owner_id and e.seq > w.after and e.seq <= $3)`,
    [waiting.map(({ ownerId }) => ownerId), waiting.map(({ after }) => after), through],
  );
  return new Set(rows.map(({ place }) => waiting[place]));
}
