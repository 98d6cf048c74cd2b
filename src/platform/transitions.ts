/** Which causes have moved which rows. Written with the row, in its transaction, under its lock. @module */
import { runSql } from '../db/statement.ts';
import type { Tx } from '../db/tx.ts';
import type { Cause } from './cause.ts';

/** True when this very cause has moved this row before. */
export async function hasMoved(tx: Tx, noun: string, rowId: string, causeId: string): Promise<boolean> {
  const found = await runSql(tx, 'select 1 from transitions where noun = $1 and row_id = $2 and cause_id = $3', [
    noun,
    rowId,
    causeId,
  ]);
  return found > 0;
}

/** `from` is null for a creation. */
export async function recordTransition(
  tx: Tx,
  noun: string,
  rowId: string,
  move: { from: string | null; to: string },
  cause: Cause,
): Promise<void> {
  await runSql(tx, 'insert into transitions values ($1, $2, $3, $4, $5, $6)', [
    noun,
    rowId,
    cause.causeId,
    move.from,
    move.to,
    cause.at,
  ]);
}
