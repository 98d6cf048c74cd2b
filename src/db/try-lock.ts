/** Work that one process does at a time: an advisory lock that is held to the end of the transaction. @module */
import * as z from 'zod';
import { oneRowOf } from './statement.ts';
import type { Tx } from './tx.ts';

const lockRow = z.object({ isMine: z.boolean() });

/** False at once while another transaction has the lock `key`. */
export async function tryLock(tx: Tx, key: number): Promise<boolean> {
  const { isMine } = await oneRowOf(tx, lockRow, 'select pg_try_advisory_xact_lock($1) as "isMine"', [key]);
  return isMine;
}
