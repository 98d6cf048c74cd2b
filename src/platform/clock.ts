/**
 * The business clock. In a sandbox it is real time plus an offset kept in PostgreSQL and read each time, so that no
 * process acts on a stale one; in live mode it is real time and nothing can move it.
 * @module
 */
import type { Database } from '../db/database.ts';
import { oneRow, rows, type Tx } from '../db/tx.ts';
import type { Mode } from './mode.ts';

export type Clock = {
  /** Business time, to the millisecond. */
  now(): Promise<Date>;
  offsetMs(): Promise<number>;
};

export function createClock(database: Database, mode: Mode): Clock {
  const offsetMs = async (): Promise<number> => (mode === 'live' ? 0 : readOffset(database.read()));
  return { offsetMs, now: async () => new Date(Date.now() + (await offsetMs())) };
}

/** Moves the sandbox clock forward within `tx`; returns the new offset. */
export async function advanceClock(tx: Tx, ms: number): Promise<number> {
  const row = await oneRow<{ offset_ms: number }>(
    tx,
    'update clock set offset_ms = offset_ms + $1 where id = 1 returning offset_ms',
    [ms],
  );
  await rows(tx, `select pg_notify('bursar_clock', '')`); // What ages in bulk is swept at once, not at its next hour.
  return row.offset_ms;
}

async function readOffset(tx: Tx): Promise<number> {
  return (await oneRow<{ offset_ms: number }>(tx, 'select offset_ms from clock where id = 1')).offset_ms;
}
