/**
 * Goal: a client of mppx pays where a challenge has our id, and its credential verifies with our id. Method: a server of
 * the test issues and verifies with our rules, over http and over TLS; mppx reads, pays and repeats the request.
 * @module
 */
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { compactDecrypt } from 'jose';
import { type BoundParts, challengeIdOf, isChallengeIdOf } from '../../src/domains/payments/mpp/challenge-id.rules.ts';
import { digestOf } from '../../src/domains/payments/mpp/credential.wire.ts';
import { type Listening, listening, makeCertificates, openssl } from '../support/tls.ts';
import { installMppx, type MppxPeer, schemes, startMppxPeer } from './mppx/mppx.ts';

const secret = 'client-secret-0123456789abcdef-0123456789';
const keys = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const { n, e } = keys.publicKey.export({ format: 'jwk' });
// The members in the order of the alphabet: the canonical form of RFC 8785.
const canonical = {
  amount: '499',
  currency: 'eur',
  methodDetails: {
    acceptedNetworks: ['visa'],
    encryptionJwk: { alg: 'RSA-OAEP-256', e, kid: 'k1', kty: 'RSA', n, use: 'enc' },
    merchantName: 'Café Übung',
  },
  recipient: 'merch_1',
};
const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

type Credential = {
  readonly challenge: BoundParts & { readonly id: string };
  readonly payload: { readonly encryptedPayload: string };
};
type Presented = { readonly credential: Credential; readonly isOurs: boolean; readonly token: unknown };

let peer: MppxPeer;
let servers: readonly { readonly scheme: string; readonly at: Listening }[];
let dir: string;
/** What the challenge says besides the required parts, and what stands before it in the header. */
let offer: { parts: Partial<BoundParts>; before: string } = { parts: {}, before: '' };
let presented: Presented[] = [];
let bodies: string[] = [];

beforeAll(async () => {
  await installMppx();
  dir = await mkdtemp(join(tmpdir(), 'bursar-mppx-client-'));
  if (openssl) makeCertificates(dir);
  const pem = (name: string) => readFile(join(dir, name));
  const listener: RequestListener = (request, response) => void serve(request, response);
  servers = [
    { scheme: 'http', at: await listening(createServer(listener)) },
    ...(openssl
      ? [
          {
            scheme: 'https',
            at: await listening(
              createSecureServer({ key: await pem('server.key'), cert: await pem('server.pem') }, listener),
            ),
          },
        ]
      : []),
  ];
  peer = await startMppxPeer(openssl ? join(dir, 'ca.pem') : undefined);
}, 180_000);
afterAll(async () => {
  await peer.close();
  await Promise.all(servers.map(({ at }) => at.close()));
  await rm(dir, { recursive: true, force: true });
});
beforeEach(() => {
  offer = { parts: {}, before: '' };
  presented = [];
  bodies = [];
});

function demand(response: ServerResponse): void {
  const parts: BoundParts = {
    ...{ realm: 'shop.example', method: 'card', intent: 'charge', request: encoded(canonical) },
    expires: new Date(Date.now() + 60_000).toISOString(),
    ...offer.parts,
  };
  const parameters = Object.entries({ id: challengeIdOf(secret, parts), ...parts });
  const challenge = `Payment ${parameters.map(([name, value]) => `${name}="${value}"`).join(', ')}`;
  response.writeHead(402, { 'WWW-Authenticate': `${offer.before}${challenge}`, 'Cache-Control': 'no-store' }).end('{}');
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  bodies.push(Buffer.concat(chunks).toString());
  const header = request.headers[offer.parts.header?.toLowerCase() ?? 'authorization'];
  const value = /^Payment ([A-Za-z0-9_-]+)$/.exec(String(header))?.[1];
  if (value === undefined) return demand(response);
  const credential = JSON.parse(Buffer.from(value, 'base64url').toString()) as Credential;
  const isOurs = isChallengeIdOf(secret, credential.challenge, credential.challenge.id);
  const { plaintext } = await compactDecrypt(credential.payload.encryptedPayload, keys.privateKey);
  presented.push({ credential, isOurs, token: JSON.parse(new TextDecoder().decode(plaintext)) });
  if (!isOurs) return demand(response);
  const receipt = encoded({
    method: 'card',
    status: 'success',
    reference: 'auth_1',
    timestamp: '2026-03-01T12:00:00Z',
  });
  response.writeHead(200, { 'Payment-Receipt': receipt }).end('the report');
}

const pay = (scheme: string, init: object = {}): Promise<{ status: number; receipt: string | null; body: string }> => {
  const address = servers.find((server) => server.scheme === scheme)?.at.address;
  return peer.ask('pay', { url: `${scheme}://${address}/report`, paymentToken: 'spt_0123456789', init });
};

describe.each(schemes)('over %s', (scheme) => {
  test.each<[string, Partial<BoundParts>, string]>([
    ['the required parts', {}, ''],
    ['an order', { opaque: encoded({ note: 'naïve "x"', order: '1' }) }, ''],
    ['its own header', { header: 'Payment-Authorization' }, ''],
    [
      'an offer of cryptocurrency before it',
      {},
      `Payment id="a", realm="b", method="tempo", intent="charge", request="e30", `,
    ],
    ['another scheme before it', {}, 'Bearer realm="x, Payment id=fake", '],
  ])('a challenge with %s is paid once, and comes back as it was', async (_name, parts, before) => {
    offer = { parts, before };
    expect(await pay(scheme)).toMatchObject({ status: 200, receipt: expect.any(String), body: 'the report' });
    expect(presented).toEqual([
      {
        isOurs: true,
        token: expect.objectContaining({ token: expect.objectContaining({ paymentToken: 'spt_0123456789' }) }),
        credential: expect.objectContaining({ challenge: expect.objectContaining(parts) }),
      },
    ]);
  });

  test('a challenge with our digest of the body is paid by the same body', async () => {
    const body = '{"question":"Übung?"}';
    offer = { parts: { digest: digestOf(new TextEncoder().encode(body)) }, before: '' };
    expect(await pay(scheme, { method: 'POST', body })).toMatchObject({ status: 200 });
    expect(bodies).toEqual([body, body]);
    expect(presented).toMatchObject([{ isOurs: true, credential: { challenge: offer.parts } }]);
  });
});

test('a request that is not canonical comes back canonical, and its id is not ours any more', async () => {
  const { amount, ...others } = canonical;
  offer = { parts: { request: encoded({ ...others, amount }) }, before: '' };
  expect((await pay('http')).status).toBe(402);
  expect(presented.map(({ isOurs }) => isOurs)).toEqual([false, false, false]);
  expect(new Set(presented.map(({ credential }) => credential.challenge.request))).toEqual(
    new Set([encoded(canonical)]),
  );
});

test('an expired challenge is not paid', async () => {
  offer = { parts: { expires: new Date(Date.now() - 1_000).toISOString() }, before: '' };
  await expect(pay('http')).rejects.toThrow('PaymentExpired');
  expect(presented).toEqual([]);
});
