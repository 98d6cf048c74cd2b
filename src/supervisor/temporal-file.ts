/**
 * Removes an incomplete database file of Temporal's development server after an interrupted start: the server creates
 * its tables only in a new file, so it could never start with an incomplete one. Never touches a complete file.
 * @module
 */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
// biome-ignore lint/correctness/noUnresolvedImports: part of Node since 22.5, which the linter does not list yet.
import { DatabaseSync } from 'node:sqlite';

export async function clearHalfMade(file: string): Promise<void> {
  if (existsSync(file) && holdsNamespace(file)) return;
  // what belonged to a deleted file must not be taken for part of the new one
  for (const end of ['', '-wal', '-shm']) await rm(`${file}${end}`, { force: true });
}

/** The first namespace is written when all tables are there. */
function holdsNamespace(file: string): boolean {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const table = database.prepare(`select 1 from sqlite_master where type = 'table' and name = 'namespaces'`).get();
    return table !== undefined && database.prepare('select 1 from namespaces limit 1').get() !== undefined;
  } finally {
    database.close();
  }
}
