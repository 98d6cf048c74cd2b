/** Which callers are authenticated: bearer tokens of this mode, revocation across processes, and the dashboard's secret. @module */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createClient, sendTo } from '../../../src/client/client.ts';
import { databaseOf } from '../../../src/db/database.ts';
import { openDatabase } from '../../../src/db/orm.ts';
import { openCredentials } from '../../../src/domains/identity/credentials/credentials.ts';
import { keysArea } from '../../../src/domains/identity/keys/key.contract.ts';
import { entities } from '../../../src/main/modules/index.ts';
import { createLogger } from '../../../src/platform/log.ts';
import { ensureKey } from '../../../src/usecases/identity/ensure-key.ts';
import { hashSecret } from '../../../src/vault/secret-hash.ts';
import { eventually, startWorld, type World } from '../../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const listWith = (url: string, headers: Record<string, string>): Promise<Response> => fetch(`${url}/keys`, { headers });

describe('bearer tokens', () => {
  // spec: status:401:missing or invalid authentication
  // spec: auth:401 with an error
  // spec: auth:bearer token
  test.each([
    ['no header', {}],
    ['another scheme', { Authorization: 'Basic c2VjcmV0' }],
    ['no token', { Authorization: 'Bearer ' }],
    ['an unknown key', { Authorization: `Bearer sk_sandbox_${'a'.repeat(32)}` }],
    ['an unknown agent token', { Authorization: `Bearer at_test_${'a'.repeat(32)}` }],
    ['a token with a quote', { Authorization: `Bearer sk_sandbox_'or'1'='1` }],
    ['a foreign prefix', { Authorization: `Bearer pk_sandbox_${'a'.repeat(32)}` }],
  ])('%s is 401', async (_, headers) => {
    const answer = await listWith(world.apiUrl, headers);
    expect(answer.status).toBe(401);
    expect(await answer.json()).toEqual({ error: expect.any(String) });
  });

  // spec: token-prefix:test in test mode
  test('a key of the other mode is 401 even where it is known', async () => {
    const { ownerId } = await world.owner();
    const live = `sk_live_${'b'.repeat(32)}`;
    await world.sql(
      `insert into api_keys (id, owner_id, secret_hash, hint, created_at) values ('key_livelive', $1, $2, '', now())`,
      [ownerId, hashSecret(live)],
    );
    expect((await listWith(world.apiUrl, { Authorization: `Bearer ${live}` })).status).toBe(401);
  });
});

describe('revocation across processes', () => {
  // The clock stands still: what is remembered does not grow old, and only the revocation can make it forgotten.
  beforeEach(() => {
    const now = Date.now();
    jest.spyOn(Date, 'now').mockImplementation(() => now);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  test('a key revoked in one process is refused in another within moments, although it had just been used there', async () => {
    const { client } = await world.owner();
    const second = await world.secondApi();
    for (let round = 0; round < 5; round++) {
      const { id, key } = await client(keysArea).createKey({ body: {} });
      const used = createClient(keysArea, sendTo(second.url, key));
      for (let i = 0; i < 3; i++) await used.listKeys();
      await client(keysArea).revokeKey({ params: { id } });
      const refused = () =>
        used.listKeys().then(
          () => 200,
          (error: { status: number }) => error.status,
        );
      await eventually(refused, (status) => status === 401);
    }
  });

  test('a revocation by hand in the database also takes effect', async () => {
    const { client } = await world.owner();
    const { id, key } = await client(keysArea).createKey({ body: {} });
    const used = world.as(key).client(keysArea);
    await used.listKeys();
    await world.sql('update api_keys set revoked_at = now() where id = $1', [id]);
    await eventually(
      () =>
        used.listKeys().then(
          () => 200,
          (error: { status: number }) => error.status,
        ),
      (s) => s === 401,
    );
  });

  test('a process whose listener is disconnected caches nothing, and reconnects', async () => {
    const listeners = () =>
      world.sql<{ pid: number }>(
        `select pid from pg_stat_activity where application_name = 'bursar-credentials' and datname = current_database()`,
      );
    const { client } = await world.owner();
    const { id, key } = await client(keysArea).createKey({ body: {} });
    const used = world.as(key).client(keysArea);
    await used.listKeys();
    const before = (await listeners()).map(({ pid }) => pid);
    expect(before.length).toBeGreaterThan(0);
    await world.sql('select pg_terminate_backend(pid) from unnest($1::int[]) pid', [before]);
    await world.sql('update api_keys set revoked_at = now() where id = $1', [id]);
    await eventually(
      () =>
        used.listKeys().then(
          () => 200,
          (error: { status: number }) => error.status,
        ),
      (s) => s === 401,
    );
    await eventually(listeners, (now) => now.length === before.length && now.every(({ pid }) => !before.includes(pid)));
  });
});

describe('the dashboard’s secret', () => {
  const withSecret = (secret: string, url = world.apiUrl) =>
    listWith(url, { 'X-Dashboard-Secret': secret, 'X-Owner-Id': 'own_dashboard' });

  test('permits its operations; a wrong one is 401, and the eleventh wrong one within a minute 429', async () => {
    const { url } = await world.secondApi();
    expect((await withSecret(world.dashboardSecret, url)).status).toBe(200);
    for (let i = 0; i < 10; i++) expect((await withSecret('x'.repeat(64), url)).status).toBe(401);
    const limited = await withSecret('x'.repeat(64), url);
    expect(limited.status).toBe(429);
    expect(Number(limited.headers.get('Retry-After'))).toBeGreaterThan(0);
    // A caller with a valid key is not limited by the guesses of another caller.
    const { key } = await world.owner();
    expect((await listWith(url, { Authorization: `Bearer ${key}` })).status).toBe(200);
  });

  test('is refused always where none is configured, and a malformed owner is 400', async () => {
    const bare = await startWorld({ env: { BURSAR_DASHBOARD_SECRET: '' } });
    try {
      expect((await withSecret('', bare.apiUrl)).status).toBe(401);
      expect((await withSecret(world.dashboardSecret, bare.apiUrl)).status).toBe(401);
    } finally {
      await bare.close();
    }
    const answer = await listWith(world.apiUrl, { 'X-Dashboard-Secret': world.dashboardSecret, 'X-Owner-Id': 'me' });
    expect(answer.status).toBe(400);
  });

  test('during a rotation both values open', async () => {
    const former = 'former-'.repeat(6);
    const rotating = await startWorld({ env: { BURSAR_DASHBOARD_SECRET: `${world.dashboardSecret},${former}` } });
    try {
      expect((await withSecret(world.dashboardSecret, rotating.apiUrl)).status).toBe(200);
      expect((await withSecret(former, rotating.apiUrl)).status).toBe(200);
    } finally {
      await rotating.close();
    }
  });
});

describe('a key that configuration names', () => {
  test('is registered once, by several processes at once and again at each start', async () => {
    const orm = await openDatabase({
      url: world.config.DATABASE_URL,
      entities,
      poolSize: 4,
      applicationName: 'test',
    });
    try {
      const database = databaseOf(orm);
      const apiKey = `sk_sandbox_${'k'.repeat(32)}`;
      const given = { mode: 'sandbox', at: new Date() } as const;
      const ensured = await Promise.all([1, 2, 3, 4].map(() => ensureKey({ database })(apiKey, given)));
      expect(new Set(ensured.map(({ keyId }) => keyId)).size).toBe(1);
      expect(await ensureKey({ database })(apiKey, given)).toEqual(ensured[0]);
      expect(await world.as(apiKey).client(keysArea).listKeys()).toHaveLength(1);
      const events = await world.sql(`select 1 from events where subject_id = $1`, [ensured[0]?.keyId]);
      expect(events).toHaveLength(1);
      await expect(ensureKey({ database })(`sk_live_${'k'.repeat(40)}`, given)).rejects.toThrow(
        /must begin with sk_sandbox_/,
      );
    } finally {
      await orm.close();
    }
  });

  test('stays revoked once it was revoked', async () => {
    const orm = await openDatabase({
      url: world.config.DATABASE_URL,
      entities,
      poolSize: 2,
      applicationName: 'test',
    });
    try {
      const database = databaseOf(orm);
      const apiKey = `sk_sandbox_${'r'.repeat(32)}`;
      const first = await ensureKey({ database })(apiKey, { mode: 'sandbox', at: new Date() });
      await world.sql('update api_keys set revoked_at = now() where id = $1', [first.keyId]);
      const again = await ensureKey({ database })(apiKey, { mode: 'sandbox', at: new Date() });
      expect(again).toEqual({ ...first, isLive: false });
    } finally {
      await orm.close();
    }
  });
});

test('opened over a database that is away, credentials neither throw nor keep the process from closing', async () => {
  const credentials = openCredentials({
    database: {
      read: () => {
        throw new Error('unused');
      },
      write: () => {
        throw new Error('unused');
      },
      snapshot: () => {
        throw new Error('unused');
      },
    },
    databaseUrl: 'postgres://unknown@127.0.0.1:9/none',
    mode: 'sandbox',
    log: createLogger({ name: 'test', level: 'silent' }),
    dashboardSecret: undefined,
    clockKey: undefined,
    merchantByHash: async () => undefined,
  });
  expect(await credentials.bearer('nonsense')).toBeUndefined();
  await credentials.close();
});
