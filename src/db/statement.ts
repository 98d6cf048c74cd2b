/**
 * Statements in SQL: calls of SQL functions, and set statements that the query builder cannot express. Parameters are
 * `$1`, `$2`; the rows are parsed, so a function that changes its result fails here and not where a field is used.
 * @module
 */
import * as z from 'zod';
import { execute, type Patience } from './execute.ts';
import type { Tx } from './tx.ts';

/** Executes a statement whose rows are not read; returns the number of rows that it returned or changed. */
export const runSql = async (tx: Tx, text: string, params: readonly unknown[] = []): Promise<number> =>
  (await execute<unknown>(tx, text, params)).count;

/** The rows of a statement. Columns that `row` does not name are left out. */
export async function rowsOf<Row extends z.ZodType>(
  tx: Tx,
  row: Row,
  text: string,
  params: readonly unknown[] = [],
  patience: Patience = {},
): Promise<z.output<Row>[]> {
  const { rows } = await execute<unknown>(tx, text, params, patience);
  return rows.map((found) => {
    const parsed = row.safeParse(found);
    if (parsed.success) return parsed.data;
    throw new Error(`unexpected row: ${z.prettifyError(parsed.error)}\nof ${text.trim().slice(0, 120)}`);
  });
}

/** The first row, or undefined. */
export async function firstRowOf<Row extends z.ZodType>(
  tx: Tx,
  row: Row,
  text: string,
  params: readonly unknown[] = [],
): Promise<z.output<Row> | undefined> {
  return (await rowsOf(tx, row, text, params))[0];
}

/** Exactly one row; any other number is a bug. */
export async function oneRowOf<Row extends z.ZodType>(
  tx: Tx,
  row: Row,
  text: string,
  params: readonly unknown[] = [],
  patience: Patience = {},
): Promise<z.output<Row>> {
  const [found, ...rest] = await rowsOf(tx, row, text, params, patience);
  if (found === undefined || rest.length > 0) throw new Error(`expected one row, got ${found ? rest.length + 1 : 0}`);
  return found;
}
