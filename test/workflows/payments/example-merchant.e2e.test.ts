/**
 * Goal: the merchant of docs/accepting.md runs as it is printed there, sells once for each challenge, and sells nothing
 * for less. Method: the file itself as a process, Bursar with its worker and the sandbox, the real payer.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createClient, sendTo } from '../../../src/client/client.ts';
import { mppCredentialsArea } from '../../../src/domains/payments/mpp-credentials/mpp-credential.contract.ts';
import { mppPaymentsArea } from '../../../src/domains/payments/mpp-payments/mpp-payment.contract.ts';
import { freePort } from '../../../src/supervisor/ports.ts';
import { type CheckoutWorld, startCheckoutWorld } from '../../support/checkout-world.ts';
import {
  acceptingPage,
  type ExampleMerchant,
  type ExampleMerchantFolder,
  exampleMerchantFolder,
} from '../../support/example-merchant.ts';
import { anIntent, balancesOf, brokenInvariants, type Payer } from '../../support/payments-world.ts';
import { eventually } from '../../support/world.ts';

const merchantId = 'acme-reports';
/** The page makes another one at each start; servers of one merchant share it. */
const CHALLENGE_SECRET = 'a-secret-of-two-servers-0123456789abcdef';

let w: CheckoutWorld;
let folder: ExampleMerchantFolder;
let merchantKey: string;
let merchant: ExampleMerchant;

beforeAll(async () => {
  const port = await freePort();
  w = await startCheckoutWorld({ allowedOrigins: [`http://127.0.0.1:${port}`] });
  folder = await exampleMerchantFolder({ BURSAR_URL: w.apiUrl, ACQUIRER_URL: w.sandboxUrl });
  const registered = await folder.register('invite-4711', (await w.world.owner()).key);
  expect(registered.slug).toBe(merchantId);
  merchantKey = registered.merchant_secret_key;
  merchant = await folder.start(port, { MERCHANT_KEY: merchantKey });
});
afterAll(async () => {
  await merchant.close();
  await folder.remove();
  expect(await brokenInvariants(w.world)).toEqual([]);
  await w.close();
});

const buyer = () => w.payer({ policy: { require_intent: true }, fundsCents: 2_000 });
const reportIntent = (payer: Payer, amountCents = 499) =>
  anIntent(w.world, payer, { merchant: merchantId, amountCents });
const report = (credential?: string, { origin } = merchant) =>
  fetch(`${origin}/report`, credential === undefined ? {} : { headers: { Authorization: `Payment ${credential}` } });
const demanded = async (by = merchant) => (await report(undefined, by)).headers.get('www-authenticate') ?? '';
const transactionsOf = (payer: Payer) =>
  w.world.sql('select status, rail, amount_cents from transactions where card_id = $1', [payer.cardId]);

async function credentialFor(payer: Payer, challenge: string, amountCents = 499): Promise<string> {
  const body = { challenge, intentId: await reportIntent(payer, amountCents), cardId: payer.cardId };
  return (await createClient(mppCredentialsArea, sendTo(w.apiUrl, payer.token)).mintMppCredential({ body })).credential;
}

type Json = { [name: string]: Json } & string;
const decoded = (text: string): Json => JSON.parse(Buffer.from(text, 'base64url').toString()) as Json;
const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

async function expectRefusal(answer: Response, code: string): Promise<void> {
  const { status, headers } = answer;
  expect([status, headers.get('content-type')]).toEqual([402, 'application/problem+json']);
  expect([headers.get('cache-control'), headers.get('payment-receipt')]).toEqual(['no-store', null]);
  expect(headers.get('www-authenticate')).toMatch(/^Payment id="[\w-]{43}", realm="reports.example", method="card"/);
  expect(await answer.json()).toMatchObject({ type: `https://paymentauth.org/problems/${code}`, status: 402 });
}

test('an agent pays with one request: the report, a receipt, one transaction', async () => {
  const payer = await buyer();
  const answer = await createClient(mppPaymentsArea, sendTo(w.apiUrl, payer.token)).payAtMerchant({
    body: { url: `${merchant.origin}/report`, intentId: await reportIntent(payer), cardId: payer.cardId },
  });
  expect(answer).toMatchObject({ status: 'paid', merchant_status: 200, merchant_body: { report: 'paid content' } });
  expect(decoded(answer.receipt)).toEqual({
    challengeId: expect.stringMatching(/^[\w-]{43}$/),
    method: 'card',
    reference: expect.stringMatching(/^auth_/),
    status: 'success',
    timestamp: expect.stringMatching(/Z$/),
  });
  await eventually(
    () => transactionsOf(payer),
    ([first]) => first?.status === 'completed',
  );
  expect(await transactionsOf(payer)).toEqual([{ status: 'completed', rail: 'mpp', amount_cents: '499' }]);
  const { data } = await createClient(mppCredentialsArea, sendTo(w.apiUrl, payer.token)).listMppCredentials({});
  expect(data).toEqual([
    expect.objectContaining({
      id: answer.credential_id,
      status: 'consumed',
      merchantId: expect.stringMatching(/^mer_/),
    }),
  ]);
  const intents = await w.world.sql('select status from intents where agent_id = $1', [payer.agentId]);
  expect(intents).toEqual([{ status: 'completed' }]);
  expect(await balancesOf(w.world, payer)).toMatchObject({ available: 1_501, held: 0 });
});

test('12 copies of a credential at once sell one report; a later copy sells none', async () => {
  const payer = await buyer();
  const credential = await credentialFor(payer, await demanded());
  const answers = await Promise.all(Array.from({ length: 12 }, () => report(credential)));
  const sold = answers.filter(({ status }) => status === 200);
  expect(sold).toHaveLength(1);
  expect(sold[0]?.headers.get('cache-control')).toBe('private');
  for (const answer of answers.filter((one) => one !== sold[0])) await expectRefusal(answer, 'invalid-challenge');
  await expectRefusal(await report(credential), 'invalid-challenge');
  expect(await transactionsOf(payer)).toHaveLength(1);
});

describe('sells nothing', () => {
  const altered = (credential: string, change: (one: Json) => unknown): string => {
    const content = decoded(credential);
    change(content);
    return encoded(content);
  };
  const cheaper = (request: string): string => encoded({ ...(decoded(request) as object), amount: '1' });

  test.each<[string, string, (one: Json) => unknown]>([
    [
      'a lower amount',
      'invalid-challenge',
      ({ challenge }) => Object.assign(challenge!, { request: cheaper(challenge!.request!) }),
    ],
    [
      'a later expiry',
      'invalid-challenge',
      ({ challenge }) => Object.assign(challenge!, { expires: '2031-01-01T00:00:00.000Z' }),
    ],
    ['another realm', 'invalid-challenge', ({ challenge }) => Object.assign(challenge!, { realm: 'other.example' })],
    ['another id', 'invalid-challenge', ({ challenge }) => Object.assign(challenge!, { id: 'x' })],
    ['no challenge', 'invalid-challenge', (one) => Reflect.deleteProperty(one, 'challenge')],
    ['no payload', 'invalid-payload', (one) => Reflect.deleteProperty(one, 'payload')],
    ['another card network', 'verification-failed', ({ payload }) => Object.assign(payload!, { network: 'amex' })],
    [
      'a token that it cannot decrypt',
      'verification-failed',
      ({ payload }) => Object.assign(payload!, { encryptedPayload: 'a.b.c.d.e' }),
    ],
  ])('for %s: %s', async (_what, code, change) => {
    const payer = await buyer();
    const credential = await credentialFor(payer, await demanded());
    await expectRefusal(await report(altered(credential, change)), code);
    expect(await transactionsOf(payer)).toEqual([]);
    // The challenge itself is not used up by what was altered.
    expect((await report(credential)).status).toBe(200);
  });

  test.each([
    ['no JSON', 'e30x', 'malformed-credential'],
    ['JSON that is no object', encoded(null), 'invalid-challenge'],
    ['no base64url', 'a b', 'malformed-credential'],
  ])('for %s', async (_what, credential, code) => {
    await expectRefusal(await report(credential), code);
  });

  test('without a credential, and with one of another scheme', async () => {
    await expectRefusal(await report(), 'payment-required');
    const bearer = await fetch(`${merchant.origin}/report`, { headers: { Authorization: 'Bearer x' } });
    await expectRefusal(bearer, 'payment-required');
  });

  describe('for a credential that was minted for a cheaper copy of its challenge', () => {
    async function cheapCredential(payer: Payer): Promise<string> {
      const challenge = await demanded();
      const request = /request="([^"]+)"/.exec(challenge)?.[1] ?? '';
      const minted = await credentialFor(payer, challenge.replace(request, cheaper(request)), 1);
      return altered(minted, (one) => Object.assign(one.challenge!, { request }));
    }

    test('with its own token: the card network declines', async () => {
      const payer = await buyer();
      await expectRefusal(await report(await cheapCredential(payer)), 'verification-failed');
      expect(await balancesOf(w.world, payer)).toMatchObject({ available: 2_000, held: 0 });
    });

    test('with the token of another challenge: the verification shows the other price', async () => {
      const payer = await buyer();
      const { payload } = decoded(await credentialFor(payer, await demanded()));
      const mixed = altered(await cheapCredential(payer), (one) => Object.assign(one, { payload }));
      await expectRefusal(await report(mixed), 'verification-failed');
      await eventually(
        async () => merchant.written(),
        (written) => /refund the charge auth_\w+\n$/.test(written),
      );
    });
  });
});

test('it writes no credential and no token', () => {
  const [first, ...more] = merchant.written().trimEnd().split('\n');
  expect(first).toBe(`${merchant.origin}/report`);
  expect(more.filter((line) => !/^refund the charge auth_\w+$/.test(line))).toEqual([]);
});

test('two servers without a common store: a credential that the first could not verify is sold once by the second', async () => {
  const keys = { MERCHANT_KEY: merchantKey, CHALLENGE_SECRET };
  const alone = await folder.start(await freePort(), { ...keys, BURSAR_URL: 'http://127.0.0.1:9' });
  const other = await folder.start(await freePort(), keys);
  try {
    const payer = await buyer();
    const credential = await credentialFor(payer, await demanded(alone));
    const failed = await report(credential, alone);
    expect([failed.status, failed.headers.get('payment-receipt')]).toEqual([500, null]);
    await eventually(
      async () => alone.written(),
      (written) => written.includes('fetch failed'),
    );
    expect(alone.written()).not.toContain(credential.slice(0, 40));
    const answers = await Promise.all(Array.from({ length: 4 }, () => report(credential, other)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 402, 402, 402]);
    expect(await transactionsOf(payer)).toHaveLength(1);
  } finally {
    await Promise.all([alone.close(), other.close()]);
  }
});

test('the receipt of Bursar verifies with the program of the page, and an altered one does not', async () => {
  const payer = await buyer();
  const challenge = await demanded();
  await credentialFor(payer, challenge);
  const id = /id="([^"]+)"/.exec(challenge)?.[1] ?? '';
  const answer = await fetch(`${w.apiUrl}/v1/mpp/credentials/by-challenge/${id}/verify`, {
    method: 'POST',
    headers: { 'X-Merchant-Key': merchantKey, 'Idempotency-Key': randomUUID() },
  });
  const { receipt, transaction_id } = (await answer.json()) as { receipt: string; transaction_id: string };
  const claims: unknown = JSON.parse(
    await folder.run('node examples/verify-receipt.mjs "$RECEIPT"', { RECEIPT: receipt }),
  );
  expect(claims).toMatchObject({ challengeId: id, amount: '499', currency: 'eur', reference: transaction_id });
  const [head, body = '', signature] = receipt.split('.');
  const altered = [head, encoded({ ...(decoded(body) as object), amount: '1' }), signature].join('.');
  await expect(folder.run('node examples/verify-receipt.mjs "$RECEIPT"', { RECEIPT: altered })).rejects.toThrow(
    /signature verification failed/,
  );
});

describe('the page', () => {
  test.each([
    ['merchant.mjs', 'js'],
    ['payment-challenge.mjs', 'js'],
    ['verify-receipt.mjs', 'js'],
    ['register-merchant.mjs', 'js'],
    ['openapi.json', 'json'],
  ])('prints %s as it is', async (name, language) => {
    const code = await readFile(new URL(`../../../examples/${name}`, import.meta.url), 'utf8');
    expect(acceptingPage).toContain(`\`\`\`${language}\n${code}\`\`\``);
  });

  test('and the merchant serves the description that it prints', async () => {
    const answer = await fetch(`${merchant.origin}/openapi.json`);
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'max-age=300']);
    const { paths } = (await answer.json()) as {
      paths: { '/report': { get: { 'x-payment-info': { offers: Record<string, string>[] } } } };
    };
    const [offer] = paths['/report'].get['x-payment-info'].offers;
    const request = decoded(/request="([^"]+)"/.exec(await demanded())?.[1] ?? '');
    expect([offer?.amount, offer?.currency]).toEqual([request.amount, request.currency]);
  });
});
