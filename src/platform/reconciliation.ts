/**
 * A check that an area's records agree with each other. Each area registers its checks in `src/main/modules`;
 * `bursar ledger verify` runs all of them and `GET /ledger/verify` runs them for the caller's owner.
 * @module
 */
export type ReconciliationQuery = {
  /** Unique among all areas, such as `spending counters`. */
  readonly name: string;
  /** Returns one row per difference, and no row while the records agree. `$1` is an owner id, or null for all owners. */
  readonly sql: string;
  /** One sentence about one returned row, which names the record and both figures. */
  readonly describe: (row: Readonly<Record<string, unknown>>) => string;
};
