/** Goal: every answer carries its headers and every refusal its sentence. Method: real HTTP, also broken HTTP. @module */
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { databaseOf } from '../../../src/db/database.ts';
import { openDatabase } from '../../../src/db/orm.ts';
import { stateOfFeed } from '../../../src/http/health-checks.ts';
import { createIdempotency, type RequestKey } from '../../../src/http/idempotency.ts';
import { startApi } from '../../../src/main/api-server.ts';
import { entities } from '../../../src/main/modules/index.ts';
import { createVault } from '../../../src/vault/vault.ts';
import { readVaultKeys } from '../../../src/vault/vault-keys.ts';
import { eventually, startWorld, type World } from '../../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(async () => {
  await world.close();
});

type Health = { status: string; timestamp: string; eventFeedLagMs: number; checks: Record<string, string> };
const answeredHealth = async (): Promise<Health> => (await fetch(`${world.apiUrl}/health`)).json() as Promise<Health>;
/** Of an examination that begins after this question; one that is younger than a second is answered again. */
const healthOf = (): Promise<Health> => {
  const since = Date.now();
  return eventually(answeredHealth, ({ timestamp }) => Date.parse(timestamp) >= since);
};

/** Sends raw bytes and reads until the server closes or answers. */
const raw = (bytes: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const { port } = new URL(world.apiUrl);
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(bytes));
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString();
      socket.end();
    });
    socket.on('close', () => resolve(text));
    socket.on('error', reject);
  });

// spec: does:Health:health and API information
test('health reports what works and needs no credential', async () => {
  const answer = await fetch(`${world.apiUrl}/health`);
  expect(answer.status).toBe(200);
  expect(await answer.json()).toMatchObject({
    status: 'degraded',
    version: '0.5.0',
    checks: { database: 'ok', temporal: 'ok', databaseRoles: 'ok' },
  });
});

test('a loop that last worked 25 s ago is reported, and one that has just worked is not', async () => {
  const relayAt = async (seconds: number) => {
    await world.sql(
      `insert into heartbeats (loop, succeeded_at) values ('relay', now() - make_interval(secs => $1))
       on conflict (loop) do update set succeeded_at = excluded.succeeded_at`,
      [seconds],
    );
    const { status, checks } = await healthOf();
    return [status, checks.relay];
  };
  expect(await relayAt(25)).toEqual(['degraded', 'degraded']);
  expect((await relayAt(0))[1]).toBe('ok');
  await world.sql(`delete from heartbeats where loop = 'relay'`);
});

test('the lag of the feed is the age of the oldest transaction that has written events', async () => {
  expect(await healthOf()).toMatchObject({ eventFeedLagMs: 0, checks: { eventFeed: 'ok' } });
  const writer = new pg.Client({ connectionString: world.config.DATABASE_URL });
  await writer.connect();
  try {
    await writer.query('begin');
    await writer.query(`select record_changes('[]', '[]')`);
    const { eventFeedLagMs } = await eventually(healthOf, (health) => health.eventFeedLagMs >= 100);
    expect(eventFeedLagMs).toBeLessThan(60_000);
    await writer.query('rollback');
    expect(await healthOf()).toMatchObject({ eventFeedLagMs: 0 });
  } finally {
    await writer.end();
  }
  expect([undefined, 0, 10, 10.1].map(stateOfFeed)).toEqual(['down', 'ok', 'ok', 'degraded']);
});

test('one examination answers all who ask within a second', async () => {
  await healthOf();
  const answers = await Promise.all(Array.from({ length: 20 }, answeredHealth));
  expect(new Set(answers.map(({ timestamp }) => timestamp)).size).toBeLessThanOrEqual(2);
});

test('with one role for migrations and processes it works, and health reports it', async () => {
  const { config, ownerUrl } = world;
  const api = await startApi({ ...config, DATABASE_URL: ownerUrl, PORT: 0 });
  try {
    const answer = await fetch(`${api.url}/health`);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({
      status: 'degraded',
      checks: { database: 'ok', databaseRoles: 'degraded: one role' },
    });
  } finally {
    await api.stop();
  }
});

// spec: header:X-Data-Residency EU
test('every kind of answer carries residency and a new request id', async () => {
  const paths = ['/', '/health', '/docs', '/docs/assets/swagger-ui.css', '/openapi.json', '/nowhere', '/keys', '/%zz'];
  const ids = new Set<string>();
  for (const path of paths) {
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'DELETE']) {
      const answer = await fetch(`${world.apiUrl}${path}`, { method });
      expect([path, method, answer.headers.get('x-data-residency')]).toEqual([path, method, 'EU']);
      ids.add(answer.headers.get('x-request-id') ?? '');
    }
  }
  expect(ids.size).toBe(paths.length * 4);
});

test('broken HTTP is answered with the headers too', async () => {
  expect(await raw('NONSENSE\r\n\r\n')).toMatch(/^HTTP\/1.1 400 .*X-Data-Residency: EU.*X-Request-Id: /s);
  const answer = await raw(`GET / HTTP/1.1\r\nHost: x\r\nX-Big: ${'a'.repeat(100_000)}\r\n\r\n`);
  expect(answer).toMatch(/^HTTP\/1.1 431 .*X-Data-Residency: EU/s);
  for (const [request, status] of [
    ['GET / HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    ['GET / HTTP/1.1\r\nHost: x\r\nExpect: nonsense\r\n\r\n', 417],
    ['CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n', 405],
  ] as const) {
    const text = await raw(request);
    expect([status, text]).toEqual([
      status,
      expect.stringMatching(/X-Data-Residency: EU[\s\S]*X-Request-Id: [\s\S]*"error"/i),
    ]);
    expect(text.startsWith(`HTTP/1.1 ${status} `)).toBe(true);
  }
});

test('a reset proxy request ends only itself', async () => {
  const { port } = new URL(world.apiUrl);
  for (let i = 0; i < 40; i++) {
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), '127.0.0.1', () => {
        socket.write('CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n');
        setTimeout(() => socket.resetAndDestroy(), i % 4);
      });
      socket.on('error', () => undefined);
      socket.on('close', () => resolve());
    });
  }
  expect((await fetch(`${world.apiUrl}/health`)).status).toBe(200);
});

// spec: auth:401 with an error
// spec: field:Error body.error
// spec: bodies:JSON
test('without a credential: 401 and a sentence; an unknown path: 404; a wrong method: 405', async () => {
  for (const [path, method, status] of [
    ['/keys', 'GET', 401],
    ['/v1/keys', 'GET', 401],
    ['/nowhere', 'GET', 404],
    ['/keys', 'PATCH', 405],
    ['/agents/tokens', 'DELETE', 405],
  ] as const) {
    const answer = await fetch(`${world.apiUrl}${path}`, { method });
    expect([path, answer.status]).toEqual([path, status]);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(Object.keys((await answer.json()) as object)).toEqual(['error']);
    expect(answer.headers.get('allow')).toBe(status === 405 ? 'GET' : null);
  }
});

// spec: status:400:validation error or invalid state
// spec: bodies:JSON
test('errors for bad JSON, unknown fields and bodies over the limit name the change to make', async () => {
  const owner = await world.owner();
  const post = (body: string | Uint8Array<ArrayBuffer>, type = 'application/json', headers = {}) =>
    fetch(`${world.apiUrl}/keys/create`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${owner.key}`, 'Content-Type': type, ...headers },
      body,
    });
  const cases = [
    [await post('{"label":'), 400, /not valid JSON/],
    [await post(new Uint8Array([0x7b, 0xff, 0x7d])), 400, /not valid JSON in UTF-8/],
    [await post('{"lable":"x"}'), 400, /lable/],
    [await post('{"label":7}'), 400, /body\.label/],
    [await post('null'), 400, /body: .*object/],
    [await post('{}', 'application/json', { 'Idempotency-Key': '' }), 400, /Idempotency-Key must be 1 to 255/],
    [await post('label=x', 'application/x-www-form-urlencoded'), 400, /application\/json/],
    [await post(`{"label":"${'x'.repeat(1024 * 1024)}"}`), 413, /over 1048576 bytes/],
  ] as const;
  for (const [answer, status, sentence] of cases) {
    expect(answer.status).toBe(status);
    expect(((await answer.json()) as { error: string }).error).toMatch(sentence);
  }
  const keys = await world.sql<{ count: number }>('select count(*)::int as count from api_keys where owner_id = $1', [
    owner.ownerId,
  ]);
  expect(keys[0]?.count).toBe(1);
});

test('the same key gives the same answer, another body is 409, and a refusal is not stored', async () => {
  const owner = await world.owner();
  const post = (body: object, key: string) =>
    fetch(`${world.apiUrl}/keys/create`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${owner.key}`, 'Content-Type': 'application/json', 'Idempotency-Key': key },
      body: JSON.stringify(body),
    });
  const refused = await post({ label: 3 }, 'once');
  expect(refused.status).toBe(400);
  const [first, second] = [await post({ label: 'a' }, 'once'), await post({ label: 'a' }, 'once')];
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(second.headers.get('idempotent-replayed')).toBe('true');
  expect(await second.json()).toEqual(await first.json());
  expect((await post({ label: 'b' }, 'once')).status).toBe(409);
  const parallel = await Promise.all(Array.from({ length: 8 }, () => post({ label: 'p' }, 'parallel')));
  expect(parallel.every(({ status }) => status === 201 || status === 409)).toBe(true);
  const labels = await world.sql<{ label: string }>(
    'select label from api_keys where owner_id = $1 and label is not null',
    [owner.ownerId],
  );
  expect(labels.map(({ label }) => label).sort()).toEqual(['a', 'p']);
});

// spec: status:429:rate limit exceeded
// spec: status:POST /policies:429 rate limit exceeded
// spec: header:Retry-After
// spec: header:X-RateLimit
// spec: limit:Rate-limit response:429 with Retry-After in seconds and X-RateLimit-* headers
test('over the rate limit: 429 with Retry-After, while health still answers', async () => {
  const slow = await startWorld({ env: { BURSAR_RATE_LIMIT_PER_MINUTE: '3' } });
  try {
    const statuses: number[] = [];
    for (let i = 0; i < 5; i++) statuses.push((await fetch(`${slow.apiUrl}/keys`)).status);
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
    const refused = await fetch(`${slow.apiUrl}/keys`);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(refused.headers.get('x-ratelimit-limit')).toBe('3');
    expect(refused.headers.get('x-ratelimit-remaining')).toBe('0');
    expect(Number(refused.headers.get('x-ratelimit-reset'))).toBeGreaterThan(0);
    expect((await fetch(`${slow.apiUrl}/policies`, { method: 'POST' })).status).toBe(429);
    expect((await fetch(`${slow.apiUrl}/health`)).status).toBe(200);
  } finally {
    await slow.close();
  }
});

const createKey = (owner: { key: string }, key: string, headers: Record<string, string> = {}) =>
  fetch(`${world.apiUrl}/keys/create`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${owner.key}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': key,
      ...headers,
    },
    body: '{}',
  });

test('a repeated secret is as little cached as the first, and is forgotten after ten minutes', async () => {
  const owner = await world.owner();
  const first = await createKey(owner, 'secret');
  const again = await createKey(owner, 'secret');
  expect([first.headers.get('cache-control'), again.headers.get('cache-control')]).toEqual(['no-store', 'no-store']);
  await world.sql(`update idempotency set reveal_until = now() - interval '1 second' where owner_id = $1`, [
    owner.ownerId,
  ]);
  const late = await createKey(owner, 'secret');
  expect([late.status, await late.text()]).toEqual([409, expect.stringMatching(/no longer shown/)]);
});

test('expired rows are purged: sealed answers first, then the keys', async () => {
  const owner = await world.owner();
  await createKey(owner, 'old');
  const orm = await openDatabase({
    url: world.config.DATABASE_URL,
    entities,
    poolSize: 2,
    applicationName: 'test',
  });
  try {
    const vault = createVault({ keys: readVaultKeys(world.config.BURSAR_VAULT_KEY) });
    const { purge } = createIdempotency(databaseOf(orm), vault);
    const mine = () => world.sql<{ body: string }>('select body from idempotency where owner_id = $1', [owner.ownerId]);
    await purge();
    expect((await mine())[0]?.body.length).toBeGreaterThan(20);
    await world.sql(`update idempotency set reveal_until = now() - interval '1 second' where owner_id = $1`, [
      owner.ownerId,
    ]);
    await purge();
    expect(await mine()).toEqual([{ body: '' }]);
    await world.sql(`update idempotency set reserved_at = now() - interval '25 hours' where owner_id = $1`, [
      owner.ownerId,
    ]);
    expect(await purge()).toBe(1);
    expect(await mine()).toEqual([]);
  } finally {
    await orm.close();
  }
});

test('a request that lost its lease changes nothing', async () => {
  const owner = await world.owner();
  const orm = await openDatabase({
    url: world.config.DATABASE_URL,
    entities,
    poolSize: 2,
    applicationName: 'test',
  });
  try {
    const vault = createVault({ keys: readVaultKeys(world.config.BURSAR_VAULT_KEY) });
    const idempotency = createIdempotency(databaseOf(orm), vault);
    const request: RequestKey = {
      ownerId: owner.ownerId,
      callerKind: 'key',
      agentId: '',
      key: 'k',
      method: 'POST',
      paths: ['/x'],
      rawBody: new Uint8Array(),
    };
    const slow = await idempotency.reserve(request);
    await world.sql(`update idempotency set lease_until = now() - interval '1 second' where owner_id = $1`, [
      owner.ownerId,
    ]);
    const next = await idempotency.reserve(request);
    if (slow.kind !== 'run' || next.kind !== 'run') throw new Error('both were to run');
    expect(next.seed).toBe(slow.seed);
    await idempotency.drop(request, slow);
    await idempotency.release(request, slow);
    await idempotency.keep(request, slow, { status: 201, body: '"late"', isSecret: false });
    expect(await idempotency.find(request).catch((error: Error) => error.message)).toMatch(/still running/);
    await idempotency.keep(request, next, { status: 201, body: '"mine"', isSecret: false });
    expect(await idempotency.find(request)).toMatchObject({ body: '"mine"' });
  } finally {
    await orm.close();
  }
});

test('an invalid run id is refused and never stored', async () => {
  const owner = await world.owner();
  const refused = await createKey(owner, 'run', { 'X-Service-Run-Id': 'card 4111111111111111' });
  expect([refused.status, refused.headers.get('x-service-run-id')]).toEqual([400, null]);
  for (const secret of ['4111111111111111', owner.key]) {
    const answer = await createKey(owner, `run-${secret.slice(0, 3)}`, { 'X-Service-Run-Id': secret });
    expect([answer.status, answer.headers.get('x-service-run-id')]).toEqual([400, null]);
    expect(await answer.text()).not.toContain(secret);
  }
  const taken = await createKey(owner, 'run-2', { 'X-Service-Run-Id': 'run_7' });
  expect([taken.status, taken.headers.get('x-service-run-id')]).toEqual([201, 'run_7']);
  expect(
    await world.sql('select distinct run_id from events where owner_id = $1 and run_id is not null', [owner.ownerId]),
  ).toEqual([{ run_id: 'run_7' }]);
});

test('the clock is moved once for each key', async () => {
  const move = async () => {
    const answer = await fetch(`${world.apiUrl}/sandbox/clock/advance`, {
      method: 'POST',
      headers: {
        'X-Dashboard-Secret': world.dashboardSecret,
        'Content-Type': 'application/json',
        'Idempotency-Key': 'tick',
      },
      body: '{"ms":1000}',
    });
    return ((await answer.json()) as { offsetMs: number }).offsetMs;
  };
  const first = await move();
  await world.sql(`update idempotency set status = null, body = null, lease_until = null where key = 'tick'`);
  expect(await move()).toBe(first);
});
