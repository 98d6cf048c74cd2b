/**
 * Goal: what the service and its agents sign can be verified by anyone with the published keys, and nothing else
 * verifies. Method: real HTTP and rows; signatures checked with node:crypto, without the library that signs.
 * @module
 */
import { execFile } from 'node:child_process';
import {
  createHmac,
  createPublicKey,
  generateKeyPairSync,
  type JsonWebKey,
  randomUUID,
  sign,
  verify,
  type webcrypto,
} from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { publishedBeforeUseMs } from '../../../src/domains/identity/well-known/signing-key.rules.ts';
import {
  agentSigningKey,
  publishCheckpointKey,
  rotateServiceKey,
  serviceSigningKey,
} from '../../../src/domains/identity/well-known/signing-key.service.ts';
import { signPaymentToken, signReceipt } from '../../../src/domains/identity/well-known/token.service.ts';
import { agentsArea } from '../../../src/domains/parties/agents/agent.contract.ts';
import { cents } from '../../../src/kernel/money.ts';
import { createVault, type Vault } from '../../../src/vault/vault.ts';
import { readVaultKeys } from '../../../src/vault/vault-keys.ts';
import { eventsOf } from '../../support/events.ts';
import { aPayer, inDatabase } from '../../support/payments-world.ts';
import { startWorld, type World } from '../../support/world.ts';

const program = fileURLToPath(new URL('../../../src/main/cli.ts', import.meta.url));

let world: World;
let vault: Vault;
let issuer: string;
const checkpointKey = generateKeyPairSync('ed25519').privateKey;
beforeAll(async () => {
  world = await startWorld({ worker: true });
  vault = createVault({ keys: readVaultKeys(world.config.BURSAR_VAULT_KEY) });
  issuer = world.config.publicUrl;
  await inDatabase(world, (database) => database.write((tx) => publishCheckpointKey(tx, checkpointKey)));
});
afterAll(async () => {
  await world.close();
});

type Jwk = JsonWebKey & { readonly kid: string };
type Verification = {
  valid: boolean;
  type: string | null;
  payload: object | null;
  reason: string | null;
  detail: string | null;
};

const get = (path: string) => fetch(`${world.apiUrl}/.well-known/${path}`);
const keysAt = async (path: string) => ((await (await get(path)).json()) as { keys: Jwk[] }).keys;
const post = (body: object) =>
  fetch(`${world.apiUrl}/.well-known/verify`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
const check = async (token: string): Promise<Verification> => {
  const answer = await post({ token });
  expect(answer.status).toBe(200);
  return (await answer.json()) as Verification;
};

const facts = {
  credentialId: 'mppc_01kc1v9m3se7ttw5v1x0h2q8ab',
  transactionId: 'tx_01kc1v9m3se7ttw5v1x0h2q8ab',
  challengeId: 'ch_4711',
  merchantId: 'mer_01kc1v9m3se7ttw5v1x0h2q8ab',
  amountCents: cents(499),
  settledAt: new Date('2026-11-20T12:00:00Z'),
};
const tokenFacts = {
  tokenId: 'pt_4711',
  agentId: 'ag_01kc1v9m3se7ttw5v1x0h2q8ab',
  recipientWalletId: 'wal_01kc1v9m3se7ttw5v1x0h2q8ab',
  amountCents: cents(1_250),
  nonce: 'nonce-4711',
};
const signing = async () => {
  const signer = await inDatabase(world, (database) => database.write((tx) => serviceSigningKey(tx, vault)));
  return { signer, issuer };
};
const aReceipt = async () => signReceipt(await signing(), facts);
const aToken = async (expiresInMs = 300_000) =>
  signPaymentToken(await signing(), tokenFacts, new Date(Date.now() + expiresInMs));

const someone = { causeId: 'a-cause', requestId: 'a-request', actor: { kind: 'system' }, at: new Date() } as const;

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const decoded = (token: string, part: number) =>
  JSON.parse(Buffer.from(token.split('.')[part] ?? '', 'base64url').toString()) as Record<string, unknown>;

/** RFC 7515 by hand. */
function isSignedBy(keys: readonly Jwk[], token: string): boolean {
  const [header = '', payload = '', signature = ''] = token.split('.');
  const key = keys.find(({ kid }) => kid === decoded(token, 0).kid);
  if (key === undefined) return false;
  const publicKey = createPublicKey({ key, format: 'jwk' });
  return verify(null, Buffer.from(`${header}.${payload}`), publicKey, Buffer.from(signature, 'base64url'));
}

// spec: does:Well-Known:public no-auth discovery and verification endpoints under `/.well-known`
test('the key set has a key of checkpoints and another one of receipts and tokens, and may be cached', async () => {
  const answer = await get('jwks.json');
  expect(answer.headers.get('Cache-Control')).toBe('public, max-age=300');
  const { keys } = (await answer.json()) as { keys: Jwk[] };
  const form = { kty: 'OKP', crv: 'Ed25519', use: 'sig', alg: 'EdDSA' };
  expect(keys).toEqual(keys.map(() => expect.objectContaining(form)));
  expect(Object.keys(keys[0] ?? {}).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x']);
  const { x } = createPublicKey(checkpointKey).export({ format: 'jwk' });
  const { signer } = await signing();
  expect(keys.some((key) => key.x === x && key.kid !== signer.kid)).toBe(true);
  expect(keys.some((key) => key.kid === signer.kid && key.x !== x)).toBe(true);
});

test('the worker publishes the key with which its sealer signs checkpoints', async () => {
  const { x } = createPublicKey(world.config.BURSAR_SIGNING_KEY ?? '').export({ format: 'jwk' });
  expect((await keysAt('jwks.json')).filter((key) => key.x === x)).toHaveLength(1);
  expect(await world.sql(`select sealed_private_key from signing_keys where purpose = 'checkpoint'`)).toEqual(
    expect.arrayContaining([{ sealed_private_key: null }]),
  );
});

test('a kid is the thumbprint of RFC 7638', async () => {
  // The example of RFC 8037, A.3.
  const x = '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo';
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  await inDatabase(world, (database) => database.write((tx) => publishCheckpointKey(tx, key)));
  await inDatabase(world, (database) => database.write((tx) => publishCheckpointKey(tx, key)));
  const found = (await keysAt('jwks.json')).filter((one) => one.x === x);
  expect(found.map(({ kid }) => kid)).toEqual(['kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k']);
});

test('a receipt and a payment token verify with the published keys', async () => {
  const [receipt, token] = [await aReceipt(), await aToken()];
  const keys = await keysAt('jwks.json');
  for (const one of [receipt, token]) expect(isSignedBy(keys, one)).toBe(true);
  expect(decoded(receipt, 0)).toMatchObject({ alg: 'EdDSA', typ: 'bursar-receipt+jwt' });
  expect(await check(receipt)).toEqual({
    valid: true,
    type: 'receipt',
    reason: null,
    detail: null,
    payload: {
      iss: issuer,
      iat: expect.any(Number),
      jti: facts.credentialId,
      status: 'success',
      method: 'card',
      reference: facts.transactionId,
      challengeId: 'ch_4711',
      timestamp: '2026-11-20T12:00:00.000Z',
      amount: '499',
      currency: 'eur',
      merchantId: facts.merchantId,
    },
  });
});

test('a verification shows no claim that is for the parties only', async () => {
  const token = await aToken();
  expect(decoded(token, 1)).toMatchObject({ sub: tokenFacts.agentId, aud: tokenFacts.recipientWalletId });
  const found = await check(token);
  expect(found).toMatchObject({ valid: true, type: 'payment_token' });
  expect(Object.keys(found.payload ?? {}).sort()).toEqual(['amount', 'currency', 'exp', 'iat', 'iss', 'jti']);
});

test('each changed part makes a token invalid, and an invalid one shows nothing', async () => {
  const [header = '', payload = '', signature = ''] = (await aReceipt()).split('.');
  const dearer = encoded({ ...decoded(`${header}.${payload}.${signature}`, 1), amount: '1' });
  const flipped = `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
  for (const changed of [`${header}.${dearer}.${signature}`, `${header}.${payload}.${flipped}`])
    expect(await check(changed)).toEqual({
      valid: false,
      type: 'receipt',
      payload: null,
      reason: 'bad_signature',
      detail: 'The signature is not of this content.',
    });
});

test('an expired token is invalid, and a payment token without an expiry too', async () => {
  expect(await check(await aToken(-1_000))).toEqual({
    valid: false,
    type: 'payment_token',
    payload: null,
    reason: 'expired',
    detail: 'The token has expired.',
  });
  expect(await check(await signedWith(await signing(), { amount: '1' }, 'bursar-payment-token+jwt'))).toMatchObject({
    valid: false,
    reason: 'malformed',
  });
  const later = Math.floor(Date.now() / 1_000) + 600;
  expect(await check(await signedWith(await signing(), { nbf: later }, 'bursar-receipt+jwt'))).toMatchObject({
    valid: false,
    reason: 'not_yet_valid',
  });
});

/** A token with any claims, signed by the service's real key: what only a bug could make. */
async function signedWith({ signer }: Awaited<ReturnType<typeof signing>>, claims: object, typ: string) {
  const text = `${encoded({ alg: 'EdDSA', typ, kid: signer.kid })}.${encoded(claims)}`;
  const signature = await crypto.subtle.sign('Ed25519', signer.key as webcrypto.CryptoKey, Buffer.from(text));
  return `${text}.${Buffer.from(signature).toString('base64url')}`;
}

test('no other algorithm, key or type is accepted', async () => {
  const { signer } = await signing();
  const keys = await keysAt('jwks.json');
  const own = keys.find(({ kid }) => kid === signer.kid);
  const checkpoint = keys.find(({ x }) => x === createPublicKey(checkpointKey).export({ format: 'jwk' }).x);
  const claims = encoded({ iss: issuer, amount: '1' });
  const typ = 'bursar-receipt+jwt';
  const with_ = (header: object, signature: (text: string) => Buffer): string => {
    const text = `${encoded(header)}.${claims}`;
    return `${text}.${signature(text).toString('base64url')}`;
  };
  const hmac = (text: string) =>
    createHmac('sha256', Buffer.from(own?.x ?? '', 'base64url'))
      .update(text)
      .digest();
  const stranger = generateKeyPairSync('ed25519');
  const byStranger = (text: string) => sign(null, Buffer.from(text), stranger.privateKey);
  const byCheckpointKey = (text: string) => sign(null, Buffer.from(text), checkpointKey);
  const jwk = stranger.publicKey.export({ format: 'jwk' });
  const kid = signer.kid;
  const unsigned = `${encoded({ alg: 'none', typ, kid })}.${claims}.`;
  const cases: readonly (readonly [string, string])[] = [
    [unsigned, 'malformed'],
    [`${unsigned}AAAA`, 'unsupported_algorithm'],
    [with_({ alg: 'HS256', typ, kid }, hmac), 'unsupported_algorithm'],
    [with_({ alg: 'ES256', typ, kid }, byStranger), 'unsupported_algorithm'],
    [with_({ alg: 'EdDSA', typ, kid }, byStranger), 'bad_signature'],
    [with_({ alg: 'EdDSA', typ, kid, jwk }, byStranger), 'bad_signature'],
    [with_({ alg: 'EdDSA', typ, kid: 'unknown' }, byStranger), 'unknown_key'],
    [with_({ alg: 'EdDSA', typ, jwk }, byStranger), 'unknown_key'],
    [with_({ alg: 'EdDSA', typ, kid: ['a'] }, byStranger), 'unknown_key'],
    [with_({ alg: 'EdDSA', typ, kid: checkpoint?.kid }, byCheckpointKey), 'unknown_key'],
    [with_({ alg: 'EdDSA', typ, kid, crit: ['exp'], exp: 1 }, byStranger), 'malformed'],
    [with_({ alg: 'EdDSA', typ: 'JWT', kid }, byStranger), 'unknown_type'],
    [with_({ alg: 'EdDSA', kid }, byStranger), 'unknown_type'],
    ['nothing', 'malformed'],
    ['a.b.c', 'malformed'],
    ['....', 'malformed'],
    [`${encoded([])}.${claims}.AAAA`, 'malformed'],
  ];
  for (const [token, reason] of cases)
    expect([token, await check(token)]).toEqual([
      token,
      expect.objectContaining({ valid: false, payload: null, reason }),
    ]);
});

test('an agent’s key verifies nothing of the service', async () => {
  const { agentId, owner } = await aPayer(world);
  const agent = { agentId, ownerId: owner.ownerId };
  const signer = await inDatabase(world, (database) =>
    database.write((tx) => agentSigningKey(tx, vault, agent, someone)),
  );
  const token = await signReceipt({ signer, issuer }, facts);
  expect(await check(token)).toMatchObject({ valid: false, reason: 'unknown_key' });
});

test('a token of up to 8192 characters is read, a longer one refused', async () => {
  expect(await check('x'.repeat(8_192))).toMatchObject({ reason: 'malformed' });
  for (const body of [{ token: 'x'.repeat(8_193) }, { token: '' }, {}, { token: 1 }, { token: 'a', more: 1 }])
    expect((await post(body)).status).toBe(400);
});

test('a rotated key is published first and signs later; what the former one signed stays valid', async () => {
  const before = await signing();
  const receipt = await aReceipt();
  const rotated = await inDatabase(world, (database) => database.write((tx) => rotateServiceKey(tx, vault, someone)));
  expect(rotated.activeFrom.getTime()).toBeGreaterThan(Date.now() + publishedBeforeUseMs - 60_000);
  expect((await keysAt('jwks.json')).map(({ kid }) => kid)).toEqual(
    expect.arrayContaining([before.signer.kid, rotated.kid]),
  );
  expect((await signing()).signer.kid).toBe(before.signer.kid);
  await world.sql('update signing_keys set active_from = clock_timestamp() where kid = $1', [rotated.kid]);
  expect((await signing()).signer.kid).toBe(rotated.kid);
  for (const one of [receipt, await aReceipt()]) {
    expect(await check(one)).toMatchObject({ valid: true });
    expect(isSignedBy(await keysAt('jwks.json'), one)).toBe(true);
  }
});

test('an agent’s set is empty until it signs; then one key is made, also by several at once, and is sealed', async () => {
  const { agentId, owner } = await aPayer(world);
  expect(await keysAt(`agents/${agentId}/jwks.json`)).toEqual([]);
  const signers = await inDatabase(world, (database) =>
    Promise.all(
      [0, 1].map(() =>
        database.write((tx) => agentSigningKey(tx, vault, { ownerId: owner.ownerId, agentId }, someone)),
      ),
    ),
  );
  const keys = await keysAt(`agents/${agentId}/jwks.json`);
  expect(keys).toHaveLength(1);
  expect(signers.map(({ kid }) => kid)).toEqual([keys[0]?.kid, keys[0]?.kid]);
  for (const signer of signers) expect(isSignedBy(keys, await signReceipt({ signer, issuer }, facts))).toBe(true);
  const [row] = await world.sql<{ sealed_private_key: string }>('select * from signing_keys where agent_id = $1', [
    agentId,
  ]);
  expect(row?.sealed_private_key.split('.')).toHaveLength(5);
  expect((await keysAt('jwks.json')).map(({ kid }) => kid)).not.toContain(keys[0]?.kid);
  await owner.client(agentsArea).closeAgent({ params: { id: agentId } });
  expect((await get(`agents/${agentId}/jwks.json`)).status).toBe(404);
});

test('an agent that is unknown or in the making has no set', async () => {
  const { agentId } = await aPayer(world);
  await world.sql('update agents set is_provisioning = true where id = $1', [agentId]);
  for (const id of [agentId, 'ag_aaaaaaaaaaaa']) expect((await get(`agents/${id}/jwks.json`)).status).toBe(404);
  expect((await get('agents/nobody/jwks.json')).status).toBe(400);
});

test('the discovery document names what is served, and GET / names it', async () => {
  const found = (await (await get('agent-payments.json')).json()) as Record<string, unknown>;
  expect(found).toMatchObject({
    name: 'Bursar',
    version: '0.5.0',
    issuer,
    jwksUri: `${issuer}/.well-known/jwks.json`,
    apiBase: issuer,
    paymentSchemes: ['Payment'],
    mpp: { alg: 'RSA-OAEP-256', enc: 'A256GCM' },
    dataResidency: 'EU',
  });
  const { endpoints } = (await (await fetch(world.apiUrl)).json()) as { endpoints: Record<string, string> };
  expect(endpoints.discovery).toBe('/.well-known/agent-payments.json');
});

const command = (args: readonly string[], vaultKey = world.config.BURSAR_VAULT_KEY) =>
  new Promise<{ code: number; said: string }>((resolve) => {
    const env = {
      PATH: process.env.PATH ?? '',
      DATABASE_URL: world.config.DATABASE_URL,
      BURSAR_VAULT_KEY: vaultKey,
    };
    const child = execFile(process.execPath, [program, 'keys', ...args], { env }, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, said: stdout + stderr }),
    );
  });
const auditOf = (subjectId: string) =>
  world.sql('select owner_id, agent_id, actor, action, details from audit where subject_id = $1 order by created_at', [
    subjectId,
  ]);

test('the command rotates with the key of the vault, and only with that', async () => {
  const { code, said } = await command(['rotate']);
  expect([code, said]).toEqual([0, expect.stringMatching(/^published the key [\w-]{43}, which signs from /)]);
  const kid = /key ([\w-]{43})/.exec(said)?.[1];
  expect((await keysAt('jwks.json')).map((key) => key.kid)).toContain(kid);
  const before = await keysAt('jwks.json');
  expect(await auditOf(kid ?? '')).toEqual([
    {
      owner_id: 'deployment',
      agent_id: null,
      actor: 'command',
      action: 'signing_keys.rotated',
      details: { activeFrom: expect.any(String) },
    },
  ]);
  const wrong = await command(['rotate'], Buffer.alloc(32, 7).toString('base64'));
  expect([wrong.code, wrong.said]).toEqual([2, expect.stringContaining('is not the key that sealed')]);
  expect(await keysAt('jwks.json')).toEqual(before);
});

test('a revoked key leaves the set at once, its receipts are invalid with a sentence, and another one signs', async () => {
  const receipt = await aReceipt();
  const { kid } = (await signing()).signer;
  const { code, said } = await command(['revoke', kid]);
  expect([code, said]).toEqual([0, expect.stringContaining(`revoked the key ${kid} of receipts and tokens`)]);
  expect((await keysAt('jwks.json')).map((key) => key.kid)).not.toContain(kid);
  expect(await check(receipt)).toEqual({
    valid: false,
    type: 'receipt',
    payload: null,
    reason: 'revoked_key',
    detail: expect.stringMatching(
      new RegExp(`^The key ${kid} was revoked at 20[-0-9T:.]+Z, so nothing that it signed is valid\\.$`),
    ),
  });
  const next = (await signing()).signer.kid;
  expect(next).not.toBe(kid);
  expect((await keysAt('jwks.json')).map((key) => key.kid)).toContain(next);
  expect(await check(await aReceipt())).toMatchObject({ valid: true });
  const audited = {
    owner_id: 'deployment',
    actor: 'command',
    action: 'signing_keys.revoked',
    details: { purpose: 'service', agentId: null },
  };
  expect(await auditOf(kid)).toContainEqual(expect.objectContaining(audited));
  const repeat = await command(['revoke', kid]);
  expect([repeat.code, repeat.said]).toEqual([0, expect.stringContaining('nothing was changed')]);
  expect((await signing()).signer.kid).toBe(next);
  expect((await auditOf(kid)).filter(({ action }) => action === 'signing_keys.revoked')).toHaveLength(1);
});

test('a revocation is final, also for who has the role of the application', async () => {
  const { kid } = (await signing()).signer;
  await command(['revoke', kid]);
  for (const later of ['null', `now() + interval '1 hour'`])
    await expect(world.sql(`update signing_keys set ends_at = ${later} where kid = $1`, [kid])).rejects.toThrow(
      'cannot be postponed',
    );
});

test('no key is revoked that does not exist, or that signs the checkpoints', async () => {
  const unknown = await command(['revoke', 'A'.repeat(43)]);
  expect([unknown.code, unknown.said]).toEqual([2, expect.stringContaining('no signing key')]);
  for (const args of [['revoke'], ['revoke', 'one', 'two'], ['rotate', 'one']])
    expect((await command(args)).said).toContain('usage: bursar');
  const rows = await world.sql<{ kid: string }>(
    `select kid from signing_keys where purpose = 'checkpoint' order by active_from desc, created_at desc`,
  );
  const [current, former] = rows.map(({ kid }) => kid);
  const refused = await command(['revoke', current ?? '']);
  expect([refused.code, refused.said]).toEqual([2, expect.stringContaining('signs the checkpoints')]);
  expect((await command(['revoke', former ?? ''])).code).toBe(0);
  const published = (await keysAt('jwks.json')).map((key) => key.kid);
  expect([published.includes(current ?? ''), published.includes(former ?? '')]).toEqual([true, false]);
});

describe('the signing key of an agent', () => {
  const aSigningAgent = async () => {
    const payer = await aPayer(world);
    const agents = payer.owner.client(agentsArea);
    await agents.updateAgent({ params: { id: payer.agentId }, body: { requestSignatures: 'both' } });
    const published = () => keysAt(`agents/${payer.agentId}/jwks.json`);
    const rotate = (body: { overlapMinutes?: number } = {}, headers: Record<string, string> = {}) =>
      agents.rotateAgentKey({ params: { id: payer.agentId }, body, headers });
    const agent = { agentId: payer.agentId, ownerId: payer.owner.ownerId };
    return { ...payer, agents, agent, published, rotate, kids: async () => (await published()).map(({ kid }) => kid) };
  };

  test('is audited when it is made, and once', async () => {
    const { agentId, agents, owner, kids } = await aSigningAgent();
    await agents.updateAgent({ params: { id: agentId }, body: { requestSignatures: 'web_bot_auth' } });
    const made = (await auditOf(agentId)).filter(({ action }) => action === 'agent_key.created');
    expect(made).toEqual([
      {
        owner_id: owner.ownerId,
        agent_id: agentId,
        actor: expect.stringMatching(/^key:key_/),
        action: 'agent_key.created',
        details: { kid: (await kids())[0] },
      },
    ]);
  });

  test('is rotated with an overlap, signs at once, and one rotation more cuts earlier overlaps', async () => {
    const { agentId, agent, kids, rotate } = await aSigningAgent();
    const [first = ''] = await kids();
    const before = Date.now();
    const rotated = await rotate();
    expect(rotated).toMatchObject({ agentId, formerKid: first });
    expect(Date.parse(rotated.formerUntil) - before).toBeGreaterThan(9 * 60_000);
    expect(await kids()).toEqual([rotated.kid, first]);
    const signer = await inDatabase(world, (database) =>
      database.write((tx) => agentSigningKey(tx, vault, agent, someone)),
    );
    expect(signer.kid).toBe(rotated.kid);
    expect(await eventsOf(world, agentId)).toContainEqual(expect.objectContaining({ name: 'agent_key.rotated' }));
    const second = await rotate({ overlapMinutes: 0 });
    expect(await kids()).toEqual([second.kid]);
  });

  test('is rotated once by a request that comes again, and by requests at once each in turn', async () => {
    const { kids, rotate } = await aSigningAgent();
    const headers = { 'Idempotency-Key': randomUUID() };
    const rotated = await rotate({}, headers);
    await world.sql('update idempotency set status = null, body = null, lease_until = null where key = $1', [
      headers['Idempotency-Key'],
    ]);
    expect(await rotate({}, headers)).toEqual(rotated);
    expect(await kids()).toHaveLength(2);
    await Promise.all([rotate(), rotate(), rotate()]);
    expect(await kids()).toHaveLength(5);
    const [row] = await world.sql('select count(*)::int from signing_keys where agent_id = $1 and ends_at is null', [
      rotated.agentId,
    ]);
    expect(row).toEqual({ count: 1 });
  });

  test('that was revoked is not published; the next signature has a new one', async () => {
    const { agent, kids, rotate } = await aSigningAgent();
    const [kid = ''] = await kids();
    expect((await command(['revoke', kid])).said).toContain(`of agent ${agent.agentId}`);
    expect(await kids()).toEqual([]);
    await expect(rotate()).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('no signing key yet'),
    });
    const signer = await inDatabase(world, (database) =>
      database.write((tx) => agentSigningKey(tx, vault, agent, someone)),
    );
    expect(await kids()).toEqual([signer.kid]);
  });

  test('is rotated by its owner alone, while the agent is open', async () => {
    const { agentId, agents, rotate, token } = await aSigningAgent();
    const stranger = (await world.owner()).client(agentsArea);
    await expect(stranger.rotateAgentKey({ params: { id: agentId }, body: {} })).rejects.toMatchObject({ status: 404 });
    await expect(
      world
        .as(token)
        .client(agentsArea)
        .rotateAgentKey({ params: { id: agentId }, body: {} }),
    ).rejects.toMatchObject({ status: 403 });
    await agents.closeAgent({ params: { id: agentId } });
    await expect(rotate()).rejects.toMatchObject({ status: 400 });
  });
});
