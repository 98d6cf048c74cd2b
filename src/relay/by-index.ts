/**
 * Runs one statement of the relay in a separate transaction, with ordered index scans only. A plan from when the table
 * was small would read the whole table in each pass until the next analyze.
 * @module
 */
import type { Database } from '../db/database.ts';
import { runSql } from '../db/statement.ts';
import { rows } from '../db/tx.ts';

export const byIndexOnly = 'set local enable_seqscan = off; set local enable_bitmapscan = off';

export const rowsByIndex = <Row>(database: Database, text: string, params: readonly unknown[]): Promise<Row[]> =>
  database.write(async (tx) => {
    await runSql(tx, byIndexOnly);
    return rows<Row>(tx, text, params);
  });
