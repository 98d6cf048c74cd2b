/** A real PostgreSQL over a folder: created once, kept, and reachable by the user that runs it. @module */

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, chmod, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { freePort } from '../../src/supervisor/ports.ts';
import { type Postgres, type PostgresOptions, sharedBuffersMib, startPostgres } from '../../src/supervisor/postgres.ts';
import { folderElsewhere } from '../../src/supervisor/postgres-place.ts';
import { eventually } from '../support/world.ts';
import { testFolder } from './folder.ts';

const running: Postgres[] = [];
afterAll(async () => {
  await Promise.all(running.map((postgres) => postgres.stop()));
});

async function startIn(dir: string, options: Partial<PostgresOptions> = {}): Promise<Postgres> {
  const port = await freePort();
  const postgres = await startPostgres({ dir, port, password: 'a p/ss', database: 'bursar', ...options });
  running.push(postgres);
  return postgres;
}

async function ask(url: string, text: string): Promise<unknown[][]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query({ text, rowMode: 'array' })).rows as unknown[][];
  } finally {
    await client.end();
  }
}

describe('postgres', () => {
  test.each([
    [0.5, 128],
    [1, 128],
    [2, 256],
    [4, 512],
    [8, 1_024],
    [256, 1_024],
  ])('of %p GiB of memory its buffers take %p MiB', (gib, mib) => {
    expect(sharedBuffersMib(gib * 2 ** 30)).toBe(mib);
  });

  test('a database whose password is lost is not changed, and the error names the remedy', async () => {
    const dir = await testFolder();
    const first = await startIn(dir, { password: 'the former password' });
    await first.stop();
    await expect(startIn(dir, { password: 'a new password' })).rejects.toThrow(
      /has another password[\s\S]*delete .*pg/,
    );
    expect(await ask((await startIn(dir, { password: 'the former password' })).url, 'select 1')).toEqual([[1]]);
  });

  test('keeps committed rows over a stop and over kill -9, with safe settings and password login only', async () => {
    const dir = await testFolder();
    const first = await startIn(dir);
    await ask(first.url, 'create table kept (n int)');
    expect(await ask(first.url, 'show fsync')).toEqual([['on']]);
    const buffers = await ask(first.url, "select pg_size_bytes(current_setting('shared_buffers')) / 1024 / 1024");
    // A container may limit the memory further.
    expect(Number(buffers[0]?.[0])).toBeGreaterThanOrEqual(128);
    expect(Number(buffers[0]?.[0])).toBeLessThanOrEqual(sharedBuffersMib(totalmem()));
    expect(await ask(first.url, 'show unix_socket_directories')).toEqual([['']]);
    expect(await ask(first.url, 'show listen_addresses')).toEqual([['127.0.0.1']]);
    expect(await ask(first.url, 'select distinct auth_method from pg_hba_file_rules')).toEqual([['scram-sha-256']]);
    await expect(ask(first.url.replace('a%20p%2Fss', 'wrong'), 'select 1')).rejects.toMatchObject({ code: '28P01' });
    await ask(first.url, 'insert into kept values (1)');
    await first.stop();

    const second = await startIn(dir);
    await ask(second.url, 'insert into kept values (2)');
    process.kill(second.pid, 'SIGKILL');

    const third = await startIn(dir);
    expect(await ask(third.url, 'select n from kept order by n')).toEqual([[1], [2]]);
    expect((await readdir(dir)).filter((name) => name !== 'postgres.log')).toEqual(['pg']);
    expect(((await stat(join(dir, 'pg'))).mode & 0o777).toString(8)).toBe('700');

    // one more start over data that a server left by a dead supervisor still serves
    const fourth = await startIn(dir);
    expect(await ask(fourth.url, 'select count(*)::int from kept')).toEqual([[2]]);
    await expect(ask(third.url, 'select 1')).rejects.toThrow();
    await fourth.stop();
  });

  test('what a server that was killed has left does not keep the next one from starting', async () => {
    const dir = await testFolder();
    const first = await startIn(dir);
    const client = new pg.Client({ connectionString: first.url });
    client.on('error', () => undefined);
    await client.connect();
    // It waits for nothing, so it does not notice that the server is gone.
    const busy = client.query('select count(*) from generate_series(1, 1000000000)').catch((error: Error) => error);
    await eventually(
      () => ask(first.url, "select 1 from pg_stat_activity where query like 'select count%' and state = 'active'"),
      (rows) => rows.length === 1,
    );
    process.kill(first.pid, 'SIGKILL');
    const second = await startIn(dir);
    expect(await ask(second.url, 'select 1')).toEqual([[1]]);
    expect(await busy).toMatchObject({ message: expect.stringMatching(/terminat/) });
    await second.stop();
  });

  test('a server that recovers for longer than it may be silent is waited for, which is said', async () => {
    const dir = await testFolder();
    const first = await startIn(dir);
    await first.stop();
    // Recovery looks for a further piece of the log, which takes this long.
    const { dataDir } = first.place;
    await writeFile(join(dataDir, 'recovery.signal'), '');
    await appendFile(join(dataDir, 'postgresql.auto.conf'), "restore_command = 'sleep 1; false'\nhot_standby = off\n");
    const said: string[] = [];
    const options = { silentWithinMs: 500, sayEveryMs: 1_000, say: (line: string) => said.push(line) };
    const second = await startIn(dir, options);
    expect(await ask(second.url, 'select pg_is_in_recovery()')).toEqual([[false]]);
    expect(said[0]).toBe('PostgreSQL recovers after a crash, for 1 s so far');
    await second.stop();
  });

  test('a cluster that was made only in part is made again, and a lock file of a stranger does not stop it', async () => {
    const dir = await testFolder();
    await mkdir(join(dir, 'pg.new', 'pg'), { recursive: true });
    await writeFile(join(dir, 'pg.new', 'pg', 'PG_VERSION'), '18\n');
    const first = await startIn(dir);
    await first.stop();
    await writeFile(join(first.place.dataDir, 'postmaster.pid'), `${process.pid}\n${first.place.dataDir}\n`);
    const second = await startIn(dir);
    expect(await ask(second.url, 'select 1')).toEqual([[1]]);
    await second.stop();
  });
});

// Only root runs PostgreSQL as another user, and only root may make a home that is closed to it.
const describeAsRoot = process.getuid?.() === 0 ? describe : describe.skip;
describeAsRoot('as root under a home that is closed to others', () => {
  test('the data lies under /var/lib, works, and stays there when the home is opened', async () => {
    const home = await testFolder();
    const dir = join(home, '.bursar');
    await mkdir(dir);
    await chmod(home, 0o700);
    const elsewhere = await folderElsewhere(dir);
    expect(elsewhere).toMatch(/^\/var\/lib\/bursar-[0-9a-f]{8}$/);
    try {
      const first = await startIn(dir);
      expect(first.place.dataDir).toBe(`${elsewhere}/pg`);
      expect(existsSync(join(dir, 'pg'))).toBe(false);
      await ask(first.url, 'create table kept (n int)');
      await first.stop();
      await chmod(home, 0o711);
      const second = await startIn(dir);
      expect(await ask(second.url, 'select * from kept')).toEqual([]);
      await second.stop();

      // data that lies here, in a home that is closed afterwards, is neither moved nor forgotten
      await rename(`${elsewhere}/pg`, join(dir, 'pg'));
      await chmod(home, 0o700);
      await expect(startIn(dir)).rejects.toThrow(`the database in ${join(dir, 'pg')} cannot be reached`);
    } finally {
      await rm(elsewhere, { recursive: true, force: true });
    }
  });

  test('the server runs as the system user postgres', async () => {
    const dir = await testFolder();
    const postgres = await startIn(dir);
    const { stdout } = spawnSync('ps', ['-o', 'user=', '-p', String(postgres.pid)], { encoding: 'utf8' });
    expect(stdout.trim()).toBe('postgres');
    await postgres.stop();
  });
});
