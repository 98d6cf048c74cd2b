/**
 * A whole Bursar for one test file: a fresh database, the API over real HTTP, and on request the worker, the sandbox
 * and the real Temporal dev server. Everything that it starts, `close` stops.
 * @module
 */
import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { type Client, createClient, type Send, sendTo } from '../../src/client/client.ts';
import { keysArea } from '../../src/domains/identity/keys/key.contract.ts';
import type { Area } from '../../src/http/route.ts';
import { sandboxClockArea } from '../../src/http/sandbox-clock.ts';
import { type RunningApi, startApi } from '../../src/main/api-server.ts';
import { type Config, readConfig } from '../../src/main/config.ts';
import { startWorkerProcess } from '../../src/main/worker-process.ts';
import { createOutbound } from '../../src/outbound/outbound.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { createLogger } from '../../src/platform/log.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { freePort } from '../../src/supervisor/ports.ts';
import { applicationUrl } from '../../src/supervisor/postgres.ts';
import { recordEvents } from './answers.ts';

export type WorldOptions = {
  /** Also run the worker (workflows, activities, relay) and the simulated outside world. */
  readonly worker?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** Private origins that may be dialled besides the sandbox's. */
  readonly allowedOrigins?: readonly string[];
  /** Gets each line of the API's log, from LOG_LEVEL=warn on. */
  readonly onLogLine?: (line: string) => void;
};

export type Owner = {
  readonly ownerId: string;
  readonly key: string;
  readonly send: Send;
  client<A extends Area>(area: A): Client<A>;
};

export type World = {
  readonly apiUrl: string;
  readonly sandboxUrl: string;
  /** Whether workflows run. */
  readonly hasWorker: boolean;
  readonly config: Config;
  /** The database for the role that owns its tables. */
  readonly ownerUrl: string;
  readonly networkKey: string;
  readonly dashboardSecret: string;
  readonly clockKey: string;
  /** Straight to the database as the role that owns it, for what a test must see or arrange behind the API. */
  sql<Row extends pg.QueryResultRow>(text: string, params?: unknown[]): Promise<Row[]>;
  /** A fresh owner with a key. */
  owner(): Promise<Owner>;
  /** A caller with that bearer token. */
  as(token: string): { send: Send; client<A extends Area>(area: A): Client<A> };
  /** Moves business time; answers how many workflows woke. */
  advance(ms: number): Promise<number>;
  /** Another API process over the same database. */
  secondApi(): Promise<RunningApi>;
  close(): Promise<void>;
};

const dashboardSecret = randomBytes(32).toString('hex');
const clockKey = randomBytes(32).toString('hex');
const networkKey = randomBytes(32).toString('hex');
const signingKey = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
const vaultKey = randomBytes(32).toString('base64');

export async function startWorld({
  worker = false,
  env = {},
  allowedOrigins = [],
  onLogLine,
}: WorldOptions = {}): Promise<World> {
  const stops: (() => Promise<unknown>)[] = [];
  const dataDir = await mkdtemp(join(tmpdir(), 'bursar-world-'));
  stops.push(() => rm(dataDir, { recursive: true, force: true }));
  const ownerUrl = await freshDatabase();
  stops.push(() => dropDatabase(ownerUrl));
  stops.push(() => recordEventsOf(ownerUrl));
  const apiPort = await freePort();
  const apiUrl = `http://127.0.0.1:${apiPort}`;
  const sandboxUrl = worker ? await sandboxFor(apiUrl, dataDir, stops) : 'http://127.0.0.1:9';

  const config = readConfig({
    BURSAR_DATA_DIR: dataDir,
    // As in a deployment: the processes run as the role that owns no table.
    DATABASE_URL: applicationUrl(ownerUrl, 'test'),
    PORT: String(apiPort),
    TEMPORAL_ADDRESS: process.env.TEST_TEMPORAL ?? '127.0.0.1:9',
    BURSAR_TASK_QUEUE_PREFIX: `t-${randomUUID()}`,
    BURSAR_DASHBOARD_SECRET: dashboardSecret,
    BURSAR_CLOCK_KEY: clockKey,
    BURSAR_NETWORK_KEY: networkKey,
    BURSAR_SIGNING_KEY: signingKey,
    BURSAR_VAULT_KEY: vaultKey,
    BURSAR_RATE_LIMIT_PER_MINUTE: '1000000',
    BURSAR_SANDBOX_URL: sandboxUrl,
    BURSAR_ALLOWED_ORIGINS: [sandboxUrl, ...allowedOrigins].join(','),
    BURSAR_POOL_SIZE: '8',
    BURSAR_POOL_TIMEOUT_MS: '30000', // The suites of a run share the machine and one PostgreSQL.
    BURSAR_DECISION_WAIT_MS: '30000',
    LOG_LEVEL: process.env.TEST_LOG ?? (onLogLine === undefined ? 'fatal' : 'warn'),
    ...env,
  });
  const api = await startApi(config, onLogLine === undefined ? undefined : { write: onLogLine });
  stops.push(() => api.stop());
  if (worker) {
    const running = await startWorkerProcess(config, process.env.TEST_BUNDLE);
    stops.push(() => running.stop());
  }
  const pool = new pg.Pool({ connectionString: ownerUrl, max: 3 });
  pool.on('error', () => undefined); // A test may take the database away; its own queries fail then.
  stops.push(() => pool.end());

  const as = (token: string) => {
    const send = sendTo(apiUrl, token);
    return { send, client: <A extends Area>(area: A) => createClient(area, send) };
  };
  const dashboard: Send = (request) =>
    sendTo(apiUrl)({ ...request, headers: { ...request.headers, 'X-Dashboard-Secret': dashboardSecret } });

  return {
    apiUrl,
    sandboxUrl,
    hasWorker: worker,
    config,
    ownerUrl,
    networkKey,
    dashboardSecret,
    clockKey,
    as,
    sql: async <Row extends pg.QueryResultRow>(text: string, params: unknown[] = []) =>
      (await pool.query<Row>(text, params)).rows,
    owner: async () => {
      const { key, ownerId } = await createClient(keysArea, dashboard).createKey({ body: {} });
      return { key, ownerId, ...as(key) };
    },
    advance: async (ms) =>
      (await createClient(sandboxClockArea, dashboard).advanceSandboxClock({ body: { ms } })).woken,
    secondApi: async () => {
      const second = await startApi({ ...config, PORT: 0 });
      stops.push(() => second.stop());
      return second;
    },
    close: async () => {
      for (const stop of stops.reverse()) await stop();
    },
  };
}

async function freshDatabase(): Promise<string> {
  const base = process.env.TEST_PG;
  if (base === undefined) throw new Error('TEST_PG is missing: this test needs the shared stack of the global setup');
  const name = `t_${randomUUID().replaceAll('-', '')}`;
  const client = new pg.Client(`${base}postgres`);
  await client.connect();
  await client.query(`create database ${name} template tpl strategy file_copy`);
  await client.end();
  return `${base}${name}`;
}

async function recordEventsOf(url: string): Promise<void> {
  const file = process.env.TEST_ANSWERS;
  if (file === undefined) return;
  const client = new pg.Client(url);
  await client.connect();
  await recordEvents(file, async (ids) => {
    const { rows } = await client.query<{ id: string }>('select id from events where id = any($1)', [ids]);
    return rows.map(({ id }) => id);
  });
  await client.end();
}

/** Also ends what is still connected, such as a process that a test killed. */
async function dropDatabase(url: string): Promise<void> {
  const client = new pg.Client(`${process.env.TEST_PG}postgres`);
  await client.connect();
  await client.query(`drop database if exists ${new URL(url).pathname.slice(1)} with (force)`);
  await client.end();
}

async function sandboxFor(apiUrl: string, dataDir: string, stops: (() => Promise<unknown>)[]): Promise<string> {
  const outbound = createOutbound({ allowedOrigins: [apiUrl] });
  const log = createLogger({ name: 'sandbox', level: process.env.TEST_LOG ?? 'fatal' });
  const databasePath = join(dataDir, 'sandbox.sqlite');
  const sandbox = await startSandbox(
    // On a busy machine the API answers later than the 2 s after which the network decides in its stead.
    { databasePath, apiUrl, networkKey, clockKey, outbound, log, decisionTimeoutMs: 10_000 },
    { host: '127.0.0.1', port: 0 },
  );
  stops.push(async () => {
    await sandbox.close();
    await outbound.close();
  });
  return sandbox.url;
}

/** A clock that stands still. */
export const clockAt = (now: Date): Pick<Clock, 'now'> => ({ now: async () => now });

/** What the clock of that world says; a test may have moved it. */
export async function businessNow({ sql }: Pick<World, 'sql'>): Promise<Date> {
  const [clock] = await sql<{ offset_ms: string }>('select offset_ms from clock where id = 1');
  return new Date(Date.now() + Number(clock?.offset_ms ?? 0));
}

/**
 * Asks until the answer satisfies. `timeoutMs` is only how long a test that fails takes: it must be long enough for the
 * slowest machine. The error contains the last answer.
 */
export async function eventually<T>(
  ask: () => Promise<T>,
  satisfies: (answer: T) => boolean,
  timeoutMs = 60_000,
): Promise<T> {
  const until = Date.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (satisfies(answer)) return answer;
    if (Date.now() > until) throw new Error(`still not so after ${timeoutMs} ms: ${JSON.stringify(answer)}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
