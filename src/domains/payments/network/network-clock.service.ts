/**
 * Keeps when a rightly signed message of a network was last refused for its time, so that a payment whose charge was not
 * heard can say why. Times are the database's: the clock of the process is what may be wrong.
 * @module
 */
import * as z from 'zod';
import { columnRow } from '../../../db/column-row.ts';
import { firstRowOf, runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import type { Untimely } from './network.signature.ts';

/** At most one write in a second for each network, unless the difference is another one. */
export const noteUntimelyMessage = (tx: Tx, { adapter, apartMs }: Untimely): Promise<number> =>
  runSql(
    tx,
    `insert into network_clocks as c (adapter, refused_at, apart_ms) values ($1, clock_timestamp(), $2)
     on conflict (adapter) do update set refused_at = excluded.refused_at, apart_ms = excluded.apart_ms
     where c.refused_at < clock_timestamp() - interval '1 second' or abs(c.apart_ms - excluded.apart_ms) > 60000`,
    [adapter, Math.round(apartMs)],
  );

const refusedRow = columnRow({ apartMs: z.coerce.number() });

/** How far apart the clocks were in the last minute; undefined where no message was refused for its time. */
export async function untimelyMessageOfNow(tx: Tx): Promise<number | undefined> {
  const found = await firstRowOf(
    tx,
    refusedRow,
    `select apart_ms from network_clocks where refused_at > clock_timestamp() - interval '1 minute'
     order by refused_at desc limit 1`,
  );
  return found?.apartMs;
}
