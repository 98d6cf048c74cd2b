/** Which causes have changed which rows. Written with the row, in its transaction, under its lock. @module */
import * as z from 'zod';
import { columnRow } from '../db/column-row.ts';
import { firstRowOf, runSql } from '../db/statement.ts';
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

const moveRow = columnRow({ fromStatus: z.string().nullable(), toStatus: z.string() });

/** The move that this very cause made; undefined where it made none. */
export const moveBy = (
  tx: Tx,
  noun: string,
  rowId: string,
  causeId: string,
): Promise<{ readonly fromStatus: string | null; readonly toStatus: string } | undefined> =>
  firstRowOf(
    tx,
    moveRow,
    'select from_status, to_status from transitions where noun = $1 and row_id = $2 and cause_id = $3',
    [noun, rowId, causeId],
  );

/** The same move of many rows, in one statement. `from` is null for creations. */
export async function recordTransitions(
  tx: Tx,
  noun: string,
  rowIds: readonly string[],
  move: { from: string | null; to: string },
  cause: Cause,
): Promise<void> {
  if (rowIds.length === 0) return;
  await runSql(tx, 'insert into transitions select $1, id, $3, $4, $5, $6 from unnest($2::text[]) as moved (id)', [
    noun,
    [...rowIds],
    cause.causeId,
    move.from,
    move.to,
    cause.at,
  ]);
}

export type Moved = {
  readonly rowId: string;
  readonly from: string | null;
  readonly to: string;
  readonly cause: Cause;
};

/** Moves of many rows, each with its own cause, in one statement. */
export async function recordMoves(tx: Tx, noun: string, moves: readonly Moved[]): Promise<void> {
  if (moves.length === 0) return;
  await runSql(
    tx,
    `insert into transitions select $1, m.* from unnest($2::text[], $3::text[], $4::text[], $5::text[],
       $6::timestamptz[]) as m (id, cause_id, was, became, at)`,
    [
      noun,
      moves.map(({ rowId }) => rowId),
      moves.map(({ cause }) => cause.causeId),
      moves.map(({ from }) => from),
      moves.map(({ to }) => to),
      moves.map(({ cause }) => cause.at),
    ],
  );
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
