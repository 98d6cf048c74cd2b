/**
 * Brings a database to the newest schema: every `migrations/*.sql` in name order, once, all of them or none, and then
 * the functions and grants, under one advisory lock, so that several starts at once are harmless. A migration that was applied is
 * never edited; a change is a new file.
 * @module
 */
import { readdir, readFile } from 'node:fs/promises';
import { Migration, Migrator } from '@mikro-orm/migrations';
import { defineConfig, MikroORM } from '@mikro-orm/postgresql';
import pg from 'pg';
import { replaceFunctions } from './functions.ts';
import { grantToApplication } from './privileges.ts';

const folder = new URL('./migrations/', import.meta.url);
const lockKey = 8_400_001;

/**
 * Returns the names applied now, in order. `url` is that of the migration role, which owns all tables and functions;
 * the role of `applicationUrl` gets the privileges that privileges.ts lists, unless it is the same role.
 */
export async function migrate(url: string, applicationUrl: string = url): Promise<string[]> {
  const lock = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000, keepAlive: true });
  await lock.connect();
  try {
    await lock.query('select pg_advisory_lock($1)', [lockKey]);
    const migrations = await applyAll(url);
    const functions = await replaceFunctions(lock);
    await grantToApplication(lock, applicationUrl);
    return [...migrations, ...functions];
  } finally {
    await lock.end();
  }
}

async function applyAll(url: string): Promise<string[]> {
  const orm = await MikroORM.init(
    defineConfig({
      clientUrl: url,
      entities: [],
      discovery: { warnWhenNoEntities: false },
      extensions: [Migrator],
      migrations: { migrationsList: await migrationsOf(folder), allOrNothing: true, snapshot: false, silent: true },
    }),
  );
  try {
    const applied = await orm.migrator.up();
    return applied.map(({ name }) => name);
  } finally {
    await orm.close();
  }
}

async function migrationsOf(from: URL) {
  const files = (await readdir(from)).filter((file) => file.endsWith('.sql')).sort();
  return Promise.all(
    files.map(async (file) => {
      const text = await readFile(new URL(file, from), 'utf8');
      class SqlFile extends Migration {
        override up(): void {
          this.addSql(text);
        }
      }
      return { name: file.replace(/\.sql$/, ''), class: SqlFile };
    }),
  );
}
