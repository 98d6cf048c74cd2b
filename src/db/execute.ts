/**
 * Sends one statement: in the transaction, or outside of one on a connection of the pool. Only this folder uses it:
 * the rest of the code gets its rows typed (`db.ts`) or parsed (`statement.ts`).
 * @module
 */
import type { Socket } from 'node:net';
import type { EntityManager } from '@mikro-orm/postgresql';
import { CompiledQuery, type Transaction } from 'kysely';
import type { PoolClient } from 'pg';
import { poolOf } from './pools.ts';

/** `count`: the rows that the statement returned or changed. */
export type Executed<Row> = { readonly rows: Row[]; readonly count: number };

export type Patience = {
  /**
   * Of a statement outside of a transaction that never takes long: its connection is closed then, because one that
   * nobody closes (half open) stays silent for a quarter of an hour.
   */
  readonly answeredWithinMs?: number;
};

export async function execute<Row>(
  tx: EntityManager,
  text: string,
  params: readonly unknown[],
  { answeredWithinMs }: Patience = {},
): Promise<Executed<Row>> {
  const transaction = tx.getTransactionContext<Transaction<unknown>>();
  if (transaction !== undefined) {
    const { rows, numAffectedRows } = await transaction.executeQuery<Row>(CompiledQuery.raw(text, [...params]));
    return { rows, count: Number(numAffectedRows ?? rows.length) };
  }
  const client = await poolOf(tx).connect();
  let isLost = false;
  const late = answeredWithinMs === undefined ? undefined : setTimeout(() => cutOff(client), answeredWithinMs);
  try {
    const { rows, rowCount } = await client.query(text, [...params]);
    return { rows: rows as Row[], count: rowCount ?? rows.length };
  } catch (error) {
    // Not only a failed statement: the next one must not get a connection that PostgreSQL is ending.
    isLost = (error as { severity?: unknown }).severity !== 'ERROR';
    throw error;
  } finally {
    clearTimeout(late);
    client.release(isLost);
  }
}

/**
 * Reset, and not closed in order, so that what was sent and has not arrived is mostly not executed after the caller has
 * given up. TLS and Unix sockets cannot be reset, and a repeat finds what was executed nevertheless.
 */
function cutOff(client: PoolClient): void {
  const { stream } = (client as unknown as { readonly connection: { readonly stream: Socket } }).connection;
  const why = new Error('Connection terminated: PostgreSQL did not answer in time');
  // A reset waits until everything is written, which a silent connection may never take; half a statement is not executed.
  if (stream.writableLength > 0) return void stream.destroy(why);
  try {
    stream.resetAndDestroy();
  } catch {
    stream.destroy(why);
  }
}
