/**
 * Runs one statement of the relay in a separate transaction, by ordered index scans alone. A plan that was made while
 * the table was small would read the whole table until the next analyze, on each of the relay's looks.
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
