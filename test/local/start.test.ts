/** A whole start on real servers: it survives kills, refuses a second one, stops cleanly and goes on afterwards. @module */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { waitUntil } from '../../src/supervisor/launch.ts';
import { type ChildMark, isAlive } from '../../src/supervisor/pids.ts';
import { freePort } from '../../src/supervisor/ports.ts';
import { startPostgres } from '../../src/supervisor/postgres.ts';
import type { Ready } from '../../src/supervisor/ready-file.ts';
import { temporalBinary } from '../../src/supervisor/temporal-binary.ts';
import { startTemporal } from '../../src/supervisor/temporal-server.ts';
import { runLists } from '../../src/temporal/run-lists.ts';
import { testFolder } from './folder.ts';

/** Only how long a test that fails takes: on a busy machine servers need many seconds to start. */
const patience = { withinMs: 60_000 };

type Start = { process: ChildProcess; out: () => string; err: () => string };

let dir = '';
const started: Start[] = [];
beforeAll(async () => {
  dir = join(await testFolder(), '.bursar');
});
afterAll(async () => {
  for (const start of started) {
    if (start.process.exitCode !== null || start.process.signalCode !== null) continue;
    start.process.kill('SIGTERM');
    await once(start.process, 'exit');
  }
});

function startBursar(more: NodeJS.ProcessEnv = {}): Start {
  const script = fileURLToPath(new URL('stand-ins/start.mjs', import.meta.url));
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script], {
    env: { ...process.env, BURSAR_DATA_DIR: dir, PORT: '0', BURSAR_ALLOWED_ORIGINS: 'https://shop.example', ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  const start = { process: child, out: () => out, err: () => err };
  started.push(start);
  return start;
}

async function isReady(start: Start): Promise<Ready> {
  const alive = () => start.process.exitCode === null && start.process.signalCode === null;
  await waitUntil(`start\n${start.err()}`, async () => start.out().startsWith('ready '), { withinMs: 120_000, alive });
  return JSON.parse(await readFile(join(dir, 'ready.json'), 'utf8')) as Ready;
}

async function children(): Promise<Record<string, ChildMark>> {
  const { children: list } = JSON.parse(await readFile(join(dir, 'pids.json'), 'utf8')) as { children: ChildMark[] };
  return Object.fromEntries(list.map((child) => [child.name, child]));
}

async function ask(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

/** Connection URL of the role that owns the tables; only the migration gets it. */
async function ownerUrlOf({ databaseUrl }: Ready): Promise<string> {
  const url = new URL(databaseUrl);
  expect(url.username).toBe('bursar_app');
  url.username = 'postgres';
  url.password = encodeURIComponent(await readFile(join(dir, 'postgres.password'), 'utf8'));
  return url.href;
}

const journal = async () => (await readFile(join(dir, 'journal'), 'utf8')).trim().split('\n');
const names = ['api', 'postgres', 'sandbox', 'temporal', 'worker'];

test('a start is ready, survives kills, refuses a second one, and starts again after kill -9 or Ctrl-C', async () => {
  const first = startBursar();
  const ready = await isReady(first);
  await aReadyStartSaysWhereItIs(first, ready);
  await programsGetWhatTheyNeed(ready);
  const ownerUrl = await ownerUrlOf(ready);
  await ask(ownerUrl, 'create table kept (n int)');
  // The processes' role reaches the database, and may make nothing there.
  await expect(ask(ready.databaseUrl, 'create table mine (n int)')).rejects.toMatchObject({ code: '42501' });

  await aSecondStartIsRefused(ready);
  await everyKilledChildComesBack(first, ready);

  first.process.kill('SIGKILL');
  await once(first.process, 'exit');
  const orphans = Object.values(await children());
  expect(orphans.every(isAlive)).toBe(true);
  const second = startBursar();
  const readyAgain = await isReady(second);
  expect(readyAgain).toEqual(ready);
  expect(second.err()).toContain(
    'an earlier start died and left sandbox, api, worker, temporal, postgres running: stopped',
  );
  expect(orphans.some(isAlive)).toBe(false);
  expect(await ask(ownerUrl, 'select count(*)::int as n from kept')).toEqual([{ n: 0 }]);

  await ctrlCStopsInOrder(second);
});

test('stubborn programs are ended by a second Ctrl-C, and the data is still whole', async () => {
  const start = startBursar({ STUBBORN: 'api' });
  const ready = await isReady(start);
  const running = Object.values(await children());
  start.process.kill('SIGINT');
  // npm repeats a keystroke within milliseconds: that is not a second one
  start.process.kill('SIGINT');
  await waitUntil('the stop', async () => start.err().includes('stopping'), patience);
  // A separate keystroke comes a second after the first one was heard.
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  expect(start.process.exitCode).toBeNull();
  start.process.kill('SIGINT');
  const [code] = await once(start.process, 'exit');
  expect(code).toBe(130);
  await waitUntil('all ended', async () => !running.some(isAlive), patience);

  const again = startBursar();
  expect((await isReady(again)).ownerId).toBe(ready.ownerId);
  expect(await ask(await ownerUrlOf(ready), 'select count(*)::int as n from kept')).toEqual([{ n: 0 }]);
});

test('with given servers and in live mode it starts no servers and no sandbox, and writes no ready.json', async () => {
  const own = await testFolder();
  const [postgres, temporal] = await Promise.all([
    startPostgres({ dir: own, port: await freePort(), password: 'own', durable: false }),
    startTemporal({ dir: own, port: await freePort(), binary: await temporalBinary({ dir: own }) }),
  ]);
  try {
    // Live does not start without a card processor, and the simulated one is the only one so far.
    const processor = { BURSAR_SANDBOX_URL: 'http://127.0.0.1:9', BURSAR_ALLOW_SIMULATED: 'on' };
    const servers = { DATABASE_URL: postgres.url, TEMPORAL_ADDRESS: temporal.address };
    const live = { BURSAR_MODE: 'live', ...processor, ...servers };
    await mkdir(join(own, 'data'));
    const start = startBursar({ ...live, BURSAR_DATA_DIR: join(own, 'data') });
    await waitUntil('live start', async () => start.out().startsWith('ready '), patience);
    const pids = JSON.parse(await readFile(join(own, 'data', 'pids.json'), 'utf8')) as { children: ChildMark[] };
    expect(new Set(pids.children.map(({ name }) => name))).toEqual(new Set(['api', 'worker']));
    const kept = await readdir(join(own, 'data'));
    expect(kept).not.toContain('ready.json');
    const { apiKey } = JSON.parse(await readFile(join(own, 'data', 'owner.live.json'), 'utf8')) as { apiKey: string };
    expect(apiKey).toMatch(/^sk_live_/);
    for (const secret of [apiKey, postgres.url]) expect(start.out() + start.err()).not.toContain(secret);
    start.process.kill('SIGTERM');
    expect((await once(start.process, 'exit'))[0]).toBe(0);
    expect(pids.children.some(isAlive)).toBe(false);
  } finally {
    await Promise.all([postgres.stop(), temporal.stop()]);
  }
});

test('errors of the environment are reported, and no process keeps running', async () => {
  const start = startBursar({ PORT: '99999', BURSAR_MODE: 'test' });
  const [code] = await once(start.process, 'exit');
  expect(code).toBe(1);
  expect(start.err()).toContain('PORT is 99999');
  expect(start.err()).toContain('BURSAR_MODE is test');
  expect(start.out()).toBe('');
});

async function aReadyStartSaysWhereItIs(start: Start, ready: Ready): Promise<void> {
  expect(start.out().split('\n')).toEqual([expect.stringMatching(/^ready .*ready\.json$/), '']);
  expect(start.out()).toContain(ready.apiUrl);
  for (const { name, query } of runLists)
    expect(start.err()).toContain(
      `runs: ${name}: ${ready.temporalUiUrl}/namespaces/default/workflows?query=${encodeURIComponent(query)}\n`,
    );
  for (const secret of [ready.apiKey, ready.dashboardSecret, ready.networkKey, ready.databaseUrl]) {
    expect(start.out() + start.err()).not.toContain(secret);
  }
  expect(((await stat(join(dir, 'ready.json'))).mode & 0o777).toString(8)).toBe('600');
  expect(Object.keys(ready)).toEqual([
    ...['apiUrl', 'docsUrl', 'apiKey', 'ownerId', 'dashboardSecret', 'networkKey', 'temporalAddress', 'temporalUiUrl'],
    ...['temporalNamespace', 'temporalCli', 'databaseUrl', 'sandboxUrl'],
  ]);
  expect(ready.apiKey).toMatch(/^sk_sandbox_[0-9A-Za-z]{40}$/);
  expect(ready.ownerId).toBe(`owner-of-${ready.apiKey.slice(-4)}`);
  expect((await fetch(ready.temporalUiUrl as string)).status).toBe(200);
  const open = (await readdir(dir)).filter((name) => !['pg', 'logs', 'journal'].includes(name));
  for (const name of open) expect([name, (await stat(join(dir, name))).mode & 0o077]).toEqual([name, 0]);
}

/** What an environment holds that opens or seals something. */
const secretsIn = (env: NodeJS.ProcessEnv): string[] =>
  Object.keys(env)
    .filter((name) => /^BURSAR_.*(KEY|SECRET|PASSWORD)$|DATABASE_URL$/.test(name))
    .sort((a, b) => a.localeCompare(b));

async function programsGetWhatTheyNeed(ready: Ready): Promise<void> {
  const api = (await (await fetch(`${ready.apiUrl}/env`)).json()) as NodeJS.ProcessEnv;
  expect(api).toMatchObject({
    BURSAR_API_KEY: ready.apiKey,
    BURSAR_DASHBOARD_SECRET: ready.dashboardSecret,
    BURSAR_PUBLIC_URL: ready.apiUrl,
    BURSAR_ALLOWED_ORIGINS: `https://shop.example,${ready.sandboxUrl}`,
    DATABASE_URL: ready.databaseUrl,
    TEMPORAL_ADDRESS: ready.temporalAddress,
    BURSAR_SANDBOX_URL: ready.sandboxUrl,
  });
  expect(api.BURSAR_NETWORK_KEY).toBe(ready.networkKey);
  expect(api).not.toHaveProperty('BURSAR_SIGNING_KEY');
  const worker = JSON.parse(await readFile(join(dir, 'worker.env'), 'utf8')) as NodeJS.ProcessEnv;
  expect(worker.BURSAR_SIGNING_KEY).toContain('PRIVATE KEY');
  const sandbox = (await (await fetch(`${ready.sandboxUrl}/env`)).json()) as NodeJS.ProcessEnv;
  expect([secretsIn(api), secretsIn(worker), secretsIn(sandbox)]).toEqual([
    [
      ...['BURSAR_API_KEY', 'BURSAR_CLOCK_KEY', 'BURSAR_DASHBOARD_SECRET', 'BURSAR_NETWORK_KEY', 'BURSAR_VAULT_KEY'],
      'DATABASE_URL',
    ],
    ['BURSAR_SIGNING_KEY', 'BURSAR_VAULT_KEY', 'DATABASE_URL'],
    ['BURSAR_CLOCK_KEY', 'BURSAR_NETWORK_KEY'],
  ]);
  expect(sandbox.BURSAR_CLOCK_KEY).toBe(api.BURSAR_CLOCK_KEY);
  for (const program of [api, worker]) expect(program).not.toHaveProperty('BURSAR_MIGRATION_DATABASE_URL');
  expect(sandbox.BURSAR_NETWORK_KEY).toBe(ready.networkKey);
  for (const name of ['BURSAR_VAULT_KEY', 'BURSAR_API_KEY', 'BURSAR_SIGNING_KEY', 'DATABASE_URL']) {
    expect(sandbox[name]).toBeUndefined();
  }
}

async function aSecondStartIsRefused(ready: Ready): Promise<void> {
  const second = startBursar();
  const [code] = await once(second.process, 'exit');
  expect(code).toBe(1);
  expect(second.err()).toContain(`runs already over ${dir}`);
  expect(second.err()).toContain(ready.apiUrl);
  expect(second.out()).toBe('');
  expect(existsSync(join(dir, 'ready.json'))).toBe(true);
}

async function everyKilledChildComesBack(start: Start, ready: Ready): Promise<void> {
  const before = await children();
  expect(Object.keys(before).sort((a, b) => a.localeCompare(b))).toEqual(names);
  for (const { pid } of Object.values(before)) process.kill(pid, 'SIGKILL');
  // Temporal has to come back whole without its file too
  await rm(join(dir, 'temporal.db'));
  const isBack = async () => {
    const after = await children();
    return names.every((name) => after[name]?.pid !== before[name]?.pid && isAlive(after[name] as ChildMark));
  };
  await waitUntil('all back', isBack, patience);
  const answers = async () => {
    try {
      await ask(await ownerUrlOf(ready), 'select 1 from kept');
      return (await fetch(`${ready.apiUrl}/customers`)).ok && (await fetch(ready.temporalUiUrl as string)).ok;
    } catch {
      return false;
    }
  };
  await waitUntil('all answer', answers, patience);
  const setUp = () =>
    start
      .err()
      .split('\n')
      .filter((line) => line.includes('now keeps runs 30 days')).length;
  await waitUntil('Temporal set up again', async () => setUp() === 2, patience);
}

async function ctrlCStopsInOrder(start: Start): Promise<void> {
  const running = Object.values(await children());
  const before = (await journal()).length;
  start.process.kill('SIGINT');
  const [code] = await once(start.process, 'exit');
  expect(code).toBe(0);
  expect((await journal()).slice(before)).toEqual(['sandbox down', 'api down', 'worker down']);
  expect(running.some(isAlive)).toBe(false);
  const left = await readdir(dir);
  expect(left).not.toContain('ready.json');
  expect(left.filter((name) => name.startsWith('pids.json'))).toEqual([]);
  expect(await readFile(join(dir, 'logs', 'postgres.log'), 'utf8')).toMatch(/database system is shut down\s*$/);
}
