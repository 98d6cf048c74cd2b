/**
 * Goal: each use of the dashboard's secret is audited, and wrong secrets are limited by the caller's address. Method:
 * every operation that takes it, over real HTTP, behind a trusted proxy.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { canonicalPath } from '../../../src/http/openapi.ts';
import type { Operation } from '../../../src/http/route.ts';
import { publishedAreas } from '../../../src/main/modules/index.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({ env: { BURSAR_TRUSTED_PROXIES: '127.0.0.1' } });
});
afterAll(() => world.close());

const takingIt = publishedAreas.flatMap((area) =>
  Object.entries(area.operations)
    .filter(([, operation]: [string, Operation]) => operation.auth.includes('dashboard'))
    .map(([name, operation]: [string, Operation]) => ({ name, operation, path: canonicalPath(area, operation) })),
);

const ask = (path: string, { method = 'GET', headers = {}, body = undefined as object | undefined } = {}) =>
  fetch(`${world.apiUrl}${path}`, {
    method: method.toUpperCase(),
    headers: { 'Content-Type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

const usesOf = async (ownerId: string) =>
  (
    await world.sql<{ operation: string }>(
      `select details ->> 'operation' as operation from audit
       where owner_id = $1 and actor = 'dashboard' and action = 'dashboard.used' order by id`,
      [ownerId],
    )
  ).map(({ operation }) => operation);

test('every operation with the secret is audited with its owner, also when it is refused', async () => {
  const { ownerId } = await world.owner();
  const headers = { 'X-Dashboard-Secret': world.dashboardSecret, 'X-Owner-Id': ownerId };
  const bodies: Record<string, object> = { advanceSandboxClock: { ms: 1 }, createKey: {} };
  for (const { operation, path, name } of takingIt) {
    const filled = path.replaceAll(/\{\w+\}/g, 'key_aaaaaaaaaaaaaaaa');
    const answer = await ask(filled, {
      method: operation.method,
      headers,
      ...(operation.method === 'get' ? {} : { body: bodies[name] ?? {} }),
    });
    expect([name, answer.status]).not.toEqual([name, 401]);
  }
  expect(takingIt.length).toBeGreaterThan(5);
  expect(await usesOf(ownerId)).toEqual(takingIt.map(({ name }) => name));
});

test('without an owner a change is audited for the deployment, and reading the clock is not audited', async () => {
  const headers = { 'X-Dashboard-Secret': world.dashboardSecret };
  const before = await usesOf('deployment');
  await ask('/sandbox/clock', { headers });
  await ask('/sandbox/clock/advance', { method: 'POST', headers, body: { ms: 1 } });
  expect((await usesOf('deployment')).slice(before.length)).toEqual(['advanceSandboxClock']);
});

test('the clock key reads the sandbox’s clock and nothing else, and no other secret counts as it', async () => {
  const { ownerId, key } = await world.owner();
  const clock = { 'X-Clock-Key': world.clockKey };
  const answer = async (path: string, headers: Record<string, string>, method = 'GET', body?: object) =>
    (await ask(path, { headers, method, ...(body === undefined ? {} : { body }) })).status;
  expect(await answer('/sandbox/clock', clock)).toBe(200);
  expect(await answer('/sandbox/clock/advance', clock, 'POST', { ms: 1 })).toBe(401);
  const operations = publishedAreas.flatMap((area) =>
    Object.entries(area.operations).map(([name, operation]: [string, Operation]) => ({ name, operation, area })),
  );
  const taking = (...kinds: string[]) =>
    operations.filter(({ operation: { auth } }) => kinds.some((k) => auth.includes(k as never)));
  expect(taking('clock').map(({ name }) => name)).toEqual(['getSandboxClock']);
  const open = taking('clock', 'public', 'network');
  for (const { name, operation, area } of operations.filter((one) => !open.includes(one))) {
    const path = canonicalPath(area, operation).replaceAll(/\{\w+\}/g, 'x');
    const body = operation.method === 'get' ? undefined : {};
    const status = await answer(path, { ...clock, 'X-Owner-Id': ownerId }, operation.method, body);
    expect([name, status]).toEqual([name, 401]);
  }
  for (const wrong of [
    { 'X-Clock-Key': world.dashboardSecret },
    { 'X-Clock-Key': key },
    { 'X-Clock-Key': world.networkKey },
    { 'X-Dashboard-Secret': world.clockKey },
    { Authorization: `Bearer ${world.clockKey}` },
  ])
    expect([wrong, await answer('/sandbox/clock', wrong as Record<string, string>)]).toEqual([wrong, 401]);
});

test('an owner named in the query is the one it is written down for', async () => {
  const { ownerId } = await world.owner();
  await ask(`/keys?ownerId=${ownerId}`, { headers: { 'X-Dashboard-Secret': world.dashboardSecret } });
  expect(await usesOf(ownerId)).toEqual(['listKeys']);
});

test('neither a wrong secret nor an owner’s own key leaves such a row', async () => {
  const { ownerId, key } = await world.owner();
  await ask('/keys', { headers: { 'X-Dashboard-Secret': 'wrong'.repeat(8), 'X-Owner-Id': ownerId } });
  await ask('/keys', { headers: { Authorization: `Bearer ${key}` } });
  expect(await usesOf(ownerId)).toEqual([]);
});

test('wrong secrets count against the address behind the trusted proxy, and against no other', async () => {
  const { ownerId } = await world.owner();
  const from = (client: string, secret: string) =>
    ask('/keys', { headers: { 'X-Forwarded-For': client, 'X-Dashboard-Secret': secret, 'X-Owner-Id': ownerId } });
  for (let i = 0; i < 10; i++) expect((await from('203.0.113.7', `wrong-${i}`.repeat(8))).status).toBe(401);
  const tooMany = await from('203.0.113.7', 'wrong'.repeat(8));
  expect(tooMany.status).toBe(429);
  expect(Number(tooMany.headers.get('retry-after'))).toBeGreaterThan(0);
  // What the client itself wrote into the header, left of what the proxy added, is hearsay.
  expect((await from('198.51.100.1, 203.0.113.7', 'wrong'.repeat(8))).status).toBe(429);
  expect((await from('203.0.113.8', 'wrong'.repeat(8))).status).toBe(401);
  expect((await from('203.0.113.8', world.dashboardSecret)).status).toBe(200);
  expect((await from('2001:db8::1', world.dashboardSecret)).status).toBe(200);
});

test('wrong secrets from the holder’s address do not lock the holder out', async () => {
  const { ownerId } = await world.owner();
  const headers = { 'X-Forwarded-For': '203.0.113.9', 'X-Owner-Id': ownerId };
  const statuses = [];
  for (let i = 0; i < 30; i++) {
    const guess = await ask('/keys', { headers: { ...headers, 'X-Dashboard-Secret': `guess-${i}`.repeat(8) } });
    const holder = await ask('/keys', { headers: { ...headers, 'X-Dashboard-Secret': world.dashboardSecret } });
    statuses.push([guess.status, holder.status]);
  }
  expect(statuses.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => [401, 200]));
  expect(statuses.slice(10)).toEqual(Array.from({ length: 20 }, () => [429, 200]));
});
