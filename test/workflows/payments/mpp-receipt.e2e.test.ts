/**
 * Goal: a merchant that delivers with a receipt and has not charged yet is believed: the caller learns `paid`, the intent
 * is completed, and the charge that follows is linked. Method: the real workflow; the merchant is the test's.
 * @module
 */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createClient, sendTo } from '../../../src/client/client.ts';
import { checkoutArea } from '../../../src/domains/payments/checkout/checkout.contract.ts';
import { mppPaymentsArea } from '../../../src/domains/payments/mpp-payments/mpp-payment.contract.ts';
import { intentsArea } from '../../../src/domains/spending/intents/intent.contract.ts';
import { type CheckoutWorld, startCheckoutWorld } from '../../support/checkout-world.ts';
import { type PayingMerchant, startMerchant } from '../../support/paying-merchant.ts';
import { balancesOf, brokenInvariants, networkOf, type Payer } from '../../support/payments-world.ts';

let w: CheckoutWorld;
let merchant: PayingMerchant;
beforeAll(async () => {
  merchant = await startMerchant();
  w = await startCheckoutWorld({ allowedOrigins: [merchant.origin] });
});
afterAll(async () => {
  expect(await brokenInvariants(w.world)).toEqual([]);
  await w.close();
  await merchant.close();
});
beforeEach(() => merchant.reset());

type Ready = { readonly payer: Payer; readonly intentId: `int_${string}` };
const client = ({ payer }: Pick<Ready, 'payer'>) => {
  const send = sendTo(w.apiUrl, payer.token);
  return {
    ...createClient(intentsArea, send),
    ...createClient(checkoutArea, send),
    ...createClient(mppPaymentsArea, send),
  };
};
const ready = async (more: object = {}): Promise<Ready> => {
  const payer = await w.payer({ policy: { require_intent: true }, fundsCents: 5_000 });
  const body = { purpose: 'a report', expectedAmountEuros: 12.5, ...more };
  const { id } = await client({ payer }).declareIntent({ body });
  return { payer, intentId: id as Ready['intentId'] };
};
const url = () => `${merchant.origin}/report`;
const daily = { recurring: { cadence: 'daily', merchantMatch: false } };
const statusOf = async (one: Ready) => (await client(one).getIntent({ params: { id: one.intentId } })).status;
const windowsOf = async (one: Ready) =>
  (await client(one).listIntentWindows({ params: { id: one.intentId }, query: {} })).data.map(({ status }) => status);

test('pay: the intent is completed by the receipt, and the charge is linked to its transaction', async () => {
  const one = await ready();
  const { payer, intentId } = one;
  const paid = await client(one).payAtMerchant({ body: { url: url(), intentId, cardId: payer.cardId } });
  expect(paid).toMatchObject({ status: 'paid', merchant_status: 200, transaction_id: expect.stringMatching(/^tx_/) });
  expect(await statusOf(one)).toBe('completed');
  expect(await balancesOf(w.world, payer)).toEqual({ available: 5_000, held: 0, receivable: 0 });
  const token = merchant.presentations[0]?.paymentToken;
  const { body } = await networkOf({ apiUrl: w.apiUrl, networkKey: w.world.networkKey }).authorize(payer, { token });
  expect(body).toMatchObject({ decision: 'approved', transactionId: paid.transaction_id });
  expect(await balancesOf(w.world, payer)).toEqual({ available: 3_750, held: 1_250, receivable: 0 });
});

test('pay for a recurring intent: the receipt completes the window, and the next one can be paid', async () => {
  const one = await ready(daily);
  const { payer, intentId } = one;
  const order = { body: { url: url(), intentId, cardId: payer.cardId } };
  expect(await client(one).payAtMerchant(order)).toMatchObject({ status: 'paid' });
  expect([await statusOf(one), await windowsOf(one)]).toEqual(['approved', ['completed']]);
  await expect(client(one).payAtMerchant(order)).rejects.toMatchObject({ status: 400 });
});

test.each([
  ['an intent of one payment', {}, 'completed', []],
  ['a recurring intent', daily, 'approved', ['completed']],
] as const)('execute at a target that answers 402, for %s', async (_what, more, status, windows) => {
  const one = await ready(more);
  const { intentId } = one;
  const answer = await client(one).executeCheckout({ body: { intentId, targetUrl: url() } });
  expect(answer).toMatchObject({ success: true, status: 'paid', transactionId: expect.stringMatching(/^tx_/) });
  expect(await statusOf(one)).toBe(status);
  if (windows.length > 0) expect(await windowsOf(one)).toEqual(windows);
});
