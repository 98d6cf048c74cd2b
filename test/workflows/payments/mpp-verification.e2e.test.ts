/**
 * Goal: a merchant uses a credential up once, whatever the order of verification, authorization and clearing: one hold,
 * one collection, one completion. Method: a registered merchant over real HTTP, the real workflow, a signing network.
 * @module
 */
import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { createClient, sendTo } from '../../../src/client/client.ts';
import { merchantsArea } from '../../../src/domains/merchants/merchants/merchant.contract.ts';
import { mppCredentialsArea } from '../../../src/domains/payments/mpp-credentials/mpp-credential.contract.ts';
import { type CheckoutWorld, startCheckoutWorld } from '../../support/checkout-world.ts';
import { aKeyPair, proofOf, registeredMerchant } from '../../support/factories/merchants.ts';
import { apiShop, credentialRow, eventNamesOf } from '../../support/mpp-world.ts';
import { challengeHeader, openCredential, readChallengeHeader } from '../../support/payment-challenges.ts';
import {
  type Authorized,
  anIntent,
  balancesOf,
  brokenInvariants,
  expireIn,
  journalsOf,
  networkOf,
  type Payer,
} from '../../support/payments-world.ts';

type Merchant = { readonly id: string; readonly secret: string; readonly jwk: object; readonly privateKey: KeyObject };

let w: CheckoutWorld;
let network: ReturnType<typeof networkOf>;
let merchant: Merchant;
let other: Merchant;
beforeAll(async () => {
  w = await startCheckoutWorld();
  network = networkOf(w.world);
  [merchant, other] = [await aMerchant(), await aMerchant()];
});
afterAll(async () => {
  expect(await brokenInvariants(w.world)).toEqual([]);
  await w.close();
});

async function aMerchant(): Promise<Merchant> {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const jwk = { ...publicKey.export({ format: 'jwk' }), alg: 'RSA-OAEP-256', use: 'enc', kid: randomUUID() };
  const registered = await registeredMerchant(await w.world.owner(), { encryptionJwk: jwk }, privateKey);
  return { id: registered.id, secret: registered.merchant_secret_key, jwk, privateKey };
}

type Minted = { id: string; token: string; challengeId: string; intentId: string };

async function minted(payer: Payer, over: Parameters<typeof challengeHeader>[0] = {}): Promise<Minted> {
  const intentId = await anIntent(w.world, payer, { merchant: apiShop.id });
  const challenge = challengeHeader({ keySource: { encryptionJwk: merchant.jwk }, ...over });
  const body = { challenge, intentId, cardId: payer.cardId };
  const answer = await createClient(mppCredentialsArea, sendTo(w.apiUrl, payer.token)).mintMppCredential({ body });
  expect(answer.merchant_id).toBe(merchant.id);
  const { plaintext } = await openCredential(answer.credential, merchant.privateKey);
  const challengeId = readChallengeHeader(challenge).challenge.id;
  return { id: answer.id, token: plaintext.token.paymentToken, challengeId, intentId };
}

type Answer = { status: number; type: string | null; body: Record<string, unknown> };

async function post(
  path: string,
  as: Merchant = merchant,
  headers: Record<string, string> = {},
  expected?: object,
): Promise<Answer> {
  const answer = await fetch(`${w.apiUrl}/v1/mpp/credentials/${path}`, {
    method: 'POST',
    headers: {
      'X-Merchant-Key': as.secret,
      ...(expected === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(expected === undefined ? {} : { body: JSON.stringify(expected) }),
  });
  const body = (await answer.json()) as Record<string, unknown>;
  return { status: answer.status, type: answer.headers.get('Content-Type'), body };
}
const verify = ({ id }: { id: string }, as?: Merchant, headers?: Record<string, string>) =>
  post(`${id}/verify`, as, headers);

const verifyExpecting = ({ id }: { id: string }, expected: object, key: string = randomUUID()) =>
  post(`${id}/verify`, merchant, { 'Idempotency-Key': key }, expected);

const buyer = () => w.payer({ fundsCents: 10_000 });
const intentStatus = async (id: string) =>
  (await w.world.sql<{ status: string }>('select status from intents where id = $1', [id]))[0]?.status;
const transactionsOf = (intentId: string) =>
  w.world.sql<{ id: string; rail: string; status: string; authorization_id: string | null }>(
    'select id, rail, status, authorization_id from transactions where intent_id = $1',
    [intentId],
  );
const authorization = (payer: Payer, { token }: Minted, over: Record<string, unknown> = {}) =>
  network.authorizationOf(payer, { token, merchant: apiShop, ...over });

// spec: state:MPP credential:consumed
// spec: event:mpp.credential.consumed
// spec: event:mpp.transaction.completed
test('a merchant verifies a credential: the intent is completed, and the receipt verifies with the published keys', async () => {
  const payer = await buyer();
  const credential = await minted(payer);
  const { status, body } = await verify(credential);
  expect([status, body]).toEqual([
    200,
    {
      id: credential.id,
      status: 'consumed',
      intent_id: credential.intentId,
      amount_euros: 12.5,
      currency: 'EUR',
      par: null,
      transaction_id: expect.stringMatching(/^tx_/),
      receipt: expect.any(String),
    },
  ]);
  expect(await intentStatus(credential.intentId)).toBe('completed');
  expect(await transactionsOf(credential.intentId)).toEqual([
    { id: body.transaction_id, rail: 'mpp', status: 'pending', authorization_id: null },
  ]);
  expect(await eventNamesOf(w.world, credential.id)).toEqual([
    'mpp.credential.minted',
    'mpp.credential.consumed',
    'mpp.transaction.completed',
  ]);
  const published = await fetch(`${w.apiUrl}/.well-known/jwks.json`);
  const keys = createLocalJWKSet((await published.json()) as JSONWebKeySet);
  const { payload } = await jwtVerify(String(body.receipt), keys);
  expect(payload).toMatchObject({
    jti: credential.id,
    reference: body.transaction_id,
    challengeId: credential.challengeId,
    merchantId: merchant.id,
    amount: '1250',
  });
  expect(await balancesOf(w.world, payer)).toEqual({ available: 10_000, held: 0, receivable: 0 });
});

describe('every order pays once', () => {
  const orders = [
    ['verify', 'authorize', 'clear'],
    ['authorize', 'verify', 'clear'],
    ['authorize', 'clear', 'verify'],
    ['clear', 'authorize', 'verify'],
    ['clear', 'verify', 'authorize'],
    ['verify', 'clear', 'authorize'],
  ] as const;
  test.each(orders)('%s, %s, %s', async (...order) => {
    const payer = await buyer();
    const credential = await minted(payer);
    const message = authorization(payer, credential);
    const steps = {
      verify: async () => expect((await verify(credential)).status).toBe(200),
      authorize: async () => {
        const { body } = await network.send<Authorized>('authorizations', message);
        expect(body.decision).toBe('approved');
      },
      clear: () => network.clear(payer, { authorizationId: message.id, merchant: apiShop }),
    };
    for (const step of order) await steps[step]();
    expect(await balancesOf(w.world, payer)).toEqual({ available: 8_750, held: 0, receivable: 0 });
    expect((await transactionsOf(credential.intentId)).map(({ rail, status }) => [rail, status])).toEqual([
      ['mpp', 'completed'],
    ]);
    expect(await journalsOf(w.world, payer.owner.ownerId)).toHaveLength(2);
    expect(await intentStatus(credential.intentId)).toBe('completed');
    const names = await eventNamesOf(w.world, credential.id);
    expect(names.slice(1).sort()).toEqual(['mpp.credential.consumed', 'mpp.transaction.completed']);
    expect((await verify(credential)).status).toBe(409);
    expect((await network.authorize(payer, { token: credential.token, merchant: apiShop })).body).toMatchObject({
      decision: 'declined',
    });
    expect(await balancesOf(w.world, payer)).toEqual({ available: 8_750, held: 0, receivable: 0 });
  });

  test('both at once, ten times each: one hold, one verification', async () => {
    const payer = await buyer();
    const credential = await minted(payer);
    const [verified, authorized] = await Promise.all([
      Promise.all(Array.from({ length: 10 }, () => verify(credential))),
      Promise.all(
        Array.from({ length: 10 }, () => network.authorize(payer, { token: credential.token, merchant: apiShop })),
      ),
    ]);
    expect(verified.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 9 }, () => 409)]);
    expect(authorized.filter(({ body }) => body.decision === 'approved')).toHaveLength(1);
    expect(await balancesOf(w.world, payer)).toEqual({ available: 8_750, held: 1_250, receivable: 0 });
    expect((await transactionsOf(credential.intentId)).filter(({ status }) => status !== 'failed')).toHaveLength(1);
  });
});

describe('refusals are problem details', () => {
  const problem = (status: number, code: string, title: string, detail: unknown) => ({
    status,
    type: 'application/problem+json; charset=utf-8',
    body: { type: `urn:bursar:problem:${code}`, title, status, detail, error: detail },
  });

  test('409 for the second time, also by the id of the challenge', async () => {
    const credential = await minted(await buyer());
    expect((await post(`by-challenge/${credential.challengeId}/verify`)).status).toBe(200);
    const detail = `credential ${credential.id} was verified before`;
    expect(await verify(credential)).toEqual(problem(409, 'conflict', 'Conflict', detail));
    expect((await post(`by-challenge/${credential.challengeId}/verify`)).status).toBe(409);
  });

  test('400 with both figures for another amount, currency or payee than expected; nothing is consumed', async () => {
    const payer = await buyer();
    const credential = await minted(payer);
    const key = randomUUID();
    const [is, consumed] = [`credential ${credential.id}`, 'nothing was consumed'];
    for (const [expected, words] of [
      [{ expectedAmountEuros: 12.51 }, `${is} is for 12.50 EUR, expected 12.51 EUR; ${consumed}`],
      [{ expectedAmountEuros: 0 }, `${is} is for 12.50 EUR, expected 0.00 EUR; ${consumed}`],
      [{ expectedCurrency: 'usd' }, `${is} is for 12.50 EUR, expected 12.50 USD; ${consumed}`],
      [{ expectedPayee: 'merch_2' }, `${is} pays recipient ${apiShop.id}, expected merch_2; ${consumed}`],
    ] as const) {
      expect(await verifyExpecting(credential, expected, key)).toEqual(
        problem(400, 'invalid_state', 'Bad Request', words),
      );
    }
    expect(
      (await post(`by-challenge/${credential.challengeId}/verify`, merchant, {}, { expectedAmountEuros: 1 })).status,
    ).toBe(400);
    expect((await verifyExpecting(credential, { expectedAmount: 12.5 })).body.type).toBe(
      'urn:bursar:problem:invalid_request',
    );
    expect(await credentialRow(w.world, credential.id)).toMatchObject({ status: 'minted', transaction_id: null });
    expect([await intentStatus(credential.intentId), await transactionsOf(credential.intentId)]).toEqual([
      'approved',
      [],
    ]);
    expect(await eventNamesOf(w.world, credential.id)).toEqual(['mpp.credential.minted']);
    const fitting = { expectedAmountEuros: 12.5, expectedCurrency: 'eur', expectedPayee: apiShop.id };
    expect((await verifyExpecting(credential, fitting, key)).status).toBe(200);
    // Sold is sold, whatever a second call expects.
    expect((await verifyExpecting(credential, { expectedAmountEuros: 1 })).status).toBe(409);
  });

  test('400 for another amount after the charge too; the merchant verifies it with the right one', async () => {
    const payer = await buyer();
    const credential = await minted(payer);
    await network.send('authorizations', authorization(payer, credential));
    expect((await verifyExpecting(credential, { expectedAmountEuros: 99 })).status).toBe(400);
    expect((await verifyExpecting(credential, { expectedAmountEuros: 12.5 })).status).toBe(200);
  });

  test('404 for another merchant, for an unknown id and an unknown challenge', async () => {
    const credential = await minted(await buyer());
    const detail = `no MPP credential ${credential.id}`;
    expect(await verify(credential, other)).toEqual(problem(404, 'not_found', 'Not Found', detail));
    expect((await post(`by-challenge/${credential.challengeId}/verify`, other)).status).toBe(404);
    expect((await post('mppc_unknown000/verify')).status).toBe(404);
    expect((await post('by-challenge/unknown/verify')).status).toBe(404);
    expect(await credentialRow(w.world, credential.id)).toMatchObject({ status: 'minted' });
  });

  test('401 without a key, 400 for what is no id', async () => {
    const nobody = { ...merchant, secret: 'mer_sk_unknown' };
    expect(await post('mppc_unknown000/verify', nobody)).toMatchObject(
      problem(401, 'unauthenticated', 'Unauthorized', expect.any(String)),
    );
    expect(await post('tx_unknown000/verify')).toMatchObject(
      problem(400, 'invalid_request', 'Bad Request', expect.stringContaining('mppc_')),
    );
  });

  test('410 after the expiry, and for an intent that was cancelled', async () => {
    const credential = await minted(await buyer());
    await w.world.sql(`update mpp_credentials set expires_at = now() - interval '1 second' where id = $1`, [
      credential.id,
    ]);
    expect(await verify(credential)).toMatchObject(problem(410, 'gone', 'Gone', expect.stringContaining('expired at')));
    expect((await post(`by-challenge/${credential.challengeId}/verify`)).status).toBe(410);
    const cancelled = await minted(await buyer());
    await w.world.sql(`update intents set status = 'cancelled' where id = $1`, [cancelled.intentId]);
    expect((await verify(cancelled)).status).toBe(410);
  });

  test('409 where the charge was declined or reversed', async () => {
    const [payer, second] = [await buyer(), await buyer()];
    const declined = await minted(payer);
    await network.send('authorizations', authorization(payer, declined, { amountCents: 1_251 }));
    expect(await verify(declined)).toMatchObject({ status: 409 });
    const reversed = await minted(second);
    const message = authorization(second, reversed);
    await network.send('authorizations', message);
    await network.reverse(second, { authorizationId: message.id });
    expect(await verify(reversed)).toMatchObject({ status: 409 });
  });
});

test('the same Idempotency-Key answers the same, also where the first answer was lost', async () => {
  const credential = await minted(await buyer());
  const key = randomUUID();
  const first = await verify(credential, merchant, { 'Idempotency-Key': key });
  expect((await verify(credential, merchant, { 'Idempotency-Key': key })).body).toEqual(first.body);
  await w.world.sql('update idempotency set status = null, body = null, lease_until = null where key = $1', [key]);
  const again = await verify(credential, merchant, { 'Idempotency-Key': key });
  expect([again.status, again.body.transaction_id]).toEqual([200, first.body.transaction_id]);
  expect(await eventNamesOf(w.world, credential.id)).toHaveLength(3);
});

test('a verified credential that no authorization follows ends as a failed transaction, and nothing was booked', async () => {
  const payer = await buyer();
  const credential = await minted(payer);
  const { body } = await verify(credential);
  const eightDays = 8 * 24 * 3_600_000;
  await expireIn(w.world, new Date(Date.now() + eightDays));
  expect(await transactionsOf(credential.intentId)).toMatchObject([{ id: body.transaction_id, status: 'failed' }]);
  expect(await balancesOf(w.world, payer)).toEqual({ available: 10_000, held: 0, receivable: 0 });
});

test('a challenge that names a registered merchant with another key is refused', async () => {
  const payer = await buyer();
  const intentId = await anIntent(w.world, payer, { merchant: merchant.id });
  const challenge = challengeHeader({ recipient: merchant.id });
  const body = { challenge, intentId, cardId: payer.cardId };
  await expect(
    createClient(mppCredentialsArea, sendTo(w.apiUrl, payer.token)).mintMppCredential({ body }),
  ).rejects.toMatchObject({ status: 400, message: expect.stringContaining('is not that merchant’s') });
});

test('after a rotation both keys of a merchant are answered and verified for the overlap, then the new ones alone', async () => {
  const owner = await w.world.owner();
  const [former, next] = [aKeyPair(), aKeyPair()];
  const { id, merchant_secret_key: formerSecret } = await registeredMerchant(
    owner,
    { encryptionJwk: former.jwk },
    former.privateKey,
  );
  const api = owner.client(merchantsArea);
  const params = { id } as const;
  const added = await api.createMerchantEncryptionKey({ params, body: { encryptionJwk: next.jwk } });
  const proof = await proofOf(added.key_challenge, next.privateKey);
  await api.activateMerchantEncryptionKey({ params, body: { proof } });
  const { merchant_secret_key: nextSecret } = await api.rotateMerchantKey({ params, body: {} });
  const rotated = (secret: string) => ({ ...merchant, id, secret });
  const mintFor = async ({ jwk }: typeof former) => {
    const payer = await buyer();
    const intentId = await anIntent(w.world, payer, { merchant: apiShop.id });
    const body = {
      challenge: challengeHeader({ keySource: { encryptionJwk: jwk } }),
      ...{ intentId, cardId: payer.cardId },
    };
    return createClient(mppCredentialsArea, sendTo(w.apiUrl, payer.token)).mintMppCredential({ body });
  };
  for (const [pair, secret] of [
    [former, nextSecret],
    [next, formerSecret],
  ] as const) {
    const credential = await mintFor(pair);
    expect(credential.merchant_id).toBe(id);
    expect((await verify(credential, rotated(secret))).status).toBe(200);
  }
  // The overlap is over.
  await w.world.sql('update merchant_encryption_keys set valid_until = now() where thumbprint = $1', [
    (await api.getMerchant({ params })).encryptionKeys.find(({ status }) => status === 'replaced')?.thumbprint,
  ]);
  await api.rotateMerchantKey({ params, body: { overlapHours: 0 } });
  await expect(mintFor(former)).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining(`merchant ${id} has replaced the encryption key`),
  });
  const credential = await mintFor(next);
  expect((await verify(credential, rotated(formerSecret))).status).toBe(401);
});
