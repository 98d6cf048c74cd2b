/**
 * The sandbox's database: one SQLite file in WAL mode, written synchronously, so that acknowledged writes survive a
 * kill. It contains tokens, so only its user may read it. Nothing of Bursar is stored here.
 * @module
 */
import { closeSync, openSync } from 'node:fs';
// biome-ignore lint/correctness/noUnresolvedImports: part of Node since 22.5, which the linter does not list yet.
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { schemaSteps } from './store.schema.ts';

export type Store = {
  one<T>(sql: string, ...values: SQLInputValue[]): T | undefined;
  all<T>(sql: string, ...values: SQLInputValue[]): T[];
  /** Returns how many rows changed. */
  run(sql: string, ...values: SQLInputValue[]): number;
  /** `work` must be synchronous: no other request can come between its statements. */
  inTransaction<T>(work: () => T): T;
  close(): void;
};

/** `:memory:` for a temporary store. */
export function openStore(path: string): Store {
  if (path !== ':memory:') closeSync(openSync(path, 'a', 0o600));
  const database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 5000;');
  migrate(database);
  const statements = new Map<string, StatementSync>();
  const prepared = (sql: string): StatementSync => {
    const statement = statements.get(sql) ?? database.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  return {
    one: <T>(sql: string, ...values: SQLInputValue[]) => prepared(sql).get(...values) as T | undefined,
    all: <T>(sql: string, ...values: SQLInputValue[]) => prepared(sql).all(...values) as T[],
    run: (sql, ...values) => Number(prepared(sql).run(...values).changes),
    inTransaction: (work) => inTransaction(database, work),
    close: () => database.close(),
  };
}

function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
}

function migrate(database: DatabaseSync): void {
  const { user_version: done } = database.prepare('PRAGMA user_version').get() as { user_version: number };
  schemaSteps.slice(done).forEach((step, index) => {
    inTransaction(database, () => database.exec(`${step}; PRAGMA user_version = ${done + index + 1}`));
  });
}
