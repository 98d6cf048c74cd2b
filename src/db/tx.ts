/**
 * Statements inside a MikroORM transaction, or outside one on a pooled connection, with `$1` parameters sent as
 * parameters. Timestamps come back as Date, bigint as number (cents and counts are safe integers).
 * @module
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { CompiledQuery, type Kysely, type Transaction } from 'kysely';

/** An entity manager; inside `em.transactional` it carries the transaction. */
export type Tx = EntityManager;

export async function rows<Row>(tx: Tx, text: string, params: readonly unknown[] = []): Promise<Row[]> {
  const executor = tx.getTransactionContext<Transaction<unknown>>() ?? tx.getConnection().getClient<Kysely<unknown>>();
  const result = await executor.executeQuery<Row>(CompiledQuery.raw(text, [...params]));
  return result.rows;
}

/** Exactly one row, or a bug. */
export async function oneRow<Row>(tx: Tx, text: string, params: readonly unknown[] = []): Promise<Row> {
  const [row, ...rest] = await rows<Row>(tx, text, params);
  if (row === undefined || rest.length > 0) throw new Error(`expected one row, got ${row ? rest.length + 1 : 0}`);
  return row;
}
