/**
 * Brings the database to the newest schema and ends. `BURSAR_MIGRATION_DATABASE_URL` names the role that owns the
 * schema, `DATABASE_URL` the application role, which is granted what it needs; with only `DATABASE_URL`, one role is
 * both. Safe to run any number of times.
 * @module
 */
import { migrate } from '../db/migrate.ts';
import { checkPostgres } from '../supervisor/checks.ts';

const insufficientPrivilege = '42501';

export const runMigrations = (url: string, applicationUrl?: string): Promise<string[]> => migrate(url, applicationUrl);

if (import.meta.main) {
  try {
    const applied = await migrateAsConfigured(process.env);
    process.stdout.write(applied.length === 0 ? 'schema is up to date\n' : `applied ${applied.join(', ')}\n`);
  } catch (error) {
    const sentence = sentenceOf(error);
    if (sentence === undefined) throw error;
    process.stderr.write(`the migration cannot run: ${sentence}\n`);
    process.exitCode = 1;
  }
}

async function migrateAsConfigured(env: NodeJS.ProcessEnv): Promise<string[]> {
  const applicationUrl = env.DATABASE_URL;
  if (!applicationUrl) throw new Error('DATABASE_URL is missing');
  const ownerUrl = env.BURSAR_MIGRATION_DATABASE_URL || applicationUrl;
  if (ownerUrl !== applicationUrl) await checkPostgres(ownerUrl, 'BURSAR_MIGRATION_DATABASE_URL');
  await checkPostgres(applicationUrl);
  return runMigrations(ownerUrl, applicationUrl);
}

/** What an operator can act on, in one sentence; undefined for what needs its stack. */
function sentenceOf(error: unknown): string | undefined {
  const code = codeOf(error);
  if (code === insufficientPrivilege) {
    const name = process.env.BURSAR_MIGRATION_DATABASE_URL ? 'BURSAR_MIGRATION_DATABASE_URL' : 'DATABASE_URL';
    return `${name}: this role may not change the schema (${code}); the database has to belong to it`;
  }
  return code === undefined && error instanceof Error && /^[A-Z_]+(:| is )/.test(error.message)
    ? error.message
    : undefined;
}

/** PostgreSQL's code, also of an error that was wrapped. */
function codeOf(error: unknown): string | undefined {
  const { code, cause, previous } = error as { code?: unknown; cause?: unknown; previous?: unknown };
  if (typeof code === 'string') return code;
  const inner = cause ?? previous;
  return inner === undefined || inner === null ? undefined : codeOf(inner);
}
