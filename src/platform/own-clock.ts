/**
 * Whether the clock of this process agrees with the database's, in words: the reason that explains a refusal for time.
 * Reads only.
 * @module
 */
import * as z from 'zod';
import { columnRow } from '../db/column-row.ts';
import { oneRowOf } from '../db/statement.ts';
import type { Tx } from '../db/tx.ts';
import { lengthInWords, second } from '../kernel/instant.ts';

const databaseTime = columnRow({ ms: z.coerce.number() });
const toleratedMs = 30 * second;

/** Undefined where the two agree, to half a minute. */
export async function ownClockInWords(tx: Tx): Promise<string | undefined> {
  const { ms } = await oneRowOf(tx, databaseTime, 'select extract(epoch from clock_timestamp()) * 1000 as ms');
  const aheadMs = Date.now() - ms;
  if (Math.abs(aheadMs) <= toleratedMs) return undefined;
  return `the clock of this worker is ${lengthInWords(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'} the database's`;
}
