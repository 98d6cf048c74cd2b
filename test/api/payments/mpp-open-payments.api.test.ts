/**
 * Goal: while a machine payment of an intent is open, the intent stands: it neither expires nor is cancelled, keeps its
 * place in the sums, and nothing but the payment's own charge pays for it; afterwards its deadline counts again.
 * Method: payments begun and moved by the product's services, everything else over real HTTP, the clock moved.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { agentsArea } from '../../../src/domains/parties/agents/agent.contract.ts';
import { checkoutArea } from '../../../src/domains/payments/checkout/checkout.contract.ts';
import { intentsArea } from '../../../src/domains/spending/intents/intent.contract.ts';
import { applyToIntent } from '../../../src/domains/spending/intents/intent.service.ts';
import { endWindows } from '../../../src/domains/spending/intents/windows/window.service.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { day, hour } from '../../../src/kernel/instant.ts';
import { apiShop, eventNamesOf } from '../../support/mpp-world.ts';
import { anUnknownPayment, aRequestedPayment, take } from '../../support/open-payment.ts';
import { type Network, usePayments } from '../../support/payments-suite.ts';
import { anIntent, aPayer, brokenInvariants, inDatabase, type Payer } from '../../support/payments-world.ts';
import { aSubscriber, musicClub } from '../../support/recurring-world.ts';
import { businessNow, type World } from '../../support/world.ts';

let world: World;
let network: Network;
usePayments((started) => {
  ({ world, network } = started);
});

const buyer = (policy: Readonly<Record<string, unknown>> = {}) =>
  aPayer(world, { fundsCents: 10_000, policy: { require_intent: true, ...policy } });
const shopIntent = (payer: Payer, over: Parameters<typeof anIntent>[2] = {}) =>
  anIntent(world, payer, { merchant: 'shop.example', ttlMs: hour, ...over });
const intents = (payer: Payer) => payer.owner.client(intentsArea);
const read = (payer: Payer, id: string) => intents(payer).getIntent({ params: { id: id as `int_${string}` } });
const cancel = (payer: Payer, id: string) => intents(payer).cancelIntent({ params: { id: id as `int_${string}` } });
const listed = async (payer: Payer, status: 'approved' | 'expired') =>
  (await intents(payer).listIntents({ query: { status, agentId: payer.agentId } })).data.map(({ id }) => id);
const charge = async (payer: Payer, over: Record<string, unknown> = {}) =>
  (await network.authorize(payer, { merchant: apiShop, ...over })).body;
/** A charge without a payment token is known by its name alone. */
const byName = { merchant: { ...apiShop, name: 'SHOP.EXAMPLE' } };
const runOf = async (id: string) =>
  (await world.sql('select is_open, wanted_wake, due_at from workflow_runs where subject_id = $1', [id]))[0];
/** As the workflow does at the deadline. */
const expire = async (id: string) => {
  const cause = {
    causeId: randomUUID(),
    requestId: 'req',
    actor: { kind: 'deadline' },
    at: await businessNow(world),
  } as const;
  return inDatabase(world, (database) =>
    database.write((tx) => applyToIntent(tx, id, { kind: 'expire' }, cause, { isOwnWorkflow: true })),
  );
};

describe.each(['requested', 'unknown', 'accepted'] as const)('while its payment is %s', (status) => {
  const begun = async (payer: Payer, intentId: string): Promise<string> => {
    if (status === 'requested') return aRequestedPayment(world, intentId);
    const { id } = await anUnknownPayment(world, payer, intentId);
    if (status === 'accepted') await take(world, id, 'accept');
    return id;
  };

  test('the intent neither expires nor is cancelled, also past its deadline, and afterwards it does', async () => {
    const payer = await buyer();
    const intentId = await shopIntent(payer);
    const id = await begun(payer, intentId);
    // Most payments end at once; only one that waits for its charge wakes the run.
    expect(await runOf(intentId)).toMatchObject({ is_open: true, wanted_wake: status !== 'requested', due_at: null });
    const sentence = expect.stringMatching(new RegExp(`an intent while payment ${id} for it is open`));
    await expect(cancel(payer, intentId)).rejects.toMatchObject({ status: 400, message: sentence });
    await world.advance(2 * hour);
    await expect(cancel(payer, intentId)).rejects.toMatchObject({ status: 400, message: sentence });
    await expect(expire(intentId)).rejects.toThrow(`cannot expire an intent while payment ${id} for it is open`);
    expect(await read(payer, intentId)).toMatchObject({ status: 'approved', openPaymentId: id });
    expect(await listed(payer, 'approved')).toEqual([intentId]);
    expect(await listed(payer, 'expired')).toEqual([]);
    expect(await runOf(intentId)).toMatchObject({ is_open: true, due_at: null });

    await take(world, id, status === 'requested' ? 'refuse' : 'giveUp');
    const ended = await read(payer, intentId);
    expect(ended).toMatchObject({ status: 'expired', openPaymentId: null });
    expect(await runOf(intentId)).toMatchObject({ wanted_wake: true, due_at: new Date(ended.expiresAt) });
    expect(await listed(payer, 'expired')).toEqual([intentId]);
    await expire(intentId);
    expect(await eventNamesOf(world, intentId)).toEqual(['intent.expired']);
  });
});

test('a payment that ended without a charge before the deadline leaves an intent that can be cancelled and paid', async () => {
  const payer = await buyer();
  const [first, second] = [await shopIntent(payer), await shopIntent(payer)];
  const { id } = await anUnknownPayment(world, payer, first);
  await take(world, id, 'decline');
  expect(await cancel(payer, first)).toEqual({ id: first, status: 'cancelled' });
  await take(world, await aRequestedPayment(world, second), 'refuse');
  expect(await charge(payer, byName)).toMatchObject({ decision: 'approved' });
});

describe('a charge', () => {
  test('with the token of the open payment is approved past the deadline', async () => {
    const payer = await buyer();
    const intentId = await shopIntent(payer);
    const { id, credential } = await anUnknownPayment(world, payer, intentId, {
      expires_at: new Date(Date.now() + 120_000),
    });
    await world.advance(2 * hour);
    const charged = await charge(payer, { token: credential.token });
    expect(charged).toMatchObject({ decision: 'approved' });
    await take(world, id, 'pay');
    expect(await read(payer, intentId)).toMatchObject({
      status: 'approved',
      matchedTransactionId: charged.transactionId,
      openPaymentId: null,
    });
  });

  test('of the card without the token does not take what is kept', async () => {
    const payer = await buyer();
    const intentId = await shopIntent(payer);
    const { id, credential } = await anUnknownPayment(world, payer, intentId);
    const plain = await charge(payer, byName);
    expect(plain).toMatchObject({ decision: 'declined', rule: 'intent_required' });
    expect(plain.reason).toContain(`intent ${intentId} is kept for payment ${id}, which has not ended`);
    expect(await read(payer, intentId)).toMatchObject({ status: 'approved', openPaymentId: id });
    expect(await charge(payer, { token: credential.token })).toMatchObject({ decision: 'approved' });
    await take(world, id, 'pay');
  });

  test('with the token of an earlier payment does not take it either, and fails nothing', async () => {
    const payer = await buyer();
    const intentId = await shopIntent(payer);
    const earlier = await anUnknownPayment(world, payer, intentId);
    await take(world, earlier.id, 'decline');
    const id = await aRequestedPayment(world, intentId);
    const late = await charge(payer, { token: earlier.credential.token });
    expect(late).toMatchObject({ decision: 'declined', rule: 'checkout_intent' });
    expect(await read(payer, intentId)).toMatchObject({ status: 'approved', openPaymentId: id });
    await take(world, id, 'refuse');
  });
});

test('nothing else pays for it: another payment, a checkout or a confirm', async () => {
  const payer = await buyer();
  const intentId = await shopIntent(payer);
  const { id } = await anUnknownPayment(world, payer, intentId);
  await world.advance(2 * hour);
  const { executeCheckout, confirmCheckout } = world.as(payer.token).client(checkoutArea);
  const headers = { 'Idempotency-Key': randomUUID() };
  const refused = { status: 400, message: expect.stringContaining(`payment ${id} of this intent is unknown`) };
  const body = { intentId, targetUrl: 'https://shop.example/checkout' };
  await expect(executeCheckout({ body, headers })).rejects.toMatchObject(refused);
  await expect(
    confirmCheckout({ body: { intentId }, headers: { 'Idempotency-Key': randomUUID() } }),
  ).rejects.toMatchObject(refused);
  await take(world, id, 'giveUp');
});

test('at a declaration it counts as an open intent until the payment has ended, also past the deadline', async () => {
  const payer = await buyer({ daily_limit_cents: 2_000, auto_approve_limit_cents: null });
  const intentId = await shopIntent(payer);
  const { id } = await anUnknownPayment(world, payer, intentId);
  await world.advance(2 * hour);
  const body = { purpose: 'another one', expectedAmountEuros: 10 };
  const declare = () => world.as(payer.token).client(intentsArea).declareIntent({ body });
  expect(await declare()).toMatchObject({ status: 'denied', deniedReason: expect.stringMatching(/12\.50/) });
  await take(world, id, 'giveUp');
  expect(await declare()).toMatchObject({ status: 'approved' });
});

test('a closed agent’s intent stands until its payment has ended, and is cancelled then', async () => {
  const payer = await buyer();
  const [kept, other] = [await shopIntent(payer), await shopIntent(payer)];
  const { id } = await anUnknownPayment(world, payer, kept);
  await payer.owner.client(agentsArea).closeAgent({ params: { id: payer.agentId } });
  expect(await read(payer, other)).toMatchObject({ status: 'cancelled' });
  expect(await read(payer, kept)).toMatchObject({ status: 'approved', openPaymentId: id });
  await take(world, id, 'giveUp');
  expect(await read(payer, kept)).toMatchObject({ status: 'cancelled', openPaymentId: null });
  expect(await eventNamesOf(world, kept)).toEqual(['intent.cancelled']);
});

describe('a recurring intent', () => {
  const credential = { amount_cents: 1_000, ceiling_cents: 1_000, recipient: musicClub.id, host: null, origin: null };
  const daily = { recurring: { cadence: 'daily', windowStartDaysBefore: 0, windowEndDaysAfter: 0 } };
  const subscribed = async () => {
    const one = await aSubscriber(world);
    const intentId = (await one.declare(daily)).id;
    const payment = await anUnknownPayment(world, one.payer, intentId, credential);
    const end = async () => {
      const cause = {
        causeId: randomUUID(),
        requestId: 'req',
        actor: { kind: 'deadline' },
        at: await businessNow(world),
      } as const;
      await inDatabase(world, (database) => database.write((tx) => endWindows(tx, intentId, cause)));
    };
    const windows = async () => (await one.windows(intentId)).map(({ number, status }) => [number, status]);
    return { ...one, intentId, payment, end, windows };
  };

  test('the window of the payment waits, and its late charge pays for that window', async () => {
    const { charge: chargeCard, payment, end, windows } = await subscribed();
    await world.advance(2 * day);
    await end();
    expect(await windows()).toEqual([]);
    const late = await chargeCard({ token: payment.credential.token });
    expect(late).toMatchObject({ decision: 'approved' });
    expect(await windows()).toEqual([[1, 'matched']]);
    await take(world, payment.id, 'pay');
    await end();
    expect(await windows()).toEqual([
      [2, 'missed'],
      [1, 'matched'],
    ]);
  });

  test('a payment that ends without a charge leaves a window that is over missed', async () => {
    const { payment, end, windows } = await subscribed();
    await world.advance(day);
    await take(world, payment.id, 'giveUp');
    await end();
    expect(await windows()).toEqual([[1, 'missed']]);
  });

  test('another charge pays for another window, and not for the kept one', async () => {
    const { charge: chargeCard, payment, windows } = await subscribed();
    expect(await chargeCard()).toMatchObject({ decision: 'declined', reason: expect.stringContaining(payment.id) });
    await world.advance(day);
    expect(await chargeCard()).toMatchObject({ decision: 'approved' });
    expect(await windows()).toEqual([[2, 'matched']]);
    expect(await chargeCard({ token: payment.credential.token })).toMatchObject({ decision: 'approved' });
    expect(await windows()).toEqual([
      [2, 'matched'],
      [1, 'matched'],
    ]);
    await take(world, payment.id, 'pay');
  });

  test('it is not cancelled meanwhile', async () => {
    const { payer, payment, intentId } = await subscribed();
    await expect(cancel(payer, intentId)).rejects.toMatchObject({ status: 400 });
    await take(world, payment.id, 'giveUp');
    expect(await cancel(payer, intentId)).toMatchObject({ status: 'cancelled' });
  });
});

test('reconciliation finds an intent that is kept for nothing, and a payment that keeps no intent', async () => {
  const payer = await buyer();
  const [first, second] = [await shopIntent(payer), await shopIntent(payer)];
  const { id } = await anUnknownPayment(world, payer, first);
  const keep = (intentId: string, paymentId: string | null) =>
    world.sql(
      'update intents set open_payment_id = $2, open_payment_at = case when $2::text is null then null else now() end where id = $1',
      [intentId, paymentId],
    );
  await keep(first, null);
  await keep(second, newId('mppPayment'));
  const rows = [
    expect.objectContaining({ id: first, keptFor: null, openPayment: id }),
    expect.objectContaining({ id: second, openPayment: null }),
  ];
  const name = 'intents kept for machine payments';
  const found = await brokenInvariants(world);
  expect(found).toHaveLength(2);
  expect(found).toEqual(expect.arrayContaining(rows.map((row) => [name, row])));
  await keep(first, id);
  await keep(second, null);
  await take(world, id, 'giveUp');
});
