/**
 * Goal: a merchant is registered once by invitation, its secret is shown once and makes it a caller, and only its owner
 * sees it. Method: real HTTP and rows; the caller as the edge identifies it.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Database } from '../../../src/db/database.ts';
import { openCredentials } from '../../../src/domains/identity/credentials/credentials.ts';
import { merchantsArea } from '../../../src/domains/merchants/merchants/merchant.contract.ts';
import { merchantByHash } from '../../../src/domains/merchants/merchants/merchant.queries.ts';
import { holderOfKey } from '../../../src/domains/merchants/merchants/merchant-key.queries.ts';
import { assertMayCall, type Credentials, identify } from '../../../src/http/authenticate.ts';
import type { Operation } from '../../../src/http/route.ts';
import { createLogger } from '../../../src/platform/log.ts';
import { createVault } from '../../../src/vault/vault.ts';
import { readVaultKeys } from '../../../src/vault/vault-keys.ts';
import { eventsOf } from '../../support/events.ts';
import {
  aKeyPair,
  anEncryptionKey,
  aRegistration,
  proofOf,
  registeredMerchant,
  unprovenMerchant,
} from '../../support/factories/merchants.ts';
import { aPayer, inDatabase } from '../../support/payments-world.ts';
import { type Owner, startWorld, type World } from '../../support/world.ts';

let world: World;
let owner: Owner;
beforeAll(async () => {
  world = await startWorld();
  owner = await world.owner();
});
afterAll(async () => {
  await world.close();
});

const register = (over: Readonly<Record<string, unknown>> = {}, by = owner) => unprovenMerchant(by, over);
const forMerchants = { method: 'post', auth: ['merchant'] } as unknown as Operation;

const withCredentials = <T>(work: (credentials: Credentials) => Promise<T>): Promise<T> =>
  inDatabase(world, async (database: Database) => {
    const credentials = openCredentials({
      database,
      databaseUrl: world.config.DATABASE_URL,
      mode: 'sandbox',
      log: createLogger({ name: 'test', level: 'silent' }),
      dashboardSecret: undefined,
      clockKey: undefined,
      merchantByHash,
    });
    return work(credentials).finally(() => credentials.close());
  });
const identified = (headers: Record<string, string>) =>
  withCredentials((credentials) => identify(forMerchants, { headers, client: '192.0.2.1' }, credentials));

test('a registration answers with the secret, and the record never shows it', async () => {
  const encryptionJwk = { ...anEncryptionKey(), x5t: 'ignored' };
  const created = await register({ encryptionJwk, webhookUrl: 'https://shop.example/hooks' });
  expect(created).toEqual({
    id: expect.stringMatching(/^mer_[0-9a-z]{26}$/),
    slug: 'acme-books',
    merchant_secret_key: expect.stringMatching(/^mer_sk_[0-9A-Za-z]{32}$/),
    key_challenge: expect.stringMatching(/^[\w-]+(\.[\w-]+){4}$/),
    warning: expect.stringContaining('not shown again'),
  });
  const { x5t: _ignored, ...kept } = encryptionJwk;
  expect(await owner.client(merchantsArea).getMerchant({ params: { id: created.id } })).toEqual({
    id: created.id,
    slug: 'acme-books',
    name: 'Acme Books',
    encryptionJwk: kept,
    encryptionKeys: [
      { thumbprint: expect.stringMatching(/^[\w-]{43}$/), jwk: kept, status: 'unproven', validUntil: null },
    ],
    status: 'active',
  });
  const [row] = await world.sql('select * from merchants where id = $1', [created.id]);
  expect(JSON.stringify(row)).not.toContain(created.merchant_secret_key);
  expect(await eventsOf(world, created.id)).toEqual([
    expect.objectContaining({
      name: 'merchant.registered',
      data: expect.objectContaining({ ownerId: owner.ownerId, status: 'active' }),
    }),
  ]);
  const everything = await world.sql('select to_jsonb(e) as e from events e union all select to_jsonb(a) from audit a');
  expect(JSON.stringify(everything)).not.toMatch(/mer_sk_|shop\.example|Acme/);
});

test('the secret makes a caller, and nothing else does', async () => {
  const { id, merchant_secret_key: key } = await register();
  const caller = await identified({ 'x-merchant-key': key });
  expect(caller).toEqual({ kind: 'merchant', merchantId: id });
  assertMayCall(forMerchants, caller);
  expect(() => assertMayCall({ ...forMerchants, auth: ['key'] }, caller)).toThrow();
  const payer = await aPayer(world, { owner });
  for (const headers of [
    {},
    { 'x-merchant-key': `${key}x` },
    { 'x-merchant-key': `${key}, ${key}` },
    { 'x-merchant-key': owner.key },
    { 'x-merchant-key': 'mer_sk_' },
    { authorization: `Bearer ${key}` },
    { authorization: `Bearer ${owner.key}` },
    { authorization: `Bearer ${payer.token}` },
  ]) {
    await expect(identified(headers)).rejects.toMatchObject({ code: 'unauthenticated' });
  }
  // As a bearer token, or beside another operation, a merchant's key opens nothing.
  for (const headers of [{ Authorization: `Bearer ${key}` }, { 'X-Merchant-Key': key }] as const) {
    const answer = await fetch(`${world.apiUrl}/v1/merchants/${id}`, { headers: { ...headers } });
    expect(answer.status).toBe(401);
  }
});

test('a suspended merchant is refused at once, although its key was remembered', async () => {
  const { id, merchant_secret_key: key } = await register();
  await withCredentials(async (credentials) => {
    expect(await credentials.merchant(key)).toMatchObject({ merchantId: id });
    await world.sql(`update merchants set status = 'suspended' where id = $1`, [id]);
    const deadline = Date.now() + 1_500;
    while ((await credentials.merchant(key)) !== undefined && Date.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await credentials.merchant(key)).toBeUndefined();
  });
});

test('a repeat under the same key shows the same merchant, and one that lost its answer makes the first secret void', async () => {
  const headers = { 'Idempotency-Key': randomUUID() };
  const api = owner.client(merchantsArea);
  const body = aRegistration();
  const first = await api.createMerchant({ body, headers });
  expect(await api.createMerchant({ body, headers })).toEqual(first);
  await world.sql('update idempotency set status = null, body = null, lease_until = null where key = $1', [
    headers['Idempotency-Key'],
  ]);
  const again = await api.createMerchant({ body, headers });
  expect(again).toMatchObject({ id: first.id, slug: first.slug, key_challenge: expect.any(String) });
  expect(again.merchant_secret_key).not.toBe(first.merchant_secret_key);
  await expect(identified({ 'x-merchant-key': first.merchant_secret_key })).rejects.toMatchObject({
    code: 'unauthenticated',
  });
  expect(await identified({ 'x-merchant-key': again.merchant_secret_key })).toMatchObject({ merchantId: first.id });
});

test('one code registers one merchant, also with requests at once', async () => {
  const inviteCode = randomUUID();
  const both = await Promise.allSettled([register({ inviteCode }), register({ inviteCode })]);
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  await expect(register({ inviteCode })).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining('was used'),
  });
});

const holderOf = ({ jwk }: Pick<ReturnType<typeof aKeyPair>, 'jwk'>) =>
  inDatabase(world, (database) => holderOfKey(database.read(), { kty: 'RSA', n: jwk.n ?? '', e: jwk.e ?? '' }));
const activate = (id: string, body: { proof: string; overlapHours?: number }, by = owner) =>
  by.client(merchantsArea).activateMerchantEncryptionKey({ params: { id }, body });
const addKey = (id: string, encryptionJwk: Record<string, unknown>, by = owner) =>
  by.client(merchantsArea).createMerchantEncryptionKey({ params: { id }, body: { encryptionJwk } });

describe('an encryption key', () => {
  // An owner has up to twenty merchants.
  beforeAll(async () => {
    owner = await world.owner();
  });

  test('counts once its challenge was decrypted, and not before', async () => {
    const pair = aKeyPair();
    const { id, key_challenge: challenge } = await register({ encryptionJwk: pair.jwk });
    expect(await holderOf(pair)).toBeNull();
    const proof = await proofOf(challenge, pair.privateKey);
    const merchant = await activate(id, { proof });
    expect(merchant.encryptionKeys).toMatchObject([{ status: 'active', validUntil: null }]);
    expect(await holderOf(pair)).toMatchObject({ merchant: { id }, isUsable: true });
    expect(await activate(id, { proof })).toEqual(merchant);
    const names = (await eventsOf(world, id)).map(({ name }) => name);
    expect(names).toEqual(['merchant.registered', 'merchant_encryption_key.activated']);
  });

  test('of another merchant is not taken, and registering it does not block its holder', async () => {
    const pair = aKeyPair();
    const thief = await world.owner();
    const squatter = await register({ encryptionJwk: pair.jwk }, thief);
    for (const proof of ['guess', squatter.key_challenge, squatter.merchant_secret_key])
      await expect(activate(squatter.id, { proof }, thief)).rejects.toMatchObject({ status: 400 });
    expect(await holderOf(pair)).toBeNull();
    const { id, key_challenge: challenge } = await register({ encryptionJwk: pair.jwk });
    const proof = await proofOf(challenge, pair.privateKey);
    // A proof is for the merchant that was challenged.
    await expect(activate(squatter.id, { proof }, thief)).rejects.toMatchObject({ status: 400 });
    await activate(id, { proof });
    expect(await holderOf(pair)).toMatchObject({ merchant: { id } });
    const late = await proofOf(squatter.key_challenge, pair.privateKey);
    const taken = { status: 400, message: expect.stringContaining('is registered already') };
    await expect(activate(squatter.id, { proof: late }, thief)).rejects.toMatchObject(taken);
    await expect(register({ encryptionJwk: { ...pair.jwk, kid: 'other' } })).rejects.toMatchObject(taken);
  });

  test('proves its merchant for an hour', async () => {
    const pair = aKeyPair();
    const { id, key_challenge: challenge } = await register({ encryptionJwk: pair.jwk });
    const proof = await proofOf(challenge, pair.privateKey);
    const vault = createVault({ keys: readVaultKeys(world.config.BURSAR_VAULT_KEY) });
    const sealed = JSON.parse(await vault.open(proof, `merchant-key/${id}`)) as { expiresAt: string };
    expect(Math.abs(Date.parse(sealed.expiresAt) - Date.now() - 3_600_000)).toBeLessThan(60_000);
    const expiresAt = new Date(Date.now() - 1).toISOString();
    const stale = await vault.seal(JSON.stringify({ ...sealed, expiresAt }), `merchant-key/${id}`);
    await expect(activate(id, { proof: stale })).rejects.toMatchObject({ status: 410 });
    const again = await addKey(id, pair.jwk);
    await activate(id, { proof: await proofOf(again.key_challenge, pair.privateKey) });
  });

  test('is replaced with an overlap, and not put in force again', async () => {
    const [first, second, third] = [aKeyPair(), aKeyPair(), aKeyPair()];
    const { id } = await registeredMerchant(owner, { encryptionJwk: first.jwk }, first.privateKey);
    const added = await addKey(id, second.jwk);
    expect(added.encryptionKey).toMatchObject({ jwk: second.jwk, status: 'unproven' });
    expect([await holderOf(first), await holderOf(second)]).toMatchObject([{ isUsable: true }, null]);
    const proof = await proofOf(added.key_challenge, second.privateKey);
    const replaced = await activate(id, { proof });
    expect(replaced.encryptionJwk).toEqual(second.jwk);
    expect(replaced.encryptionKeys.map(({ status }) => status)).toEqual(['active', 'replaced']);
    const until = Date.parse(replaced.encryptionKeys[1]?.validUntil ?? '');
    expect(Math.abs(until - Date.now() - 24 * 3_600_000)).toBeLessThan(60_000);
    expect([await holderOf(first), await holderOf(second)]).toMatchObject([{ isUsable: true }, { isUsable: true }]);

    const next = await addKey(id, third.jwk);
    const last = await activate(id, { proof: await proofOf(next.key_challenge, third.privateKey), overlapHours: 0 });
    expect(last.encryptionKeys.map(({ status }) => status)).toEqual(['active', 'ended', 'ended']);
    expect(await holderOf(first)).toMatchObject({ merchant: { id }, isUsable: false });
    await expect(activate(id, { proof })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('another key has replaced this one'),
    });
    await expect(addKey(id, first.jwk)).rejects.toMatchObject({ status: 400 });
    await expect(register({ encryptionJwk: first.jwk })).rejects.toMatchObject({ status: 400 });
  });

  test('that was not proven makes room for the next one; requests at once leave one in force', async () => {
    const pair = aKeyPair();
    const { id } = await registeredMerchant(owner, { encryptionJwk: pair.jwk }, pair.privateKey);
    const [unproven, other] = [aKeyPair(), aKeyPair()];
    const dropped = await addKey(id, unproven.jwk);
    const added = await addKey(id, other.jwk);
    const proofOfDropped = await proofOf(dropped.key_challenge, unproven.privateKey);
    await expect(activate(id, { proof: proofOfDropped })).rejects.toMatchObject({ status: 404 });
    const proof = await proofOf(added.key_challenge, other.privateKey);
    const answers = await Promise.all([activate(id, { proof }), activate(id, { proof }), activate(id, { proof })]);
    for (const { encryptionKeys } of answers)
      expect(encryptionKeys.map(({ status }) => status)).toEqual(['active', 'replaced']);
    const activated = (await eventsOf(world, id)).filter(({ name }) => name === 'merchant_encryption_key.activated');
    expect(activated).toHaveLength(2);
  });

  test('belongs to its owner alone', async () => {
    const { id, key_challenge: challenge } = await register();
    const stranger = await world.owner();
    await expect(activate(id, { proof: challenge }, stranger)).rejects.toMatchObject({ status: 404 });
    await expect(addKey(id, anEncryptionKey(), stranger)).rejects.toMatchObject({ status: 404 });
    await expect(rotate(id, {}, {}, stranger)).rejects.toMatchObject({ status: 404 });
  });

  test.each([
    ['a short key', () => anEncryptionKey(1_024), /1024 bits/],
    ['a private key', () => ({ ...anEncryptionKey(), d: 'AQAB' }), /private members/],
  ])('%s is refused', async (_what, jwk, message) => {
    const { id } = await register();
    await expect(addKey(id, jwk())).rejects.toMatchObject({ status: 400, message: expect.stringMatching(message) });
  });
});

const rotate = (id: string, body: { overlapHours?: number } = {}, headers: Record<string, string> = {}, by = owner) =>
  by.client(merchantsArea).rotateMerchantKey({ params: { id }, body, headers });

describe('the secret key', () => {
  beforeAll(async () => {
    owner = await world.owner();
  });

  const isKey = (key: string) =>
    identified({ 'x-merchant-key': key }).then(
      () => true,
      () => false,
    );

  test('is rotated with an overlap, and a second rotation makes the first key void', async () => {
    const { id, merchant_secret_key: first } = await register();
    const second = await rotate(id);
    expect(second.merchant_secret_key).toMatch(/^mer_sk_[0-9A-Za-z]{32}$/);
    expect(Math.abs(Date.parse(second.former_until) - Date.now() - 24 * 3_600_000)).toBeLessThan(60_000);
    expect([await isKey(first), await isKey(second.merchant_secret_key)]).toEqual([true, true]);
    const third = await rotate(id);
    expect([
      await isKey(first),
      await isKey(second.merchant_secret_key),
      await isKey(third.merchant_secret_key),
    ]).toEqual([false, true, true]);
    await world.sql(`update merchants set former_secret_until = now() - interval '1 second' where id = $1`, [id]);
    expect(await isKey(second.merchant_secret_key)).toBe(false);
    const names = (await eventsOf(world, id)).map(({ name }) => name);
    expect(names).toEqual(['merchant.registered', 'merchant_key.rotated', 'merchant_key.rotated']);
    const stored = await world.sql('select to_jsonb(m) as m from merchants m where id = $1', [id]);
    expect(JSON.stringify(stored)).not.toContain(third.merchant_secret_key);
  });

  test('without an overlap is void at once, although it was remembered', async () => {
    const { id, merchant_secret_key: first } = await register();
    await withCredentials(async (credentials) => {
      expect(await credentials.merchant(first)).toMatchObject({ merchantId: id });
      await rotate(id, { overlapHours: 0 });
      const deadline = Date.now() + 1_500;
      while ((await credentials.merchant(first)) !== undefined && Date.now() < deadline)
        await new Promise((resolve) => setTimeout(resolve, 20));
      expect(await credentials.merchant(first)).toBeUndefined();
    });
  });

  test('is rotated once by a request that comes again; one that lost its answer makes the first new key void', async () => {
    const { id, merchant_secret_key: first } = await register();
    const headers = { 'Idempotency-Key': randomUUID() };
    const second = await rotate(id, {}, headers);
    expect(await rotate(id, {}, headers)).toEqual(second);
    await world.sql('update idempotency set status = null, body = null, lease_until = null where key = $1', [
      headers['Idempotency-Key'],
    ]);
    const again = await rotate(id, {}, headers);
    expect(again.former_until).toBe(second.former_until);
    expect([
      await isKey(first),
      await isKey(second.merchant_secret_key),
      await isKey(again.merchant_secret_key),
    ]).toEqual([true, false, true]);
  });
});

test('two merchants of one name have two slugs, also with requests at once', async () => {
  const name = 'Twin Shop';
  const made = await Promise.all([register({ name }), register({ name }), register({ name })]);
  expect(new Set(made.map(({ slug }) => slug)).size).toBe(3);
  expect(made.map(({ slug }) => slug)).toContain('twin-shop');
});

test('another owner does not see it, an agent may neither read nor register', async () => {
  const { id } = await register();
  const payer = await aPayer(world, { owner });
  const stranger = (await world.owner()).client(merchantsArea);
  await expect(stranger.getMerchant({ params: { id } })).rejects.toMatchObject({ status: 404 });
  const asAgent = world.as(payer.token).client(merchantsArea);
  await expect(asAgent.getMerchant({ params: { id } })).rejects.toMatchObject({ status: 403 });
  await expect(asAgent.createMerchant({ body: aRegistration() })).rejects.toMatchObject({ status: 403 });
});

test('the dashboard registers for the owner that it names', async () => {
  const send = (headers: Record<string, string>) =>
    fetch(`${world.apiUrl}/v1/merchants`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Dashboard-Secret': world.dashboardSecret, ...headers },
      body: JSON.stringify(aRegistration()),
    });
  expect((await send({})).status).toBe(400);
  const answer = await send({ 'X-Owner-Id': owner.ownerId });
  expect(answer.status).toBe(201);
  const { id } = (await answer.json()) as { id: string };
  await owner.client(merchantsArea).getMerchant({ params: { id } });
});

test.each<[string, () => Record<string, unknown>, RegExp]>([
  ['a short code', () => ({ inviteCode: 'short' }), /inviteCode: must be 8 to 64/],
  ['a code with a space', () => ({ inviteCode: 'two words' }), /inviteCode/],
  ['no name', () => ({ name: undefined }), /name/],
  ['a long name', () => ({ name: 'x'.repeat(121) }), /name/],
  ['a short key', () => ({ encryptionJwk: anEncryptionKey(1_024) }), /encryptionJwk: the encryption key has 1024 bits/],
  ['a key to sign', () => ({ encryptionJwk: { ...anEncryptionKey(), use: 'sig' } }), /not for encryption/],
  ['a key without kid', () => ({ encryptionJwk: { ...anEncryptionKey(), kid: undefined } }), /no kid/],
  ['a private key', () => ({ encryptionJwk: { ...anEncryptionKey(), d: 'AQAB' } }), /private members/],
  ['another kind of key', () => ({ encryptionJwk: { kty: 'EC', crv: 'P-256' } }), /not an RSA key/],
  ['a private address', () => ({ webhookUrl: 'http://10.0.0.1/hook' }), /webhookUrl/],
  ['no address', () => ({ webhookUrl: 'nothing' }), /webhookUrl/],
])('%s is refused', async (_what, more, message) => {
  const before = await world.sql('select count(*) from merchants');
  await expect(register(more())).rejects.toMatchObject({ status: 400, message: expect.stringMatching(message) });
  expect(await world.sql('select count(*) from merchants')).toEqual(before);
});

test('configured codes register, and others do not', async () => {
  const invited = await startWorld({ env: { BURSAR_MERCHANT_INVITE_CODES: 'invite-one,invite-two' } });
  try {
    const by = await invited.owner();
    await expect(unprovenMerchant(by, { inviteCode: 'invite-three' })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('is not an invite code of this deployment'),
    });
    await unprovenMerchant(by, { inviteCode: 'invite-one' });
    await expect(unprovenMerchant(by, { inviteCode: 'invite-one' })).rejects.toMatchObject({ status: 400 });
    await unprovenMerchant(by, { inviteCode: 'invite-two' });
  } finally {
    await invited.close();
  }
});

test('an owner has twenty', async () => {
  const full = await world.owner();
  await world.sql(
    `insert into merchants (id, owner_id, slug, name, status, secret_hash, hint, invite_hash, request_id, created_at)
     select 'mer_filler' || n, $1, 'filler-' || n, 'Filler', 'active', lpad(n::text, 64, '0'), 'hint', lpad(n::text, 64, '0'), 'req', now() from generate_series(1, 20) n`,
    [full.ownerId],
  );
  await expect(register({}, full)).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining('20 is the limit'),
  });
});
