/**
 * The business clock. In a sandbox it is real time plus an offset in PostgreSQL, which is read for each question, so that
 * no process uses an old one, and once for those who ask at the same time; in live mode it is real time and cannot be
 * moved.
 * @module
 */
import * as z from 'zod';
import { columnRow } from '../db/column-row.ts';
import type { Database } from '../db/database.ts';
import { oneRowOf, runSql } from '../db/statement.ts';
import type { Tx } from '../db/tx.ts';
import type { Cause } from './cause.ts';
import type { Mode } from './mode.ts';
import { sharedCall } from './shared-call.ts';
import { hasMoved, recordTransition } from './transitions.ts';

export type Clock = {
  /** Business time, to the millisecond. With `tx` its own statement reads the clock, so after the locks that it holds. */
  now(tx?: Tx): Promise<Date>;
  offsetMs(): Promise<number>;
};

export function createClock(database: Database, mode: Mode): Clock {
  const readShared = sharedCall(() => readOffset(database.read()));
  const offset = async (tx?: Tx): Promise<number> => {
    if (mode === 'live') return 0;
    return tx === undefined ? readShared() : readOffset(tx);
  };
  return { offsetMs: () => offset(), now: async (tx) => new Date(Date.now() + (await offset(tx))) };
}

/** Moves the sandbox clock forward within `tx`, once for each cause; returns the offset from then on. */
export async function advanceClock(tx: Tx, ms: number, cause: Cause): Promise<number> {
  const before = await readOffset(tx, 'for update');
  if (await hasMoved(tx, 'clock', '1', cause.causeId)) return before;
  const after = before + ms;
  await runSql(tx, 'update clock set offset_ms = $1 where id = 1', [after]);
  await recordTransition(tx, 'clock', '1', { from: String(before), to: String(after) }, cause);
  await runSql(tx, `select pg_notify('bursar_clock', '')`); // What ages in bulk is swept at once, not at its next turn.
  return after;
}

const clockRow = columnRow({ offsetMs: z.int() });

async function readOffset(tx: Tx, lock: '' | 'for update' = ''): Promise<number> {
  // With a parameter, so that the connection keeps it prepared.
  return (await oneRowOf(tx, clockRow, `select offset_ms from clock where id = $1 ${lock}`, [1])).offsetMs;
}
