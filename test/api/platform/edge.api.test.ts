/** Goal: every answer carries its headers and every refusal its sentence. Method: real HTTP, also broken HTTP. @module */
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(async () => {
  await world.close();
});

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

test('health says what works, and asks nobody who they are', async () => {
  const answer = await fetch(`${world.apiUrl}/health`);
  expect(answer.status).toBe(200);
  expect(await answer.json()).toMatchObject({
    status: 'degraded',
    version: '0.5.0',
    checks: { database: 'ok', temporal: 'ok' },
  });
});

test('every kind of answer carries residency and a request id of its own', async () => {
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
});

test('without a credential: 401 and a sentence; an unknown path: 404; a wrong method: 405', async () => {
  for (const [path, method, status] of [
    ['/keys', 'GET', 401],
    ['/v1/keys', 'GET', 401],
    ['/nowhere', 'GET', 404],
    ['/keys', 'PATCH', 405],
  ] as const) {
    const answer = await fetch(`${world.apiUrl}${path}`, { method });
    expect([path, answer.status]).toEqual([path, status]);
    expect(Object.keys((await answer.json()) as object)).toEqual(['error']);
  }
});

test('bad JSON, unknown fields and bodies over the limit say what to change', async () => {
  const owner = await world.owner();
  const post = (body: string | Uint8Array<ArrayBuffer>, type = 'application/json') =>
    fetch(`${world.apiUrl}/keys/create`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${owner.key}`, 'Content-Type': type },
      body,
    });
  const cases = [
    [await post('{"label":'), 400, /not valid JSON/],
    [await post(new Uint8Array([0x7b, 0xff, 0x7d])), 400, /not valid JSON in UTF-8/],
    [await post('{"lable":"x"}'), 400, /lable/],
    [await post('{"label":7}'), 400, /body\.label/],
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

test('the same key gives the same answer, another body 409, and a refusal keeps nothing', async () => {
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

test('over the rate limit: 429 with Retry-After, while health still answers', async () => {
  const slow = await startWorld({ env: { BURSAR_RATE_LIMIT_PER_MINUTE: '3' } });
  try {
    const statuses: number[] = [];
    for (let i = 0; i < 5; i++) statuses.push((await fetch(`${slow.apiUrl}/keys`)).status);
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
    const refused = await fetch(`${slow.apiUrl}/keys`);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(refused.headers.get('x-ratelimit-limit')).toBe('3');
    expect((await fetch(`${slow.apiUrl}/health`)).status).toBe(200);
  } finally {
    await slow.close();
  }
});
