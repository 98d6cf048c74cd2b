/**
 * Goal: an agent pays at a merchant that sells with mppx, by `POST /v1/mpp/pay`, over http and over TLS. Method: the whole
 * installation; the merchant's enabler charges the token that it decrypts at a shop of the sandbox, which accepts what
 * the sandbox's card processor minted for it, and nothing else.
 * @module
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createClient, sendTo } from '../../src/client/client.ts';
import { mppPaymentsArea } from '../../src/domains/payments/mpp-payments/mpp-payment.contract.ts';
import { type CheckoutWorld, startCheckoutWorld } from '../support/checkout-world.ts';
import { anIntent, balancesOf, brokenInvariants, type Payer } from '../support/payments-world.ts';
import { makeCertificates, openssl } from '../support/tls.ts';
import { eventually } from '../support/world.ts';
import {
  type Charge,
  installMppx,
  type MppxMerchant,
  type MppxPeer,
  schemes,
  startEnabler,
  startMppxMerchant,
  startMppxPeer,
} from './mppx/mppx.ts';

/** The shop of the sandbox that the merchant is for its acquirer. */
const recipient = 'm_sandbox_shop';
const price = 499;

let w: CheckoutWorld;
let peer: MppxPeer;
let merchant: MppxMerchant;
let enabler: Awaited<ReturnType<typeof startEnabler>>;
let dir: string;
let charge: (order: Charge) => Promise<string | undefined>;
let before = 0;
const trusted = getCACertificates('default');

beforeAll(async () => {
  await installMppx();
  dir = await mkdtemp(join(tmpdir(), 'bursar-mppx-'));
  if (openssl) {
    makeCertificates(dir);
    setDefaultCACertificates([...trusted, await readFile(join(dir, 'ca.pem'), 'utf8')]);
  }
  enabler = await startEnabler((order) => charge(order));
  const tls = openssl ? { key: join(dir, 'server.key'), certificate: join(dir, 'server.pem') } : undefined;
  const secretKey = 'whole-secret-0123456789abcdef-0123456789';
  merchant = await startMppxMerchant({ secretKey, enablerUrl: enabler.url, recipient, tls });
  peer = await startMppxPeer();
  w = await startCheckoutWorld({ allowedOrigins: merchant.origins });
}, 180_000);
afterAll(async () => {
  setDefaultCACertificates(trusted);
  expect(await brokenInvariants(w.world)).toEqual([]);
  await Promise.all([w.close(), peer.close(), merchant.close(), enabler.close()]);
  await rm(dir, { recursive: true, force: true });
});
beforeEach(async () => {
  charge = chargeAtSandbox;
  before = (await merchant.records()).length;
});

const checkout = 'application/vnd.bursar.checkout+json';

/** Orders at the shop of the sandbox and pays with the token. Undefined where the network declines it. */
async function chargeAtSandbox({
  paymentToken,
  amountCents,
}: Omit<Charge, 'challengeId'>): Promise<string | undefined> {
  const offer = await fetch(w.shop('sandbox-shop', amountCents), { headers: { Accept: checkout } });
  const { orderId, payUrl } = (await offer.json()) as { orderId: string; payUrl: string };
  const answer = await fetch(payUrl, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': orderId },
    body: JSON.stringify({ orderId, paymentToken }),
  });
  const { status } = (await answer.json()) as { status: string };
  return status === 'paid' ? orderId : undefined;
}

const at = (path: string, scheme = 'http'): string =>
  `${merchant.origins.find((origin) => origin.startsWith(`${scheme}:`))}${path}`;
/** What the merchant received during this test. */
const received = async () => (await merchant.records()).slice(before);

async function buyer(over: Parameters<typeof anIntent>[2] = {}) {
  const payer = await w.payer({ policy: { require_intent: true }, fundsCents: 5_000 });
  const intentId = await anIntent(w.world, payer, { amountCents: price, merchant: recipient, ...over });
  return { payer, intentId };
}
type Buyer = Awaited<ReturnType<typeof buyer>>;

const client = ({ token }: Payer) => createClient(mppPaymentsArea, sendTo(w.apiUrl, token));
const pay = ({ payer, intentId }: Buyer, url: string, key: string = crypto.randomUUID()) =>
  client(payer).payAtMerchant({
    body: { url, intentId, cardId: payer.cardId },
    headers: { 'Idempotency-Key': key },
  });
const transactionsOf = (intentId: string) =>
  w.world.sql('select id, status, rail, amount_cents::int as cents from transactions where intent_id = $1', [intentId]);
const untouched = { available: 5_000, held: 0, receivable: 0 };

const ways = schemes.flatMap((scheme) =>
  ['/paid', '/several', '/own-header', '/moved', ...(scheme === 'https' ? ['/published-key'] : [])].map((path) => ({
    scheme,
    path,
  })),
);

describe('an agent pays', () => {
  test.each(ways)('$path over $scheme, and the network completes the intent', async ({ scheme, path }) => {
    const one = await buyer();
    const answer = await pay(one, at(path, scheme));
    const sold = path === '/moved' ? '/paid' : path;
    expect(answer).toMatchObject({
      status: 'paid',
      merchant_status: 200,
      merchant_body: { report: 'paid content', path: sold },
    });
    const [record, ...more] = await received();
    expect(more).toEqual([]);
    expect(record).toMatchObject({ path: sold, payload: { network: 'visa', panLastFour: '4242' } });
    expect(await peer.ask('receipt', { value: answer.receipt })).toMatchObject({
      method: 'card',
      reference: record?.reference,
      challengeId: record?.challengeId,
      externalId: 'order_1',
    });
    expect(await client(one.payer).getMppPayment({ params: { id: answer.payment_id as 'mpay_x' } })).toMatchObject({
      receipt: { reference: record?.reference, challengeId: record?.challengeId, externalId: 'order_1' },
    });
    const transactions = await eventually(
      () => transactionsOf(one.intentId),
      ([found]) => found?.status === 'completed',
    );
    expect(transactions).toEqual([{ id: answer.transaction_id, status: 'completed', rail: 'mpp', cents: price }]);
    expect(await balancesOf(w.world, one.payer)).toEqual({ available: 5_000 - price, held: 0, receivable: 0 });
  });

  test('and the token that the merchant decrypted pays nothing else', async () => {
    const one = await buyer();
    await pay(one, at('/paid'));
    const [record] = await received();
    const paymentToken = record?.opened?.token.paymentToken ?? '';
    expect(paymentToken).not.toBe('');
    expect(await chargeAtSandbox({ paymentToken, amountCents: 1 })).toBeUndefined();
    const again = await fetch(at('/paid'), { headers: { Authorization: record?.value ?? '' } });
    expect([again.status, again.headers.get('payment-receipt')]).toEqual([402, null]);
    expect(await transactionsOf(one.intentId)).toHaveLength(1);
  });

  test('once: a repeat with the same key gets the same answer, and another payment of the intent is refused', async () => {
    const one = await buyer();
    const answer = await pay(one, at('/paid'), 'one-key');
    expect(await pay(one, at('/paid'), 'one-key')).toEqual(answer);
    await expect(pay(one, at('/paid'))).rejects.toMatchObject({ status: 400 });
    expect(await received()).toHaveLength(1);
  });

  test('a merchant that answers 500 after it charged: the payment is paid, without a receipt', async () => {
    const one = await buyer();
    expect(await pay(one, at('/charges-and-fails'))).toMatchObject({
      status: 'paid',
      merchant_status: 500,
      receipt: '',
      transaction_id: expect.stringMatching(/^tx_/),
    });
    expect(await received()).toHaveLength(1);
  });
});

describe('an agent that pays with the client of mppx, and has its credentials minted', () => {
  type Paid = { status?: number; body?: string; error?: string; minted: { status: number; id?: string }[] };
  const payByMint = ({ payer, intentId }: Buyer, path: string): Promise<Paid> => {
    const headers = { Authorization: `Bearer ${payer.token}`, 'Content-Type': 'application/json' };
    const service = { origin: w.apiUrl, headers, intentId, cardId: payer.cardId };
    return peer.ask('payByService', { url: at(path), service });
  };
  const credentialsOf = (intentId: string) =>
    w.world.sql('select id, status from mpp_credentials where intent_id = $1 order by id', [intentId]);

  test.each(['/paid', '/own-header'])('is sold to: %s', async (path) => {
    const one = await buyer();
    const { status, body, minted } = await payByMint(one, path);
    expect([status, JSON.parse(body ?? '')]).toEqual([200, { report: 'paid content', path }]);
    expect(await credentialsOf(one.intentId)).toEqual([{ id: minted[0]?.id, status: 'consumed' }]);
    expect(minted).toHaveLength(1);
    const transactions = await eventually(
      () => transactionsOf(one.intentId),
      ([found]) => found?.status === 'completed',
    );
    expect(transactions).toMatchObject([{ rail: 'mpp', cents: price }]);
  });

  test('is not sold to where the intent expects less: nothing is minted', async () => {
    const one = await buyer();
    const { error, minted } = await payByMint(one, '/other-price');
    expect(error).toMatch(/expects 4\.99, asked 9\.99/);
    expect(minted).toEqual([{ status: 400, error: expect.any(String) }]);
    expect(await received()).toEqual([]);
  });

  test('asks again after a decline, as that client does: no second credential while one is open', async () => {
    charge = async () => undefined;
    const one = await buyer();
    const { error, minted } = await payByMint(one, '/paid');
    expect(minted.map(({ status }) => status)).toEqual([201, 400]);
    expect(error).toMatch(/credential/);
    expect(await received()).toHaveLength(1);
    expect(await balancesOf(w.world, one.payer)).toEqual(untouched);
  });
});

describe('an agent does not pay', () => {
  test.each([
    ['/dollars', {}, /currency is usd/],
    ['/crypto-only', {}, /offers only tempo\/charge/],
    ['/expired', {}, /expired/],
    ['/amex-only', {}, /amex/],
    ['/other-price', {}, /expects 4\.99, asked 9\.99/],
    ['/paid', { merchant: 'other.example' }, /other\.example/],
    ['/published-key', {}, /key set|jwksUri/],
    ['/nothing', {}, /answered 404/],
  ])('%s with the intent %j: nothing is minted, nothing is sent', async (path, over, message) => {
    const one = await buyer(over);
    await expect(pay(one, at(path))).rejects.toMatchObject({ status: 400, message: expect.stringMatching(message) });
    expect(await received()).toEqual([]);
    expect(await balancesOf(w.world, one.payer)).toEqual(untouched);
    expect(
      await w.world.sql('select 1 from mpp_credentials where intent_id = $1 and token_hash is not null', [
        one.intentId,
      ]),
    ).toEqual([]);
  });

  test.each<[string, typeof charge]>([
    ['the enabler declines', async () => undefined],
    ['the merchant charges more than its challenge', (order) => chargeAtSandbox({ ...order, amountCents: price + 1 })],
  ])('when %s; the new challenge is not answered', async (_why, how) => {
    charge = how;
    const one = await buyer();
    expect(await pay(one, at('/paid'))).toMatchObject({
      status: 'declined',
      merchant_status: 402,
      receipt: '',
      transaction_id: null,
    });
    expect(await received()).toHaveLength(1);
    expect(await transactionsOf(one.intentId)).toEqual([]);
    expect(await balancesOf(w.world, one.payer)).toEqual(untouched);
  });
});
