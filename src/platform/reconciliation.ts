/**
 * A check that an area's records agree with each other. Each area registers its checks in `src/main/modules`;
 * `bursar ledger verify` runs all of them and `GET /ledger/verify` runs them for the caller's owner.
 * @module
 */
import type * as z from 'zod';

export type ReconciliationQuery = {
  /** Unique among all areas, such as `spending counters`. */
  readonly name: string;
  /** Returns one row per difference, and no row while the records agree. `$1` is an owner id, or null for all owners. */
  readonly sql: string;
  /** One sentence about one returned row, which names the record and both figures. */
  readonly describe: (row: Readonly<Record<string, unknown>>) => string;
};

type Definition<Row extends z.ZodObject> = {
  readonly name: string;
  readonly sql: string;
  /** The columns that `sql` returns; an answer with others is a bug of the query. */
  readonly row: Row;
  readonly describe: (row: z.output<Row>) => string;
};

/** A query whose rows are parsed before they are described. */
export const defineReconciliation = <Row extends z.ZodObject>({
  name,
  sql,
  row: shape,
  describe,
}: Definition<Row>): ReconciliationQuery => ({ name, sql, describe: (row) => describe(shape.parse(row)) });
