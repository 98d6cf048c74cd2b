/**
 * Runs one statement of the relay in a separate transaction, with ordered index scans only. A plan from when the table
 * was small would read the whole table in each pass until the next analyze.
 * @module
 */
import type * as z from 'zod';
import type { Database } from '../db/database.ts';
import { rowsOf, runSql } from '../db/statement.ts';

export const byIndexOnly = 'set local enable_seqscan = off; set local enable_bitmapscan = off';

export const rowsByIndex = <Row extends z.ZodType>(
  database: Database,
  row: Row,
  text: string,
  params: readonly unknown[] = [],
): Promise<z.output<Row>[]> =>
  database.write(async (tx) => {
    await runSql(tx, byIndexOnly);
    return rowsOf(tx, row, text, params);
  });

/** As `rowsByIndex`, of a statement whose rows are not read. */
export const runByIndex = (database: Database, text: string, params: readonly unknown[]): Promise<number> =>
  database.write(async (tx) => {
    await runSql(tx, byIndexOnly);
    return runSql(tx, text, params);
  });
