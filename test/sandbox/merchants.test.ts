/** The sandbox's merchants that answer 402: a challenge, one payment for it, and their programmed failures. @module */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CompactEncrypt, importJWK, type JWK } from 'jose';
import { startWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

type Challenge = Readonly<Record<string, string>>;

const get = (path: string, headers: Record<string, string> = {}) => fetch(`${world.url}${path}`, { headers });
const authorizations = () => world.bursar.of('authorizations');

async function challengeOf(answer: Response): Promise<Challenge> {
  const header = answer.headers.get('WWW-Authenticate') ?? '';
  return Object.fromEntries([...header.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]));
}
const requestOf = (challenge: Challenge) =>
  JSON.parse(Buffer.from(String(challenge.request), 'base64url').toString()) as {
    amount: string;
    recipient: string;
    methodDetails: { encryptionJwk: JWK };
  };

async function credentialFor(challenge: Challenge, paymentToken: string, key?: JWK): Promise<Record<string, string>> {
  const { encryptionJwk } = requestOf(challenge).methodDetails;
  const jwe = await new CompactEncrypt(new TextEncoder().encode(JSON.stringify({ token: { paymentToken } })))
    .setProtectedHeader({ alg: 'RSA-OAEP-256', enc: 'A256GCM', kid: 'k' })
    .encrypt(await importJWK(key ?? encryptionJwk, 'RSA-OAEP-256'));
  const credential = { challenge, payload: { encryptedPayload: jwe, network: 'visa' } };
  return { Authorization: `Payment ${Buffer.from(JSON.stringify(credential)).toString('base64url')}` };
}

const ready = async (path: string, fields: { ceilingCents?: number; merchantId?: string } = {}) => {
  const challenge = await challengeOf(await get(path));
  const { recipient } = requestOf(challenge);
  const token = await world.mint(await world.issue(), { merchantId: recipient, ...fields });
  return { challenge, token };
};

test('a request without a credential gets a challenge that nothing may keep', async () => {
  const answer = await get('/paid/sandbox-api?amountCents=1250');
  expect([answer.status, answer.headers.get('cache-control')]).toEqual([402, 'no-store']);
  const challenge = await challengeOf(answer);
  expect(challenge).toMatchObject({ method: 'card', intent: 'charge', id: expect.stringMatching(/^[\w-]{32}$/) });
  expect(requestOf(challenge)).toMatchObject({
    amount: '1250',
    currency: 'eur',
    recipient: 'm_sandbox_api',
    methodDetails: { acceptedNetworks: ['visa'], encryptionJwk: { kty: 'RSA', use: 'enc', alg: 'RSA-OAEP-256' } },
  });
  expect(requestOf(challenge).methodDetails.encryptionJwk).not.toHaveProperty('d');
});

test('a credential pays once; a repeat gets the same receipt and no second charge', async () => {
  const { challenge, token } = await ready('/paid/sandbox-api?amountCents=700');
  const before = authorizations().length;
  const headers = await credentialFor(challenge, token);
  const [first, second] = await Promise.all([
    get('/paid/sandbox-api?amountCents=700', headers),
    get('/paid/sandbox-api?amountCents=700', headers),
  ]);
  expect([first.status, second.status]).toEqual([200, 200]);
  expect(second.headers.get('payment-receipt')).toBe(first.headers.get('payment-receipt'));
  const again = await get('/paid/sandbox-api?amountCents=700', headers);
  expect(again.headers.get('payment-receipt')).toBe(first.headers.get('payment-receipt'));
  expect(await again.json()).toEqual({ report: 'paid content', merchant: 'sandbox-api' });
  expect(authorizations().length).toBe(before + 1);
});

describe('a credential that does not pay', () => {
  test.each([
    ['for another challenge', async ({ challenge, token }: Ready) => credentialFor({ ...challenge, id: 'x' }, token)],
    [
      'with another request',
      async ({ challenge, token }: Ready) => credentialFor({ ...challenge, expires: '2030-01-01T00:00:00Z' }, token),
    ],
    ['with an unknown token', async ({ challenge }: Ready) => credentialFor(challenge, 'spt_unknown')],
    ['that is no credential', async () => ({ Authorization: 'Payment %%%' })],
  ])('%s gets a fresh challenge, and nothing is charged', async (_what, headersOf) => {
    const one = await ready('/paid/sandbox-api?amountCents=700');
    const before = authorizations().length;
    const answer = await get('/paid/sandbox-api?amountCents=700', await headersOf(one));
    expect([answer.status, answer.headers.get('payment-receipt')]).toEqual([402, null]);
    expect((await challengeOf(answer)).id).not.toBe(one.challenge.id);
    expect(authorizations().length).toBe(before);
  });

  test('a token of another merchant, or with a lower ceiling, charges nothing', async () => {
    for (const fields of [{ merchantId: 'm_sandbox_shop' }, { ceilingCents: 699 }]) {
      const { challenge, token } = await ready('/paid/sandbox-api?amountCents=700', fields);
      const before = authorizations().length;
      const answer = await get('/paid/sandbox-api?amountCents=700', await credentialFor(challenge, token));
      expect([answer.status, authorizations().length]).toEqual([402, before]);
    }
  });
});

type Ready = Awaited<ReturnType<typeof ready>>;

test.each([
  ['sandbox-raises', 402, 0, false],
  ['sandbox-stumbles', 500, 1, false],
  ['sandbox-no-receipt', 200, 1, false],
  ['sandbox-gives-away', 200, 0, false],
  ['sandbox-api', 200, 1, true],
] as const)('%s answers %i, with %i charges', async (merchant, status, charges, hasReceipt) => {
  const path = `/paid/${merchant}?amountCents=300`;
  const { challenge, token } = await ready(path);
  const before = authorizations().length;
  const answer = await get(path, await credentialFor(challenge, token));
  expect([answer.status, answer.headers.has('payment-receipt')]).toEqual([status, hasReceipt]);
  expect(authorizations().length).toBe(before + charges);
  if (merchant === 'sandbox-raises') expect(requestOf(await challengeOf(answer)).amount).toBe('600');
});

test('an unknown merchant is 404, and a price that is no number 400', async () => {
  expect((await get('/paid/nobody')).status).toBe(404);
  expect((await get('/paid/sandbox-api?amountCents=x')).status).toBe(400);
});
