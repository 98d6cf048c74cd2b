/**
 * Statements inside a MikroORM transaction, or outside one on a pooled connection, with `$1` parameters sent as
 * parameters. Timestamps come back as Date, bigint as number (cents and counts are safe integers).
 * @module
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { CompiledQuery, type Transaction } from 'kysely';
import { poolOf } from './pools.ts';

/** An entity manager; inside `em.transactional` it carries the transaction. */
export type Tx = EntityManager;

export async function rows<Row>(tx: Tx, text: string, params: readonly unknown[] = []): Promise<Row[]> {
  const transaction = tx.getTransactionContext<Transaction<unknown>>();
  if (transaction !== undefined) {
    return (await transaction.executeQuery<Row>(CompiledQuery.raw(text, [...params]))).rows;
  }
  const client = await poolOf(tx).connect();
  try {
    return (await client.query(text, [...params])).rows as Row[];
  } finally {
    client.release();
  }
}

/** Exactly one row, or a bug. */
export async function oneRow<Row>(tx: Tx, text: string, params: readonly unknown[] = []): Promise<Row> {
  const [row, ...rest] = await rows<Row>(tx, text, params);
  if (row === undefined || rest.length > 0) throw new Error(`expected one row, got ${row ? rest.length + 1 : 0}`);
  return row;
}
