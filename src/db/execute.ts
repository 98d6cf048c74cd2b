/**
 * Sends one statement: in the transaction, or outside of one on a connection of the pool. Only this folder uses it:
 * the rest of the code gets its rows typed (`db.ts`) or parsed (`statement.ts`).
 * @module
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { CompiledQuery, type Transaction } from 'kysely';
import { poolOf } from './pools.ts';

/** `count`: the rows that the statement returned or changed. */
export type Executed<Row> = { readonly rows: Row[]; readonly count: number };

export async function execute<Row>(
  tx: EntityManager,
  text: string,
  params: readonly unknown[],
): Promise<Executed<Row>> {
  const transaction = tx.getTransactionContext<Transaction<unknown>>();
  if (transaction !== undefined) {
    const { rows, numAffectedRows } = await transaction.executeQuery<Row>(CompiledQuery.raw(text, [...params]));
    return { rows, count: Number(numAffectedRows ?? rows.length) };
  }
  const client = await poolOf(tx).connect();
  let isLost = false;
  try {
    const { rows, rowCount } = await client.query(text, [...params]);
    return { rows: rows as Row[], count: rowCount ?? rows.length };
  } catch (error) {
    // Not only a failed statement: the next one must not get a connection that PostgreSQL is ending.
    isLost = (error as { severity?: unknown }).severity !== 'ERROR';
    throw error;
  } finally {
    client.release(isLost);
  }
}
