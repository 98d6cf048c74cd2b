/**
 * Goal: a merchant's receipt completes the intent, and moves no money: whatever the order of receipt, authorization,
 * clearing, verification and confirm, there is one transaction, one hold, one collection, and each event once. Method:
 * payments begun by the product's services, the merchant's answer recorded as its step does, everything else over HTTP.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { databaseOf } from '../../../src/db/database.ts';
import { openDatabase } from '../../../src/db/orm.ts';
import { checkoutArea } from '../../../src/domains/payments/checkout/checkout.contract.ts';
import { mppPaymentsArea } from '../../../src/domains/payments/mpp-payments/mpp-payment.contract.ts';
import { mppPaymentOf } from '../../../src/domains/payments/mpp-payments/mpp-payment.queries.ts';
import { intentsArea } from '../../../src/domains/spending/intents/intent.contract.ts';
import { day } from '../../../src/kernel/instant.ts';
import { entities } from '../../../src/main/modules/index.ts';
import { recordAnswer } from '../../../src/usecases/payments/conclude-presentation.ts';
import { recordCharge } from '../../../src/usecases/payments/settle-mpp-payment.ts';
import { registeredMerchant } from '../../support/factories/merchants.ts';
import { apiShop, credentialRow, eventNamesOf } from '../../support/mpp-world.ts';
import { aSentPayment, type OpenPayment, take } from '../../support/open-payment.ts';
import { receiptFor } from '../../support/paying-merchant.ts';
import {
  type Authorized,
  anIntent,
  aPayer,
  balancesOf,
  brokenInvariants,
  expireIn,
  journalsOf,
  networkOf,
  type Payer,
  signed,
} from '../../support/payments-world.ts';
import { aSubscriber, musicClub } from '../../support/recurring-world.ts';
import { businessNow, startWorld, type World } from '../../support/world.ts';

let world: World;
let network: ReturnType<typeof networkOf>;
let merchant: { id: string; merchant_secret_key: string };
let orm: Awaited<ReturnType<typeof openDatabase>>;
beforeAll(async () => {
  world = await startWorld();
  network = networkOf(world);
  merchant = await registeredMerchant(await world.owner());
  const url = world.config.DATABASE_URL;
  orm = await openDatabase({ url, entities, poolSize: 4, applicationName: 'bursar-test' });
});
afterAll(async () => {
  expect(await brokenInvariants(world)).toEqual([]);
  await orm.close();
  await world.close();
});

type Sent = { readonly payer: Payer; readonly payment: OpenPayment };

const sent = async (): Promise<Sent> => {
  const payer = await aPayer(world, { fundsCents: 10_000, policy: { require_intent: true } });
  const intentId = await anIntent(world, payer, { merchant: apiShop.id });
  return { payer, payment: await aSentPayment(world, payer, intentId, { merchant_id: merchant.id }) };
};
/** What the steps of a payment take. */
const deps = () => {
  const database = databaseOf(orm);
  const vault = { seal: async (text: string) => text, open: async (text: string) => text };
  return { database, vault, clock: { now: () => businessNow(world) } } as unknown as Parameters<typeof recordAnswer>[0];
};
/** What the merchant answers to the credential. */
const answer = async ({ payment }: Sent, receipt: string | null, status = 200) => {
  const body = { bytes: Buffer.from('{}'), contentType: 'application/json', isTruncated: false };
  const row = await mppPaymentOf(deps().database.read(), payment.id);
  const answered = { outcome: 'answered', status, receipt, body } as const;
  return recordAnswer(deps(), row, { answer: answered, challengeId: 'challenge-1' });
};
/** As the run of the payment does when it is woken. */
const record = ({ payment }: Sent) => recordCharge(deps())(payment.id);
const receipt = receiptFor('challenge-1');
const verify = async ({ payment }: Sent) => {
  const headers = { 'X-Merchant-Key': merchant.merchant_secret_key };
  const path = `${world.apiUrl}/v1/mpp/credentials/${payment.credential.id}/verify`;
  return (await fetch(path, { method: 'POST', headers })).status;
};
const confirm = ({ payer, payment }: Sent) =>
  world
    .as(payer.token)
    .client(checkoutArea)
    .confirmCheckout({
      body: { intentId: payment.intentId as `int_${string}` },
      headers: { 'Idempotency-Key': randomUUID() },
    })
    .then(
      () => 200,
      ({ status }: { status: number }) => status,
    );
const shown = async ({ payer, payment }: Sent) =>
  (
    await payer.owner
      .client(mppPaymentsArea)
      .listMppPayments({ query: { intentId: payment.intentId as `int_${string}` } })
  ).data[0];
const intentOf = ({ payer, payment }: Sent) =>
  payer.owner.client(intentsArea).getIntent({ params: { id: payment.intentId as `int_${string}` } });
const transactionsOf = ({ payment }: Sent) =>
  world.sql<{ id: string; status: string; rail: string }>(
    'select id, status, rail from transactions where intent_id = $1',
    [payment.intentId],
  );
const row = async ({ payment }: Sent) =>
  (
    await world.sql<{ status: string; charge_source: string; transaction_id: string }>(
      'select status, charge_source, transaction_id from mpp_payments where id = $1',
      [payment.id],
    )
  )[0];

const names = ['receipt', 'authorization', 'clearing', 'verify', 'confirm'] as const;
type Name = (typeof names)[number];
const ordersOf = (rest: readonly Name[]): Name[][] =>
  rest.length === 0
    ? [[]]
    : rest.flatMap((one) => ordersOf(rest.filter((other) => other !== one)).map((tail) => [one, ...tail]));

async function play(order: readonly Name[]): Promise<Record<string, unknown>> {
  const one = await sent();
  const { payer, payment } = one;
  const { id: authorizationId, ...message } = network.authorizationOf(payer, {
    token: payment.credential.token,
    merchant: apiShop,
  });
  const act: Record<Name, () => Promise<unknown>> = {
    receipt: () => answer(one, receipt),
    authorization: async () => {
      const { body } = await network.send<Authorized>('authorizations', { id: authorizationId, ...message });
      expect([order, body.decision]).toEqual([order, 'approved']);
    },
    clearing: () => network.clear(payer, { authorizationId, merchant: apiShop }),
    verify: async () => expect([order, await verify(one)]).toEqual([order, 200]),
    // While the payment is open it is refused, and afterwards it links what is there.
    confirm: () => confirm(one),
  };
  for (const name of order) {
    await act[name]();
    await record(one);
  }
  const transactions = await transactionsOf(one);
  const count = (found: readonly string[], name: string) => found.filter((each) => each === name).length;
  const ofIntent = await eventNamesOf(world, payment.intentId);
  const ofCredential = await eventNamesOf(world, payment.credential.id);
  const ofTransaction = await eventNamesOf(world, transactions[0]?.id ?? '');
  return {
    transactions: transactions.map(({ status, rail }) => `${status} ${rail}`),
    journals: (await journalsOf(world, payer.owner.ownerId)).toSorted(),
    balances: await balancesOf(world, payer),
    intent: (await intentOf(one)).status,
    kept: (await intentOf(one)).openPaymentId,
    payment: (await row(one))?.status,
    isOfPayment: (await row(one))?.transaction_id === transactions[0]?.id,
    completions: count(ofIntent, 'intent.completed'),
    consumptions: count(ofCredential, 'mpp.credential.consumed'),
    machinePayments: count(ofCredential, 'mpp.transaction.completed'),
    created: count(ofTransaction, 'transaction.created'),
    authorized: count(ofTransaction, 'transaction.authorization'),
    completed: count(ofTransaction, 'transaction.completed'),
    settled: (await eventNamesOf(world, payment.id)).filter((name) => name === 'mpp.payment.updated').length,
  };
}

const asOnce = {
  transactions: ['completed mpp'],
  journals: ['authorization', 'clearing'],
  balances: { available: 8_750, held: 0, receivable: 0 },
  intent: 'completed',
  kept: null,
  payment: 'paid',
  isOfPayment: true,
  completions: 1,
  consumptions: 1,
  machinePayments: 1,
  created: 1,
  authorized: 1,
  completed: 1,
  settled: 1,
};

test.each(names)(
  'whatever follows %s, in every order: one hold, one collection, one completion',
  async (first) => {
    const orders = ordersOf(names.filter((name) => name !== first)).map((rest) => [first, ...rest]);
    expect(orders).toHaveLength(24);
    for (let from = 0; from < orders.length; from += 4) {
      const some = orders.slice(from, from + 4);
      const found = await Promise.all(some.map((order) => play(order)));
      expect(found.map((each, index) => ({ order: some[index], ...each }))).toEqual(
        some.map((order) => ({ order, ...asOnce })),
      );
    }
  },
  120_000,
);

describe('a receipt', () => {
  test('completes the intent with a pending transaction of this payment, and moves no money', async () => {
    const one = await sent();
    await answer(one, receipt);
    const [transaction] = await transactionsOf(one);
    expect(transaction).toMatchObject({ status: 'pending', rail: 'mpp' });
    expect(await row(one)).toEqual({ status: 'paid', charge_source: 'receipt', transaction_id: transaction?.id });
    expect(await intentOf(one)).toMatchObject({
      status: 'completed',
      transactionId: transaction?.id,
      openPaymentId: null,
    });
    expect(await credentialRow(world, one.payment.credential.id)).toMatchObject({
      status: 'consumed',
      transaction_id: transaction?.id,
    });
    expect(await balancesOf(world, one.payer)).toEqual({ available: 10_000, held: 0, receivable: 0 });
    expect(await journalsOf(world, one.payer.owner.ownerId)).toEqual([]);
    expect(await shown(one)).toMatchObject({ next: expect.stringMatching(/waits seven days for the charge/) });
  });

  test('without a charge in seven days leaves a failed transaction, and no money has moved', async () => {
    const one = await sent();
    await answer(one, receipt);
    await expireIn(world, new Date((await businessNow(world)).getTime() + 7 * day + 1_000));
    expect(await transactionsOf(one)).toMatchObject([{ status: 'failed' }]);
    expect(await intentOf(one)).toMatchObject({ status: 'completed' });
    expect(await balancesOf(world, one.payer)).toEqual({ available: 10_000, held: 0, receivable: 0 });
  });

  test('lets the charge come after the credential’s end, up to its amount and once', async () => {
    const one = await sent();
    await answer(one, receipt);
    const { id, token } = one.payment.credential;
    await world.sql(`update mpp_credentials set expires_at = now() - interval '1 second' where id = $1`, [id]);
    const charge = (over: object = {}) => network.authorize(one.payer, { token, merchant: apiShop, ...over });
    const late = await charge();
    expect(late.body).toMatchObject({ decision: 'approved', transactionId: (await row(one))?.transaction_id });
    expect(await row(one)).toMatchObject({ charge_source: 'network' });
    expect((await charge()).body).toMatchObject({ decision: 'declined', rule: 'token_used' });
  });

  test.each([
    ['of another challenge', receiptFor('challenge-2')],
    ['that cannot be decoded', 'e30.signature'],
    ['of another method', receiptFor('challenge-1', { method: 'tempo' })],
    ['that reports no success', receiptFor('challenge-1', { status: 'failed' })],
    ['that is missing', null],
  ])('%s completes nothing: the payment waits for its charge', async (_what, given) => {
    const one = await sent();
    await answer(one, given);
    expect(await row(one)).toMatchObject({ status: 'accepted', transaction_id: null });
    expect(await intentOf(one)).toMatchObject({ status: 'approved', openPaymentId: one.payment.id });
    expect(await transactionsOf(one)).toEqual([]);
    await take(world, one.payment.id, 'giveUp');
  });

  test('on a refusal, after a declined charge, or after the payment has ended, completes nothing', async () => {
    const refused = await sent();
    await answer(refused, receipt, 402);
    expect(await row(refused)).toMatchObject({ status: 'declined' });

    const declined = await sent();
    const { token } = declined.payment.credential;
    await network.authorize(declined.payer, { token, merchant: apiShop, amountCents: 1_251 });
    await answer(declined, receipt);
    expect(await row(declined)).toMatchObject({ status: 'declined', charge_source: 'network' });

    const ended = await sent();
    await take(world, ended.payment.id, 'lose', 'giveUp');
    await answer(ended, receipt);
    expect(await row(ended)).toMatchObject({ status: 'not_paid', charge_source: null });
    for (const one of [refused, ended]) expect(await transactionsOf(one)).toEqual([]);
  });

  test('that comes late settles a payment that was unknown, also past the intent’s deadline', async () => {
    const one = await sent();
    await take(world, one.payment.id, 'lose');
    await world.advance(2 * day);
    await answer(one, receipt);
    expect(await row(one)).toMatchObject({ status: 'paid', charge_source: 'receipt' });
    expect(await intentOf(one)).toMatchObject({ status: 'completed' });
  });

  test('of a recurring intent completes the window in which the payment was begun', async () => {
    const { payer, declare, windows } = await aSubscriber(world);
    const daily = { cadence: 'daily', windowStartDaysBefore: 0, windowEndDaysAfter: 0 };
    const { id } = await declare({ recurring: daily });
    const columns = { amount_cents: 1_000, ceiling_cents: 1_000, recipient: musicClub.id };
    const one = { payer, payment: await aSentPayment(world, payer, id, columns) };
    await world.advance(day);
    await answer(one, receipt);
    const { transaction_id: transactionId } = (await row(one)) ?? {};
    expect(await windows(id)).toMatchObject([{ number: 1, status: 'completed', transactionId }]);
    expect(await eventNamesOf(world, id)).toContain('intent_window.completed');
  });
});

test('a charge that the network could not report, because of its clock, is said in the reason of the payment', async () => {
  const order = await sent();
  const message = network.authorizationOf(order.payer, { token: order.payment.credential.token, merchant: apiShop });
  const rawBody = JSON.stringify(message);
  const unixSeconds = Math.floor(Date.now() / 1_000) - 600;
  const path = '/network/authorizations';
  const headers = {
    'Content-Type': 'application/json',
    'X-Network-Signature': signed(world.networkKey, { path, rawBody, unixSeconds }),
  };
  const untimely = await fetch(`${world.apiUrl}${path}`, { method: 'POST', headers, body: rawBody });
  expect(untimely.status).toBe(401);
  // A wrong signature tells nothing about clocks.
  const wrong = { ...headers, 'X-Network-Signature': `t=${unixSeconds - 3_600},v1=${'0'.repeat(64)}` };
  expect((await fetch(`${world.apiUrl}${path}`, { method: 'POST', headers: wrong, body: rawBody })).status).toBe(401);
  const [note] = await world.sql<{ apart_ms: string }>('select apart_ms from network_clocks');
  expect(Math.round(Number(note?.apart_ms) / 60_000)).toBe(10);
  // However slow the machine is, the minute in which it counts is not over yet.
  await world.sql(`update network_clocks set refused_at = clock_timestamp() + interval '1 hour'`);

  await answer(order, null, 402);
  const spelt =
    "meanwhile a message of the card network was refused, because the clock of the API is 10 min ahead of the network's";
  expect(await shown(order)).toMatchObject({
    status: 'declined',
    reason: `the merchant answered 402 to the credential; ${spelt}`,
  });
  const silent = await sent();
  await answer(silent, null, 503);
  expect(await shown(silent)).toMatchObject({
    status: 'unknown',
    known: `The merchant answered 503, so it is not known whether it charged the card: ${spelt}.`,
  });
  // What is heard later settles it, and the reason goes.
  await network.authorize(silent.payer, { token: silent.payment.credential.token, merchant: apiShop });
  await record(silent);
  expect(await shown(silent)).toMatchObject({ status: 'paid', reason: null });

  await world.sql(`update network_clocks set refused_at = clock_timestamp() - interval '2 minutes'`);
  const later = await sent();
  await answer(later, null, 402);
  expect(await shown(later)).toMatchObject({ reason: 'the merchant answered 402 to the credential' });
});
