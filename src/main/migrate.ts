/**
 * Brings the database to the newest schema and ends. `BURSAR_MIGRATION_DATABASE_URL` names the role that owns the
 * schema, `DATABASE_URL` the application role, which is granted what it needs; with only `DATABASE_URL`, one role is
 * both. Safe to run any number of times.
 * @module
 */
import { migrate } from '../db/migrate.ts';

export const runMigrations = (url: string, applicationUrl?: string): Promise<string[]> => migrate(url, applicationUrl);

if (import.meta.main) {
  const applicationUrl = process.env.DATABASE_URL;
  if (!applicationUrl) throw new Error('DATABASE_URL is missing');
  const applied = await runMigrations(process.env.BURSAR_MIGRATION_DATABASE_URL || applicationUrl, applicationUrl);
  process.stdout.write(applied.length === 0 ? 'schema is up to date\n' : `applied ${applied.join(', ')}\n`);
}
