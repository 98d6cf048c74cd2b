/** The entity manager that every function of the database takes. @module */
import type { EntityManager } from '@mikro-orm/postgresql';
import { execute } from './execute.ts';

/** An entity manager; inside `em.transactional` it carries the transaction. */
export type Tx = EntityManager;

/** Being replaced by `db.ts` and `statement.ts`: the type of the rows is a claim. */
export const rows = async <Row>(tx: Tx, text: string, params: readonly unknown[] = []): Promise<Row[]> =>
  (await execute<Row>(tx, text, params)).rows;

/** Being replaced by `oneRowOf`. */
export async function oneRow<Row>(tx: Tx, text: string, params: readonly unknown[] = []): Promise<Row> {
  const [row, ...rest] = await rows<Row>(tx, text, params);
  if (row === undefined || rest.length > 0) throw new Error(`expected one row, got ${row ? rest.length + 1 : 0}`);
  return row;
}
