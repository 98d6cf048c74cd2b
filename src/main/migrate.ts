/** Brings the database of `DATABASE_URL` to the newest schema and ends. Safe to run any number of times. @module */
import { migrate } from '../db/migrate.ts';

export const runMigrations = (url: string): Promise<string[]> => migrate(url);

if (import.meta.main) {
  const url = process.env.DATABASE_URL;
  if (url === undefined) throw new Error('DATABASE_URL is missing');
  const applied = await runMigrations(url);
  process.stdout.write(applied.length === 0 ? 'schema is up to date\n' : `applied ${applied.join(', ')}\n`);
}
