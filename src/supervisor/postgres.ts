/**
 * Runs a real PostgreSQL over one folder: creates the cluster once, starts it on 127.0.0.1 with password login and
 * waits until it answers. Must never start with unsafe settings unless the caller allows the loss of data.
 * @module
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, readdir, readFile, readlink, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import {
  type Asked,
  hasExited,
  type Launch,
  runToEnd,
  type StopSteps,
  spawnLogged,
  stopChild,
  waitUntil,
} from './launch.ts';
import { signalIfThere } from './pids.ts';
import { type PostgresPlace, placePostgres } from './postgres-place.ts';

export type PostgresOptions = {
  /** The data folder (`.bursar`); the cluster becomes its `pg`, or lies under /var/lib (see postgres-place). */
  dir: string;
  port: number;
  password: string;
  /** Made where it is missing; the answered `url` names it. */
  database?: string;
  /** With it the role `bursar_app` is made, which owns nothing: see applicationUrl. */
  applicationPassword?: string;
  /** False only for throwaway test databases: a power cut may lose or break the data. */
  durable?: boolean;
  /** Told from time to time that the server recovers, which may take minutes. */
  say?: (line: string) => void;
  /** How long it may neither accept connections nor say that it recovers. */
  silentWithinMs?: number;
  sayEveryMs?: number;
};

export type Postgres = { url: string; pid: number; place: PostgresPlace; stop(): Promise<void> };

/** Fast shutdown; then at once, which leaves recovery to the next start. */
export const stopPostgres: StopSteps = [
  { signal: 'SIGINT', withinMs: 20_000 },
  { signal: 'SIGQUIT', withinMs: 5_000 },
  { signal: 'SIGKILL', withinMs: 2_000 },
];

export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const { launch, place, ready } = await preparePostgres(options);
  const child = spawnLogged(launch, { logFile: join(options.dir, 'postgres.log') });
  const url = await ready(() => !hasExited(child)).catch(async (error: unknown) => {
    await stopChild(child, stopPostgres);
    throw error;
  });
  return { url, pid: child.pid as number, place, stop: () => stopChild(child, stopPostgres) };
}

/** For callers that start the server themselves: when this returns, the cluster exists and no server runs over it. */
export async function preparePostgres(options: PostgresOptions): Promise<{
  launch: Launch;
  place: PostgresPlace;
  ready: (alive: () => boolean) => Promise<string>;
}> {
  const place = await placePostgres(options.dir);
  if (!existsSync(join(place.dataDir, 'PG_VERSION'))) await makeCluster(place, options);
  await endFormerServer(place.dataDir);
  const launch = {
    command: join(place.programs, 'bin', 'postgres'),
    args: ['-D', place.dataDir, ...settings(options)],
    env: postgresEnv(),
    user: place.user,
  };
  const ready = (alive: () => boolean): Promise<string> =>
    answer(options, alive).catch((error: unknown) => {
      throw isWrongPassword(error) ? strangersDatabase(place.dataDir, options.dir, error) : error;
    });
  return { launch, place, ready };
}

function settings({ port, durable = true }: PostgresOptions): string[] {
  const values = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: 200,
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_checkpoints: 'off',
    // An error's detail and statement contain rows; its text and SQLSTATE are enough to find it.
    log_error_verbosity: 'terse',
    log_min_error_statement: 'panic',
    ...(durable
      ? {
          shared_buffers: `${sharedBuffersMib(memoryBytes())}MB`,
          max_wal_size: '4GB',
          // Files of WAL that it keeps to write them again. While it makes a new one, each commit waits
          // (docs/performance.md); of its own it keeps 80 MB, and makes new ones whenever more is written than usual.
          min_wal_size: '2GB',
        }
      : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', wal_level: 'minimal', max_wal_senders: 0 }),
  };
  return Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/**
 * An eighth of the machine's memory, at least what PostgreSQL takes itself and at most 1 GiB: the other processes of
 * Bursar need some too. With less than the tables that are in use, each decision waits for pages to be written first.
 */
export function sharedBuffersMib(memory: number): number {
  const eighth = Math.floor(memory / 8 / 2 ** 20);
  return Math.min(1_024, Math.max(128, eighth));
}

/** What a container may use, where one limits it. */
function memoryBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/** Made under another name first, so that a start that died half way leaves nothing that looks whole. */
async function makeCluster({ dataDir, programs, user }: PostgresPlace, options: PostgresOptions): Promise<void> {
  const half = `${dataDir}.new`;
  const passwordFile = join(half, 'password');
  const cluster = join(half, 'pg');
  await rm(half, { recursive: true, force: true });
  await mkdir(half, { recursive: true });
  await chmod(half, 0o700);
  await writeFile(passwordFile, `${options.password}\n`, { mode: 0o600 });
  if (user) for (const path of [half, passwordFile]) await chown(path, user.uid, user.gid);
  await runToEnd({
    command: join(programs, 'bin', 'initdb'),
    args: [
      `--pgdata=${cluster}`,
      '--username=postgres',
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--no-instructions',
      ...(options.durable === false ? ['--no-sync', '--no-data-checksums'] : []),
    ],
    env: postgresEnv(),
    user,
  });
  await rename(cluster, dataDir);
  await rm(half, { recursive: true, force: true });
}

/**
 * A server left over by a dead supervisor is stopped, and then what a server that was killed has left; a lock file that
 * names a stranger's process is removed.
 */
async function endFormerServer(dataDir: string): Promise<void> {
  const lock = join(dataDir, 'postmaster.pid');
  const pid = Number.parseInt(await readFile(lock, 'utf8').catch(() => ''), 10);
  if (!Number.isInteger(pid)) return;
  await endAll(async () => (isServerOver(pid, dataDir) ? [pid] : []), stopPostgres, dataDir);
  await endAll(() => leftOver(dataDir), stopLeftOver, dataDir);
  await rm(lock, { force: true });
}

async function endAll(running: () => Promise<readonly number[]>, steps: StopSteps, dataDir: string): Promise<void> {
  let pids = await running();
  for (const { signal, withinMs } of steps) {
    for (const pid of pids) signalIfThere(pid, signal);
    for (let waited = 0; waited < withinMs && pids.length > 0; waited += 50) {
      await sleep(50);
      pids = await running();
    }
  }
  if (pids.length > 0) throw new Error(`PostgreSQL (process ${pids[0]}) still runs over ${dataDir} and does not stop`);
}

const stopLeftOver: StopSteps = [
  { signal: 'SIGTERM', withinMs: 5_000 },
  { signal: 'SIGKILL', withinMs: 2_000 },
];

/**
 * Processes of a server that was killed. Most end with it, but one that executes a statement ends only when it waits for
 * something, and until then no other server starts over the folder. Found where the system has /proc.
 */
async function leftOver(dataDir: string): Promise<number[]> {
  const folder = await realpath(dataDir);
  const names = await readdir('/proc').catch(() => []);
  const found = names
    .filter((name) => /^\d+$/.test(name))
    .map(async (pid) => ((await isOver(pid)) ? Number(pid) : undefined));
  return (await Promise.all(found)).filter((pid) => pid !== undefined);

  /** Each process of a server works in its folder. Another user's cannot be seen, and is not the server's. */
  async function isOver(pid: string): Promise<boolean> {
    if ((await readlink(`/proc/${pid}/cwd`).catch(() => '')) !== folder) return false;
    return (await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')).trim() === 'postgres';
  }
}

function isServerOver(pid: number, dataDir: string): boolean {
  const { stdout } = spawnSync('ps', ['-ww', '-o', 'args=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout?.includes(`-D ${dataDir} `) ?? false;
}

/** Waits until the server accepts connections and makes the database where it is missing. */
async function answer(options: PostgresOptions, alive: () => boolean): Promise<string> {
  const { database = 'postgres' } = options;
  await accepts(options, alive);
  if (database !== 'postgres') await ensureDatabase(databaseUrl(options, 'postgres'), database);
  const { applicationPassword } = options;
  if (applicationPassword !== undefined) await ensureRole(databaseUrl(options, 'postgres'), applicationPassword);
  return databaseUrl(options, database);
}

function databaseUrl({ port, password }: PostgresOptions, database: string): string {
  return `postgres://postgres:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`;
}

/**
 * After a crash the server recovers first, for as long as its log and its disk need. Meanwhile it refuses connections, and
 * must not be ended for that: the next one would begin anew.
 */
async function accepts(
  { silentWithinMs = 120_000, sayEveryMs = 10_000, say = () => undefined, ...options }: PostgresOptions,
  alive: () => boolean,
): Promise<void> {
  const url = databaseUrl(options, 'postgres');
  const since = performance.now();
  let saidAt = since;
  const ask = async (): Promise<Asked> => {
    const asked = await connectOnce(url);
    const now = performance.now();
    if (asked === 'coming' && now - saidAt >= sayEveryMs) {
      say(`PostgreSQL recovers after a crash, for ${Math.round((now - since) / 1_000)} s so far`);
      saidAt = now;
    }
    return asked;
  };
  await waitUntil('PostgreSQL', ask, { withinMs: silentWithinMs, alive });
}

async function connectOnce(url: string): Promise<Asked> {
  try {
    await withClient(url, (client) => client.query('select 1'));
    return true;
  } catch (error) {
    // A server answers, but refuses our password; waiting does not help.
    if (isWrongPassword(error)) throw error;
    return (error as { code?: string }).code === '57P03' && 'coming';
  }
}

const isWrongPassword = (error: unknown): boolean => (error as { code?: string }).code === '28P01';

/** Data is never deleted or replaced automatically: the person who lost the password decides. */
const strangersDatabase = (dataDir: string, dir: string, cause: unknown): Error =>
  new Error(
    `the database in ${dataDir} has another password than the one in ${dir}: put the former files back there, or, to begin anew without its data, delete ${dataDir}`,
    { cause },
  );

async function ensureDatabase(url: string, name: string): Promise<void> {
  await withClient(url, async (client) => {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [name]);
    if (!rowCount) await client.query(`create database ${client.escapeIdentifier(name)}`);
  });
}

const applicationRole = 'bursar_app';

/** A changed password is taken over. */
async function ensureRole(url: string, password: string): Promise<void> {
  await withClient(url, async (client) => {
    const { rowCount } = await client.query('select 1 from pg_roles where rolname = $1', [applicationRole]);
    const verb = rowCount ? 'alter' : 'create';
    await client.query(`${verb} role ${applicationRole} login password ${client.escapeLiteral(password)}`);
  });
}

/** The same database for the application role. */
export function applicationUrl(ownerUrl: string, password: string): string {
  const url = new URL(ownerUrl);
  url.username = applicationRole;
  url.password = encodeURIComponent(password);
  return url.href;
}

async function withClient<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  // a connection that breaks later must not end this process
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await use(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Nothing of our environment: PG* variables would change the server, and secrets do not belong there. */
function postgresEnv(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C' };
}
