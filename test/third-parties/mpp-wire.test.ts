/**
 * Goal: our wire format of MPP agrees with mppx, another implementation. Method: our modules read what mppx writes and
 * mppx reads what they write; our HTTP client pays at an mppx merchant, over http and over TLS, without a database.
 * @module
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createMerchantKeys } from '../../src/adapters/merchant-keys/jwks.ts';
import { createPaidResource } from '../../src/adapters/paid-resource/http-402.ts';
import { parseAuthenticate } from '../../src/domains/payments/mpp/authenticate-header.rules.ts';
import { type Challenge, type ChargeRequest, chooseChallenge } from '../../src/domains/payments/mpp/challenge.wire.ts';
import { isChallengeIdOf } from '../../src/domains/payments/mpp/challenge-id.rules.ts';
import {
  type CardPayload,
  credentialHeader,
  digestFits,
  digestOf,
  readReceipt,
} from '../../src/domains/payments/mpp/credential.wire.ts';
import { keyInSet, readEncryptionKey, refusalOfJwksUri } from '../../src/domains/payments/mpp/encryption-key.rules.ts';
import { encryptPaymentToken } from '../../src/domains/payments/mpp/payment-token.encryption.ts';
import type { FirstAnswer } from '../../src/domains/payments/mpp-payments/paid-resource.port.ts';
import { createOutbound, type Outbound } from '../../src/outbound/outbound.ts';
import { seed } from '../support/seed.ts';
import { makeCertificates, openssl } from '../support/tls.ts';
import {
  installMppx,
  type MppxMerchant,
  type MppxPeer,
  schemes,
  startEnabler,
  startMppxMerchant,
  startMppxPeer,
} from './mppx/mppx.ts';

const secretKey = 'wire-secret-0123456789abcdef-0123456789';
const goodToken = 'spt_0123456789';
const declinedToken = 'spt_declined';

let peer: MppxPeer;
let merchant: MppxMerchant;
let enabler: Awaited<ReturnType<typeof startEnabler>>;
let outbound: Outbound;
let dir: string;
const charged: { paymentToken: string; amountCents: number }[] = [];
const trusted = getCACertificates('default');

beforeAll(async () => {
  await installMppx();
  dir = await mkdtemp(join(tmpdir(), 'bursar-mppx-'));
  if (openssl) {
    makeCertificates(dir);
    setDefaultCACertificates([...trusted, await readFile(join(dir, 'ca.pem'), 'utf8')]);
  }
  enabler = await startEnabler(async (order) => {
    charged.push({ paymentToken: order.paymentToken, amountCents: order.amountCents });
    return order.paymentToken === goodToken ? `auth_${charged.length}` : undefined;
  });
  const tls = openssl ? { key: join(dir, 'server.key'), certificate: join(dir, 'server.pem') } : undefined;
  [peer, merchant] = await Promise.all([
    startMppxPeer(),
    startMppxMerchant({ secretKey, enablerUrl: enabler.url, recipient: 'merch_interop', tls }),
  ]);
  outbound = createOutbound({ allowedOrigins: merchant.origins });
}, 180_000);

afterAll(async () => {
  setDefaultCACertificates(trusted);
  await Promise.all([peer.close(), merchant.close(), enabler.close(), outbound.close()]);
  await rm(dir, { recursive: true, force: true });
});

const shown: Omit<CardPayload, 'encryptedPayload'> = {
  network: 'visa',
  panLastFour: '4242',
  panExpirationMonth: '12',
  panExpirationYear: '2030',
};

function chosen(answer: FirstAnswer): { readonly challenge: Challenge; readonly charge: ChargeRequest } {
  if (answer.outcome !== 'payment_required') throw new Error(`not asked to pay: ${answer.reason}`);
  const choice = chooseChallenge(parseAuthenticate(answer.authenticate), Date.now());
  if (!choice.ok) throw new Error(choice.reasons.join('; '));
  return choice;
}

async function keyOf({ challenge, charge: { key } }: ReturnType<typeof chosen>) {
  if (key.kind === 'embedded') return readEncryptionKey(key.jwk);
  expect(refusalOfJwksUri(key.uri, challenge.realm)).toBeUndefined();
  const set = await createMerchantKeys({ outbound }).fetchKeySet(key.uri);
  if (set.outcome !== 'answered') throw new Error(set.why);
  return keyInSet(set.body, key.kid);
}

/** The credential that answers the merchant's challenge at that address. */
async function credentialFor(url: string, paymentToken = goodToken) {
  const first = await createPaidResource({ outbound, demandsPayment: () => false }).request(url);
  const choice = chosen(first);
  const key = await keyOf(choice);
  if (!key.ok) throw new Error(key.reason);
  const dynamicData = { dynamicDataValue: '', dynamicDataType: 'NONE', dynamicDataExpiration: 1_893_456_000 } as const;
  const token = { paymentToken, tokenExpirationMonth: '12', tokenExpirationYear: '2030', eci: '07' };
  const encryptedPayload = await encryptPaymentToken({ token, dynamicData }, key.jwk);
  const header = credentialHeader(choice.challenge, { ...shown, encryptedPayload });
  return { ...choice, header, url: first.outcome === 'payment_required' ? first.url : url };
}

async function present(presentation: { readonly url: string; readonly header: { name: string; value: string } }) {
  const answer = await createPaidResource({ outbound, demandsPayment: () => false }).present(presentation);
  if (answer.outcome !== 'answered') throw new Error(`no answer: ${answer.outcome}`);
  const body = new TextDecoder().decode(answer.body.bytes);
  return { status: answer.status, receipt: answer.receipt, body };
}

const problemOf = (body: string): string | undefined => (JSON.parse(body) as { type?: string }).type?.split('/').at(-1);

describe.each(schemes)('paying at a merchant over %s', (scheme) => {
  const at = (path: string): string => {
    const origin = merchant.origins.find((one) => one.startsWith(`${scheme}:`));
    return `${origin}${path}`;
  };

  test.each(['/paid', '/several', '/own-header'])('%s is paid, and the receipt is read', async (path) => {
    const before = (await merchant.records(path)).length;
    const { challenge, charge, header } = await credentialFor(at(path));
    expect(charge).toMatchObject({ amountCents: 499, recipient: 'merch_interop', merchantName: 'Café Übung' });
    expect(header.name).toBe(path === '/own-header' ? 'Payment-Authorization' : 'Authorization');
    const { status, receipt, body } = await present({ url: at(path), header });
    expect([status, JSON.parse(body)]).toEqual([200, { report: 'paid content', path }]);
    const reading = readReceipt(receipt ?? '', challenge.id);
    const [record, ...more] = (await merchant.records(path)).slice(before);
    expect(more).toEqual([]);
    expect(reading).toEqual({
      ok: true,
      receipt: {
        method: 'card',
        reference: record?.reference,
        timestamp: expect.any(String),
        challengeId: challenge.id,
        externalId: 'order_1',
      },
    });
    expect(record).toMatchObject({
      challengeId: challenge.id,
      payload: shown,
      opened: { token: { paymentToken: goodToken } },
    });
    expect(charged.at(-1)).toEqual({ paymentToken: goodToken, amountCents: 499 });
  });

  test('a redirect is followed before the payment', async () => {
    const { url, header } = await credentialFor(at('/moved'));
    expect(url).toBe(at('/paid'));
    expect((await present({ url, header })).status).toBe(200);
  });

  test('a card that is declined gets a new challenge and no receipt', async () => {
    const { header } = await credentialFor(at('/paid'), declinedToken);
    const { status, receipt, body } = await present({ url: at('/paid'), header });
    expect([status, receipt, problemOf(body)]).toEqual([402, null, 'verification-failed']);
  });

  test('a challenge is paid once', async () => {
    const { header } = await credentialFor(at('/paid'));
    const answers = await Promise.all([1, 2, 3].map(() => present({ url: at('/paid'), header })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 402, 402]);
    expect((await present({ url: at('/paid'), header })).status).toBe(402);
  });

  test('a merchant that fails after it charged sends no receipt', async () => {
    const { header, challenge } = await credentialFor(at('/charges-and-fails'));
    expect(await present({ url: at('/charges-and-fails'), header })).toMatchObject({ status: 500, receipt: null });
    const record = (await merchant.records('/charges-and-fails')).find(
      ({ challengeId }) => challengeId === challenge.id,
    );
    expect(record?.reference).toMatch(/^auth_/);
  });

  test.each([
    ['/dollars', 'the currency is usd'],
    ['/expired', 'the challenge expired'],
    ['/crypto-only', 'the method is tempo/charge'],
  ])('%s offers nothing that we pay: %s', async (path, reason) => {
    await expect(credentialFor(at(path))).rejects.toThrow(reason);
    expect(await merchant.records(path)).toEqual([]);
  });

  test.each<[string, (credential: Awaited<ReturnType<typeof credentialFor>>) => Partial<Challenge>]>([
    ['amount', ({ challenge }) => ({ request: otherAmount(challenge.request) })],
    ['expiry', () => ({ expires: '2035-01-01T00:00:00Z' })],
    ['realm', () => ({ realm: 'shop.example' })],
    ['order', () => ({ opaque: Buffer.from('{"order":"2"}').toString('base64url') })],
  ])('the merchant refuses a credential with another %s: ours come back unchanged', async (_part, change) => {
    const credential = await credentialFor(at('/paid'));
    const { encryptedPayload } = payloadOf(credential.header.value);
    const changed = { ...credential.challenge, ...change(credential) };
    const header = credentialHeader(changed, { ...shown, encryptedPayload });
    const { status, body } = await present({ url: at('/paid'), header });
    expect([status, problemOf(body)]).toEqual([402, 'invalid-challenge']);
  });

  test('a credential for another resource of the merchant, with another price, is refused', async () => {
    const { header } = await credentialFor(at('/paid'));
    const { status, body } = await present({ url: at('/other-price'), header });
    expect([status, problemOf(body)]).toEqual([402, 'invalid-challenge']);
  });

  test('a published key is used over https only', async () => {
    if (scheme === 'https') {
      const { header } = await credentialFor(at('/published-key'));
      expect((await present({ url: at('/published-key'), header })).status).toBe(200);
    } else await expect(credentialFor(at('/published-key'))).rejects.toThrow('localhost is this machine');
  });
});

// openssl makes the certificate: skipped on a machine without it.
(openssl ? test : test.skip)('a certificate of an unknown authority ends the connection', async () => {
  setDefaultCACertificates(trusted);
  const fresh = createOutbound({ allowedOrigins: merchant.origins });
  try {
    const [, origin] = merchant.origins;
    expect(
      await createPaidResource({ outbound: fresh, demandsPayment: () => false }).request(`${origin}/paid`),
    ).toMatchObject({
      outcome: 'unpayable',
      reason: 'unreachable',
    });
  } finally {
    await fresh.close();
    setDefaultCACertificates([...trusted, await readFile(join(dir, 'ca.pem'), 'utf8')]);
  }
});

type Made = { readonly header: string; readonly challenge: Record<string, unknown> & { readonly id: string } };

describe('challenges that mppx wrote', () => {
  const named = (name: string): string => `${name} (seed ${seed})`;
  let made: readonly Made[];
  beforeAll(async () => {
    made = await peer.ask<Made[]>('makeChallenges', { seed, count: 300, secretKey });
  });
  const read = (lines: readonly string[]) =>
    parseAuthenticate(lines).map(({ scheme, parameters, fault }) => {
      expect([scheme, fault]).toEqual(['payment', undefined]);
      return Object.fromEntries(parameters);
    });
  const bound = (parameters: Record<string, string>) => {
    const { realm = '', method = '', intent = '', request = '', expires, digest, header, opaque } = parameters;
    return { realm, method, intent, request, expires, digest, header, opaque };
  };

  test(named('are read with every value, and their ids are ours'), () => {
    for (const { header, challenge } of made) {
      const [parameters = {}] = read([header]);
      const { id, realm, expires, digest, header: credentialIn, opaque } = challenge;
      const expected = { id, realm, expires, digest, header: credentialIn, opaque };
      expect(parameters).toMatchObject(JSON.parse(JSON.stringify(expected)) as object);
      const request = Buffer.from(parameters.request ?? '', 'base64url').toString();
      expect(JSON.parse(request)).toEqual(challenge.request);
      expect(isChallengeIdOf(secretKey, bound(parameters), id)).toBe(true);
    }
  });

  test(named('are all found where they stand in one line, and in several'), () => {
    const ids = made.map(({ challenge }) => challenge.id);
    const headers = made.map(({ header }) => header);
    expect(read([headers.join(', ')]).map(({ id }) => id)).toEqual(ids);
    expect(read(headers).map(({ id }) => id)).toEqual(ids);
  });

  test(named('are known to mppx when our credential returns them'), async () => {
    const payload = { ...shown, encryptedPayload: 'a.b.c.d.e' };
    const credentials = made.flatMap(({ header }) => {
      const choice = chooseChallenge(parseAuthenticate([header]), Date.now());
      return choice.ok ? [credentialHeader(choice.challenge, payload).value] : [];
    });
    expect(credentials).toHaveLength(made.length);
    expect(await peer.ask('verify', { secretKey, credentials })).toEqual(credentials.map(() => true));
    const other = 'another-secret-0123456789abcdef-0123456789';
    expect(await peer.ask('verify', { secretKey: other, credentials })).toEqual(credentials.map(() => false));
  });
});

test.each(['', '{"a":1}', 'Ünïcödé €'])('the digest of %j is the same, with colons and without', async (body) => {
  const bytes = new TextEncoder().encode(body);
  const theirs = await peer.ask<string>('digest', { body });
  expect(digestFits(theirs, bytes)).toBe(true);
  expect(digestFits(theirs, new TextEncoder().encode(`${body} `))).toBe(false);
  expect(digestOf(bytes)).toBe(`sha-256=:${theirs.slice('sha-256='.length)}:`);
});

const otherAmount = (request: string): string => {
  const decoded = JSON.parse(Buffer.from(request, 'base64url').toString()) as object;
  return Buffer.from(JSON.stringify({ ...decoded, amount: '1' })).toString('base64url');
};

const payloadOf = (value: string): CardPayload =>
  (JSON.parse(Buffer.from(value.replace('Payment ', ''), 'base64url').toString()) as { payload: CardPayload }).payload;
