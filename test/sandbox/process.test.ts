/**
 * The sandbox as a process: killed with -9 in the middle of a purchase and started again, it goes on where it was;
 * each order ends with one authorization and one clearing. Also how it starts and stops.
 * @module
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { clockKey, FakeBursar, networkKey } from './fake-bursar.ts';
import { callsTo, eventually } from './world.ts';

const path = (fromRoot: string): string => fileURLToPath(new URL(`../../${fromRoot}`, import.meta.url));
let bursar: FakeBursar;
let dataDir: string;
let port: string;
let child: ChildProcess;

beforeEach(async () => {
  bursar = await new FakeBursar().start();
  dataDir = await mkdtemp(join(tmpdir(), 'bursar-sandbox-'));
  port = '0';
});
afterEach(async () => {
  await kill();
  await bursar.stop();
  await rm(dataDir, { recursive: true });
});

function launch(
  environment: Record<string, string | undefined> = {},
  stderr: 'inherit' | 'pipe' = 'inherit',
): ChildProcess {
  return spawn(path('node_modules/.bin/node'), ['--disable-warning=ExperimentalWarning', path('src/main/sandbox.ts')], {
    stdio: ['ignore', 'ignore', stderr, 'ipc'],
    env: {
      PATH: process.env.PATH,
      BURSAR_DATA_DIR: dataDir,
      SANDBOX_PORT: port,
      BURSAR_API_URL: bursar.url,
      BURSAR_NETWORK_KEY: networkKey,
      BURSAR_CLOCK_KEY: clockKey,
      ...environment,
    },
  });
}

/** The same port each time, so that an order's pay address outlives the process. */
async function start() {
  child = launch();
  const [said] = (await once(child, 'message')) as [{ ready: boolean; url: string }];
  expect(said.ready).toBe(true);
  port = new URL(said.url).port;
  return callsTo(said.url);
}

async function kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const ended = once(child, 'exit');
  child.kill(signal);
  return ((await ended) as [number | null])[0];
}

const idsOf = (kind: 'authorizations' | 'clearings' | 'reversals'): Set<string> =>
  new Set(bursar.of(kind).map(({ body }) => body.id));

test('killed while Bursar decides: asked again under the same id, paid once, cleared once', async () => {
  const before = await start();
  bursar.answering = ({ kind }) =>
    kind === 'authorizations' ? { status: 200, hangUp: true, afterMs: 1_500 } : undefined;
  const { order, token } = await before.ready();
  const interrupted = before.pay(order, token, 'k').catch(() => 'cut off');
  await eventually(
    () => bursar.of('authorizations').length,
    (count) => count === 1,
  );
  await kill();
  expect(await interrupted).toBe('cut off');

  bursar.answering = () => undefined;
  const after = await start();
  expect((await after.pay(order, token, 'k')).body).toEqual({ orderId: order.orderId, status: 'paid' });
  await eventually(
    () => idsOf('clearings').size,
    (count) => count === 1,
  );
  const raws = new Set(bursar.of('authorizations').map(({ raw }) => raw));
  expect([raws.size, idsOf('clearings').size, idsOf('reversals').size]).toEqual([1, 1, 0]);
});

test('killed while Bursar decides and not repeated: the purchase is concluded after the start', async () => {
  const before = await start();
  const cardRef = await before.issue();
  bursar.answering = ({ kind }) =>
    kind === 'authorizations' ? { status: 200, hangUp: true, afterMs: 1_500 } : undefined;
  const order = { cardRef, amountCents: 500, merchant: 'sandbox-shop' };
  const interrupted = before.send('POST', '/network/purchases', order).catch(() => 'cut off');
  const [asked] = await eventually(
    () => bursar.of('authorizations'),
    (sent) => sent.length === 1,
  );
  await kill();
  expect(await interrupted).toBe('cut off');

  bursar.answering = () => undefined;
  const after = await start();
  const outcome = () => after.send('GET', `/network/authorizations/${asked?.body.id}`).then(({ body }) => body);
  expect(await eventually(outcome, ({ decision }) => decision !== 'sent')).toMatchObject({ decision: 'approved' });
  await eventually(
    () => bursar.of('clearings').length,
    (count) => count === 1,
  );
});

test('killed between authorization and clearing: after the start exactly one clearing id is delivered', async () => {
  const before = await start();
  bursar.answering = ({ kind }) => {
    if (kind !== 'clearings') return undefined;
    child.kill('SIGKILL');
    return { status: 200, hangUp: true, afterMs: 50 };
  };
  const { order, token } = await before.ready();
  await before.pay(order, token, 'k').catch(() => undefined);
  await eventually(
    () => child.signalCode,
    (signal) => signal === 'SIGKILL',
  );

  bursar.answering = () => undefined;
  const after = await start();
  const acknowledged = () =>
    after.send('GET', '/network/messages?state=acknowledged').then(({ body }) => body.messages as object[]);
  await eventually(acknowledged, (messages) => messages.length === 1);
  const clearings = bursar.of('clearings');
  expect(clearings.length).toBeGreaterThanOrEqual(2);
  expect(new Set(clearings.map(({ raw }) => raw)).size).toBe(1);
  expect((await after.pay(order, token, 'k')).body.status).toBe('paid');
  expect(idsOf('authorizations').size).toBe(1);
});

test('killed with a reversal unsent: it is sent after the start', async () => {
  const before = await start();
  const cardRef = await before.issue();
  await bursar.stop();
  const { body } = await before.send('POST', '/network/purchases', {
    cardRef,
    amountCents: 500,
    merchant: 'sandbox-shop',
  });
  expect(body).toMatchObject({ decision: 'declined', rule: 'stand_in' });
  await kill();
  await bursar.start();
  const after = await start();
  await eventually(
    () => bursar.of('reversals').length,
    (count) => count > 0,
  );
  expect(bursar.of('reversals')[0]?.body.authorizationId).toBe(body.authorizationId);
  expect((await after.send('GET', `/network/authorizations/${body.authorizationId}`)).body.decision).toBe('declined');
});

test('killed again and again under purchases: every order ends paid by one authorization and one clearing', async () => {
  let calls = await start();
  const cardRef = await calls.issue();
  const orders = [];
  for (let i = 0; i < 12; i++)
    orders.push({ order: await calls.offer('sandbox-shop', 100 + i), token: await calls.mint(cardRef) });
  bursar.answering = ({ kind, body }) =>
    kind === 'authorizations'
      ? { status: 200, body: { decision: 'approved', approvedCents: body.amountCents }, afterMs: 5 }
      : { status: 200, body: {}, afterMs: 5 };
  for (const pauseMs of [4, 9, 15, 24, 40]) {
    const tries = orders.map(({ order, token }, i) => calls.pay(order, token, `k${i}`).catch(() => undefined));
    await sleep(pauseMs);
    await kill();
    await Promise.all(tries);
    calls = await start();
  }
  const answers = await Promise.all(orders.map(({ order, token }, i) => calls.pay(order, token, `k${i}`)));
  expect(answers.map(({ body }) => body.status)).toEqual(orders.map(() => 'paid'));
  await eventually(
    () => idsOf('clearings').size,
    (count) => count === orders.length,
  );
  await eventually(
    async () => (await calls.send('GET', '/network/messages?state=queued')).body.messages as object[],
    (left) => left.length === 0,
  );
  const amounts = (kind: 'authorizations' | 'clearings') => {
    const byId = new Map(bursar.of(kind).map(({ body }) => [body.id, Number(body.amountCents)]));
    return [...byId.values()].sort((a, b) => a - b);
  };
  const asked = orders.map(({ order }) => order.amountCents);
  expect([amounts('authorizations'), amounts('clearings')]).toEqual([asked, asked]);
  expect([bursar.of('reversals'), bursar.badlySigned]).toEqual([[], []]);
});

test('configured answers and received deliveries of a receiver survive a kill', async () => {
  const before = await start();
  await before.send('PUT', '/receiver/box/failures', { count: 2, status: 503 });
  expect((await before.send('POST', '/receiver/box', { n: 1 })).status).toBe(503);
  await kill();
  const after = await start();
  expect((await after.send('POST', '/receiver/box', { n: 2 })).status).toBe(503);
  expect((await after.send('POST', '/receiver/box', { n: 3 })).status).toBe(200);
  const { deliveries } = (await after.send('GET', '/receiver/box')).body as { deliveries: { body: string }[] };
  expect(deliveries.map(({ body }) => body)).toEqual(['{"n":1}', '{"n":2}', '{"n":3}']);
});

test('it outlives its supervisor, keeps its file to itself, and SIGTERM ends it with 0', async () => {
  const calls = await start();
  child.disconnect();
  await sleep(50);
  expect((await calls.send('GET', '/health')).body).toEqual({ status: 'ok' });
  expect((await stat(join(dataDir, 'sandbox.sqlite'))).mode & 0o777).toBe(0o600);
  expect(await kill('SIGTERM')).toBe(0);
});

test('SIGTERM lets a purchase in flight end first', async () => {
  const calls = await start();
  bursar.answering = ({ kind, body }) =>
    kind === 'authorizations'
      ? { status: 200, body: { decision: 'approved', approvedCents: body.amountCents }, afterMs: 300 }
      : undefined;
  const { order, token } = await calls.ready();
  const paying = calls.pay(order, token);
  await eventually(
    () => bursar.of('authorizations').length,
    (count) => count === 1,
  );
  expect(await kill('SIGTERM')).toBe(0);
  expect((await paying).body.status).toBe('paid');
});

test('a start with a broken environment names everything that is wrong and exits 1', async () => {
  child = launch({ BURSAR_NETWORK_KEY: undefined, SANDBOX_PORT: 'many', BURSAR_API_URL: 'nowhere' }, 'pipe');
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    said += chunk;
  });
  const [code] = (await once(child, 'close')) as [number];
  expect(code).toBe(1);
  for (const name of ['BURSAR_NETWORK_KEY', 'SANDBOX_PORT', 'BURSAR_API_URL']) expect(said).toContain(name);
});
