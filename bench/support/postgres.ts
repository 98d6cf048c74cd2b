/**
 * A real, durable PostgreSQL for a bench, as `npm start` would run it, over a separate folder. Prints the settings
 * that make a commit safe and refuses to measure without them.
 * @module
 */
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { runMigrations } from '../../src/main/migrate.ts';
import { freePort } from '../../src/supervisor/ports.ts';
import { startPostgres } from '../../src/supervisor/postgres.ts';
import { folderElsewhere } from '../../src/supervisor/postgres-place.ts';
import { type Ending, say } from './run.ts';

export type Sql = <Row extends pg.QueryResultRow>(text: string, params?: unknown[]) => Promise<Row[]>;
export type BenchPostgres = { readonly url: string; readonly pid: number; readonly sql: Sql };

/** Passable for the system user postgres. */
export async function benchFolder(atEnd: Ending): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'bursar-bench-'));
  await chmod(dir, 0o711);
  atEnd(async () => {
    if (process.getuid?.() === 0) await rm(await folderElsewhere(dir), { recursive: true, force: true });
    await rm(dir, { recursive: true, force: true });
  });
  return dir;
}

/** With the product's schema and nothing in it. */
export async function startBenchPostgres(atEnd: Ending): Promise<BenchPostgres> {
  const dir = await benchFolder(atEnd);
  const password = randomBytes(16).toString('hex');
  const options = { dir, port: await freePort(), password, database: 'bursar', durable: true };
  const { url, pid, stop } = await startPostgres(options);
  atEnd(stop);
  await runMigrations(url);
  const sql = openSql(url, atEnd);
  await sayDurable(sql);
  await fillWal(sql);
  return { url, pid, sql };
}

export function openSql(url: string, atEnd: Ending): Sql {
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  pool.on('error', () => undefined); // The server is stopped while connections are open.
  atEnd(() => pool.end());
  return async <Row extends pg.QueryResultRow>(text: string, params: unknown[] = []) =>
    (await pool.query<Row>(text, params)).rows;
}

export async function sayDurable(sql: Sql): Promise<void> {
  const [set] = await sql<Record<string, string>>(
    `select current_setting('server_version') as version, current_setting('fsync') as fsync,
       current_setting('full_page_writes') as full_page_writes,
       current_setting('synchronous_commit') as synchronous_commit`,
  );
  const { version, ...safety } = set ?? {};
  say(
    `PostgreSQL ${version}: ${Object.entries(safety)
      .map(([name, value]) => `${name} ${value}`)
      .join(', ')}`,
  );
  const off = Object.entries(safety).filter(([, value]) => value !== 'on');
  if (off.length > 0) throw new Error(`${off.map(([name]) => name).join(', ')} must be on`);
}

/**
 * Makes the WAL files that PostgreSQL keeps (`min_wal_size`), as a server has them that has been in use: while it makes
 * one, each commit waits. `sql` as the superuser.
 */
export async function fillWal(sql: Sql): Promise<void> {
  await sql(`do $$ begin
    for n in 1..pg_size_bytes(current_setting('min_wal_size')) / pg_size_bytes(current_setting('wal_segment_size')) loop
      perform pg_logical_emit_message(false, 'bench', '');
      perform pg_switch_wal();
    end loop;
  end $$`);
  await sql('checkpoint');
}
