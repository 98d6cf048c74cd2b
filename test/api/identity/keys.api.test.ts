/** API keys over real HTTP: who may make and revoke them, what is shown when, and that no owner is locked out. @module */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createClient, sendTo } from '../../../src/client/client.ts';
import { keysArea } from '../../../src/domains/identity/keys/key.contract.ts';
import { eventNamesOf } from '../../support/events.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const dashboard = (ownerId?: string) =>
  createClient(keysArea, (request) =>
    sendTo(world.apiUrl)({
      ...request,
      headers: {
        ...request.headers,
        'X-Dashboard-Secret': world.dashboardSecret,
        ...(ownerId === undefined ? {} : { 'X-Owner-Id': ownerId }),
      },
    }),
  );

describe('creating a key', () => {
  // spec: does:Keys:API key management
  test('a key creates another one of the same owner, whose secret is returned once and works at once', async () => {
    const { client, ownerId } = await world.owner();
    const made = await client(keysArea).createKey({ body: { label: 'ci' } });
    expect(made).toEqual({
      id: expect.stringMatching(/^key_[a-z0-9]{26}$/),
      key: expect.stringMatching(/^sk_sandbox_[0-9A-Za-z]{32}$/),
      ownerId,
      label: 'ci',
      hint: `sk_sandbox_…${made.key.slice(-4)}`,
    });
    const listed = await world.as(made.key).client(keysArea).listKeys();
    expect(listed.map(({ id, isCurrent, label }) => ({ id, isCurrent, label }))).toContainEqual({
      id: made.id,
      isCurrent: true,
      label: 'ci',
    });
    expect(listed.filter(({ isCurrent }) => isCurrent)).toHaveLength(1);
    expect(await eventNamesOf(world, made.id)).toEqual(['api_key.created']);
  });

  test('with the dashboard: a new owner, a named one, or the one of the header', async () => {
    const minted = await dashboard().createKey({ body: {} });
    expect(minted.ownerId).toMatch(/^own_[a-z0-9]{26}$/);
    expect(minted.label).toBeNull();
    const known = await dashboard().createKey({ body: { ownerId: minted.ownerId } });
    expect(known.ownerId).toBe(minted.ownerId);
    const named = await dashboard().createKey({ body: { ownerId: 'own_acmeacme' } });
    expect(named.ownerId).toBe('own_acmeacme');
    const ofHeader = await dashboard('own_acmeacme').createKey({ body: {} });
    expect(ofHeader.ownerId).toBe('own_acmeacme');
    expect(await dashboard('own_acmeacme').listKeys()).toHaveLength(2);
    expect(await dashboard().listKeys({ query: { ownerId: 'own_acmeacme' } })).toHaveLength(2);
  });

  test('for another owner: 403 with a key, 400 where the dashboard contradicts itself', async () => {
    const [one, other] = [await world.owner(), await world.owner()];
    await expect(one.client(keysArea).createKey({ body: { ownerId: other.ownerId } })).rejects.toMatchObject({
      status: 403,
    });
    await expect(dashboard(one.ownerId).createKey({ body: { ownerId: other.ownerId } })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('X-Owner-Id'),
    });
  });

  test.each([
    ['an unknown field', { name: 'x' }],
    ['a bad owner', { ownerId: 'own_UPPERCASE' }],
    ['an empty label', { label: '' }],
    ['a long label', { label: 'x'.repeat(101) }],
    ['a label of another type', { label: 7 }],
  ])('%s is 400 and makes nothing', async (_, body) => {
    const { client, ownerId } = await world.owner();
    await expect(client(keysArea).createKey({ body: body as object })).rejects.toMatchObject({ status: 400 });
    expect(await world.sql('select 1 from api_keys where owner_id = $1', [ownerId])).toHaveLength(1);
  });

  test('the secret is nowhere in the database, also not in the answer stored for a repeat', async () => {
    const { client } = await world.owner();
    const { key } = await client(keysArea).createKey({ body: {}, headers: { 'Idempotency-Key': 'secret-1' } });
    const tables = ['api_keys', 'events', 'audit', 'idempotency'];
    for (const table of tables) {
      expect(await world.sql(`select 1 from ${table} t where t::text like $1`, [`%${key.slice(11)}%`])).toEqual([]);
    }
  });

  test('a repeat with the same key shows the same secret, and makes one key', async () => {
    const { client, ownerId } = await world.owner();
    const create = () => client(keysArea).createKey({ body: { label: 'r' }, headers: { 'Idempotency-Key': 'k-1' } });
    expect(await create()).toEqual(await create());
    expect(await world.sql('select 1 from api_keys where owner_id = $1', [ownerId])).toHaveLength(2);
  });

  test('a repeat after the secret’s ten minutes is 409 with the reason', async () => {
    const { client, ownerId } = await world.owner();
    const create = () => client(keysArea).createKey({ body: {}, headers: { 'Idempotency-Key': 'k-2' } });
    await create();
    await world.sql(`update idempotency set reveal_until = now() - interval '1 second' where owner_id = $1`, [ownerId]);
    await expect(create()).rejects.toMatchObject({ status: 409, message: expect.stringContaining('no longer shown') });
  });

  test('a repeat after a death before the answer makes the same key with a fresh secret', async () => {
    const { client, ownerId } = await world.owner();
    const create = () => client(keysArea).createKey({ body: {}, headers: { 'Idempotency-Key': 'k-3' } });
    const lost = await create();
    await world.sql('update idempotency set status = null, body = null, reveal_until = null where owner_id = $1', [
      ownerId,
    ]);
    const again = await create();
    expect(again.id).toBe(lost.id);
    expect(again.key).not.toBe(lost.key);
    await expect(world.as(lost.key).client(keysArea).listKeys()).rejects.toMatchObject({ status: 401 });
    await expect(world.as(again.key).client(keysArea).listKeys()).resolves.toHaveLength(2);
    expect(await eventNamesOf(world, again.id)).toEqual(['api_key.created']);
  });
});

describe('listing keys', () => {
  test('shows live ones of one owner only, newest first, without secrets', async () => {
    const [one, other] = [await world.owner(), await world.owner()];
    const second = await one.client(keysArea).createKey({ body: { label: 'second' } });
    const third = await one.client(keysArea).createKey({ body: { label: 'third' } });
    await one.client(keysArea).revokeKey({ params: { id: second.id } });
    const keys = await one.client(keysArea).listKeys();
    expect(keys.map(({ label }) => label)).toEqual(['third', null]);
    expect(JSON.stringify(keys)).not.toContain(third.key);
    expect(await other.client(keysArea).listKeys()).toHaveLength(1);
    await expect(one.client(keysArea).listKeys({ query: { ownerId: other.ownerId } })).rejects.toMatchObject({
      status: 403,
    });
  });

  test('by the dashboard needs an owner, and is written down', async () => {
    const { ownerId } = await world.owner();
    await expect(dashboard().listKeys()).rejects.toMatchObject({ status: 400 });
    await dashboard(ownerId).listKeys();
    const audit = await world.sql<{ actor: string }>(
      `select actor from audit where owner_id = $1 and details ->> 'operation' = 'listKeys'`,
      [ownerId],
    );
    expect(audit).toEqual([{ actor: 'dashboard' }]);
  });
});

describe('revoking a key', () => {
  // spec: does:Keys:API key management
  test('takes effect with the answer, by both paths, and a repeat changes nothing', async () => {
    const { client } = await world.owner();
    for (const revoke of ['revokeKeyByDelete', 'revokeKey'] as const) {
      const made = await client(keysArea).createKey({ body: {} });
      await world.as(made.key).client(keysArea).listKeys();
      expect(await client(keysArea)[revoke]({ params: { id: made.id } })).toEqual({ id: made.id, revoked: true });
      await expect(world.as(made.key).client(keysArea).listKeys()).rejects.toMatchObject({ status: 401 });
      expect(await client(keysArea)[revoke]({ params: { id: made.id } })).toEqual({ id: made.id, revoked: true });
      expect(await eventNamesOf(world, made.id)).toEqual(['api_key.created', 'api_key.revoked']);
    }
  });

  test('the last live key stays', async () => {
    const { client, key } = await world.owner();
    const [only] = await client(keysArea).listKeys();
    for (const revoke of ['revokeKeyByDelete', 'revokeKey'] as const) {
      await expect(client(keysArea)[revoke]({ params: { id: only?.id ?? '' } })).rejects.toMatchObject({
        status: 400,
        message: expect.stringContaining('last live key'),
      });
    }
    await expect(world.as(key).client(keysArea).listKeys()).resolves.toHaveLength(1);
  });

  test('of two revocations at once of the last two keys one is refused', async () => {
    for (let round = 0; round < 5; round++) {
      const { ownerId } = await world.owner();
      await dashboard().createKey({ body: { ownerId } });
      const ids = (await dashboard(ownerId).listKeys()).map(({ id }) => id);
      const answers = await Promise.allSettled(
        ids.map((id) => dashboard(ownerId).revokeKeyByDelete({ params: { id } })),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      expect(await dashboard(ownerId).listKeys()).toHaveLength(1);
    }
  });

  test('another owner’s key and an unknown one are 404, a malformed id 400', async () => {
    const [one, other] = [await world.owner(), await world.owner()];
    const [foreign] = await other.client(keysArea).listKeys();
    for (const id of [foreign?.id ?? '', 'key_unknown0']) {
      await expect(one.client(keysArea).revokeKeyByDelete({ params: { id } })).rejects.toMatchObject({ status: 404 });
      await expect(dashboard(one.ownerId).revokeKey({ params: { id } })).rejects.toMatchObject({ status: 404 });
    }
    await expect(one.client(keysArea).revokeKeyByDelete({ params: { id: 'nonsense' } })).rejects.toMatchObject({
      status: 400,
    });
    expect(await other.client(keysArea).listKeys()).toHaveLength(1);
  });
});
