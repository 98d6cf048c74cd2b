/**
 * The business clock. In a sandbox it is real time plus an offset in PostgreSQL, which is read each time, so that no
 * process uses an old one; in live mode it is real time and cannot be moved.
 * @module
 */
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { query } from '../db/db.ts';
import { runSql } from '../db/statement.ts';
import type { Tx } from '../db/tx.ts';
import type { Cause } from './cause.ts';
import type { Mode } from './mode.ts';
import { hasMoved, recordTransition } from './transitions.ts';

export type Clock = {
  /** Business time, to the millisecond. */
  now(): Promise<Date>;
  offsetMs(): Promise<number>;
};

export function createClock(database: Database, mode: Mode): Clock {
  const offsetMs = async (): Promise<number> => (mode === 'live' ? 0 : readOffset(database.read()));
  return { offsetMs, now: async () => new Date(Date.now() + (await offsetMs())) };
}

/** Moves the sandbox clock forward within `tx`, once for each cause; returns the offset from then on. */
export async function advanceClock(tx: Tx, ms: number, cause: Cause): Promise<number> {
  const before = offsetOf(await lockedClock.first(tx, {}));
  if (await hasMoved(tx, 'clock', '1', cause.causeId)) return before;
  const after = before + ms;
  await runSql(tx, 'update clock set offset_ms = $1 where id = 1', [after]);
  await recordTransition(tx, 'clock', '1', { from: String(before), to: String(after) }, cause);
  await runSql(tx, `select pg_notify('bursar_clock', '')`); // What ages in bulk is swept at once, not at its next turn.
  return after;
}

const clock = query((from) => from.selectFrom('clock').select('offsetMs').where('id', '=', sql.lit(1)));
const lockedClock = query((from) =>
  from.selectFrom('clock').select('offsetMs').where('id', '=', sql.lit(1)).forUpdate(),
);

const readOffset = async (tx: Tx): Promise<number> => offsetOf(await clock.first(tx, {}));

function offsetOf(found: { readonly offsetMs: number } | null): number {
  if (found === null) throw new Error('the clock has no row');
  return found.offsetMs;
}
