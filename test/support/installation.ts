/**
 * A whole installation for one test file: the processes of `npm start`, over a new folder. A test can kill them, keep
 * them from starting again and suspend them. `stop` stops all of them.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { type Client, createClient, type Send, sendTo } from '../../src/client/client.ts';
import { keysArea } from '../../src/domains/identity/keys/key.contract.ts';
import type { Area } from '../../src/http/route.ts';
import { sandboxClockArea } from '../../src/http/sandbox-clock.ts';
import { type Ready, type StartOptions, start } from '../../src/main/start.ts';
import { type ChildMark, isAlive, signalIfThere } from '../../src/supervisor/pids.ts';
import { folderElsewhere } from '../../src/supervisor/postgres-place.ts';
import { eventually, type Owner } from './world.ts';

export type ChildName = 'postgres' | 'temporal' | 'sandbox' | 'api' | 'worker';

export type Installation = {
  readonly ready: Ready;
  readonly dir: string;
  /** What the processes were started with. */
  readonly env: NodeJS.ProcessEnv;
  readonly apiUrl: string;
  readonly sandboxUrl: string;
  /** What the start said, one line each. */
  readonly said: readonly string[];
  child(name: ChildName): Promise<ChildMark>;
  /** kill -9, and the process is gone when this returns; the supervisor starts another. */
  kill(name: ChildName): Promise<void>;
  signal(name: ChildName, signal: NodeJS.Signals): Promise<void>;
  /** kill -9 of it and of each successor, until the answered function is called. */
  holdDown(name: ChildName): Promise<() => Promise<void>>;
  /** Resolves when health tells of nothing wrong. */
  isWell(withinMs?: number): Promise<void>;
  sql<Row extends pg.QueryResultRow>(text: string, params?: unknown[]): Promise<Row[]>;
  owner(): Promise<Owner>;
  as(token: string): { send: Send; client<A extends Area>(area: A): Client<A> };
  advance(ms: number): Promise<number>;
  stop(): Promise<void>;
};

/** Passable for the system user postgres, and swept by a later test run if this one is killed (see global-setup). */
export async function installationFolder(): Promise<{ dir: string; remove(): Promise<void> }> {
  const root = join(tmpdir(), `bursar-test-${process.getuid?.() ?? 0}`);
  await mkdir(root, { recursive: true });
  await chmod(root, 0o711);
  const dir = await mkdtemp(join(root, `${process.pid}-`));
  await chmod(dir, 0o711);
  return {
    dir,
    remove: async () => {
      if (process.getuid?.() === 0) await rm(await folderElsewhere(dir), { recursive: true, force: true });
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** `entries`: other programs in place of Bursar's. */
export async function startInstallation(
  given: Readonly<Record<string, string>> = {},
  entries: StartOptions['entries'] = {},
): Promise<Installation> {
  const folder = await installationFolder();
  const said: string[] = [];
  const env = {
    ...process.env,
    BURSAR_DATA_DIR: folder.dir,
    PORT: '0',
    BURSAR_RATE_LIMIT_PER_MINUTE: '1000000',
    BURSAR_POOL_SIZE: '10',
    ...given,
  };
  const starting = start({ env, entries, say: (line) => said.push(line) });
  const { ready } = await starting.running.catch(async (error: unknown) => {
    await folder.remove();
    throw error;
  });
  const pool = new pg.Pool({
    connectionString: await ownerUrlOf(ready, folder.dir),
    max: 3,
    connectionTimeoutMillis: 30_000,
  });
  pool.on('error', () => undefined); // A test takes the database away; its own queries fail then.
  // Not localhost: an address that resolves to two families is dialled twice.
  const apiUrl = ready.apiUrl.replace('localhost', '127.0.0.1');
  const children = childrenOf(folder.dir);
  return {
    ready,
    dir: folder.dir,
    env,
    apiUrl,
    sandboxUrl: ready.sandboxUrl ?? '',
    said,
    ...children,
    isWell: async (withinMs = 60_000) => {
      await eventually(() => healthOf(apiUrl), isAllOk, withinMs);
    },
    sql: async <Row extends pg.QueryResultRow>(text: string, params: unknown[] = []) =>
      (await pool.query<Row>(text, params)).rows,
    ...callersOf(apiUrl, ready.dashboardSecret),
    stop: async () => {
      await pool.end();
      await starting.stop();
      await folder.remove();
    },
  };
}

/** Of the role that owns the tables: tests look at everything, the processes may not. */
async function ownerUrlOf({ databaseUrl }: Ready, dir: string): Promise<string> {
  const url = new URL(databaseUrl);
  url.username = 'postgres';
  url.password = encodeURIComponent(await readFile(join(dir, 'postgres.password'), 'utf8'));
  return url.href;
}

export type Health = { status: string; checks: Record<string, string> };

export async function healthOf(apiUrl: string): Promise<Health & { httpStatus: number }> {
  try {
    const answer = await fetch(`${apiUrl}/health`);
    return { ...((await answer.json()) as Health), httpStatus: answer.status };
  } catch {
    return { status: 'no answer', checks: {}, httpStatus: 0 };
  }
}

const isAllOk = ({ status, checks }: Health): boolean =>
  status === 'ok' && Object.values(checks).every((check) => check === 'ok');

function callersOf(apiUrl: string, dashboardSecret: string): Pick<Installation, 'as' | 'owner' | 'advance'> {
  const as: Installation['as'] = (token) => {
    const send = sendTo(apiUrl, token);
    return { send, client: (area) => createClient(area, send) };
  };
  const dashboard: Send = (request) =>
    sendTo(apiUrl)({ ...request, headers: { ...request.headers, 'X-Dashboard-Secret': dashboardSecret } });
  return {
    as,
    owner: async () => {
      const { key, ownerId } = await createClient(keysArea, dashboard).createKey({
        body: { label: randomUUID().slice(0, 8) },
      });
      return { key, ownerId, ...as(key) };
    },
    advance: async (ms) =>
      (await createClient(sandboxClockArea, dashboard).advanceSandboxClock({ body: { ms } })).woken,
  };
}

const lookEveryMs = 20;

function childrenOf(dir: string): Pick<Installation, 'child' | 'kill' | 'signal' | 'holdDown'> {
  const child = async (name: ChildName): Promise<ChildMark> => {
    const { children } = JSON.parse(await readFile(join(dir, 'pids.json'), 'utf8')) as { children: ChildMark[] };
    const mark = children.find((one) => one.name === name);
    if (mark === undefined) throw new Error(`pids.json knows no ${name}`);
    return mark;
  };
  const end = async (mark: ChildMark): Promise<void> => {
    if (!isAlive(mark)) return;
    signalIfThere(mark.pid, 'SIGKILL');
    await eventually(
      async () => isAlive(mark),
      (alive) => !alive,
    );
  };
  return {
    child,
    kill: async (name) => end(await child(name)),
    signal: async (name, signal) => signalIfThere((await child(name)).pid, signal),
    holdDown: async (name) => {
      await end(await child(name));
      let released = false;
      const holding = (async () => {
        while (!released) {
          await end(await child(name));
          await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
        }
      })();
      return async () => {
        released = true;
        await holding;
      };
    },
  };
}
