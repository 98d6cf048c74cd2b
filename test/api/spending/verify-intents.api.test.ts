/**
 * Goal: what was really paid is compared with what was declared, marked on the payment and published as an event. Method: real HTTP for
 * agent and network.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventsOf } from '../../support/events.ts';
import { clientsOf } from '../../support/factories/records.ts';
import { anIntent, aPayer, networkOf, type Payer } from '../../support/payments-world.ts';
import { aSubscriber, goTo, windowIn } from '../../support/recurring-world.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(async () => {
  await world.close();
});

/** A book for 12.50, paid and collected. */
async function bought(policy: Record<string, unknown> = {}) {
  const payer = await aPayer(world, { policy: { require_intent: true, ...policy } });
  const intentId = await anIntent(world, payer);
  const network = networkOf(world);
  const message = network.authorizationOf(payer);
  const { body } = await network.send<{ transactionId: string }>('authorizations', message);
  await network.clear(payer, { authorizationId: message.id });
  return { payer, intentId, transactionId: body.transactionId, asAgent: clientsOf(world.as(payer.token)) };
}
const verify = (asAgent: ReturnType<typeof clientsOf>, id: string, body: object, key: string = randomUUID()) =>
  asAgent.intents.verifyIntent({ params: { id }, body, headers: { 'Idempotency-Key': key } });
const told = async (payer: Payer, ...names: string[]) =>
  (await eventsOf(world, payer.owner.ownerId)).filter(({ name }) => names.includes(name));

test('a match is marked on intent and transaction, and has one event per verification', async () => {
  const { payer, intentId, transactionId, asAgent } = await bought();
  const asked = { actualAmountEuros: 12.5, actualMerchant: 'sandbox shop' };
  const fits = { intentId, verified: true, mismatches: [], transactionsUpdated: 1 };
  expect(await verify(asAgent, intentId, asked)).toEqual(fits);
  expect(await asAgent.intents.getIntent({ params: { id: intentId } })).toMatchObject({ verified: true });
  const transaction = await asAgent.transactions.getTransaction({ params: { id: transactionId } });
  expect(transaction).toMatchObject({ verified: true, verifiedAt: expect.any(String), mismatch: null });
  expect(await verify(asAgent, intentId, asked)).toEqual(fits);
  expect(await told(payer, 'intent.verified')).toHaveLength(2);
  expect(await told(payer, 'transaction.updated')).toHaveLength(1);
});

// spec: does:Intents:verify
// spec: event:verification.mismatch
test('the answer names mismatches with figures, the event only the fields; a later result replaces it', async () => {
  const { payer, intentId, transactionId, asAgent } = await bought();
  const mismatches = ['amount: expected 12.50, actual 12.49', 'merchant: expected Sandbox Shop, actual Fish Market'];
  expect(await verify(asAgent, intentId, { actualAmountEuros: 12.49, actualMerchant: 'Fish Market' })).toEqual({
    ...{ intentId, verified: false, mismatches, transactionsUpdated: 1 },
  });
  const read = () => asAgent.transactions.getTransaction({ params: { id: transactionId } });
  expect(await read()).toMatchObject({
    verified: false,
    verifiedAt: expect.any(String),
    mismatch: mismatches.join('; '),
  });
  expect((await told(payer, 'verification.mismatch')).map(({ data }) => data)).toMatchObject([
    { id: intentId, intentId, agentId: payer.agentId, mismatches: ['amount', 'merchant'] },
  ]);
  await verify(asAgent, intentId, { actualAmountEuros: 12.5 });
  expect(await read()).toMatchObject({ verified: true, mismatch: null });
});

test('the tolerance of the policy counts in both directions', async () => {
  const { intentId, asAgent } = await bought({ amount_tolerance_percent: 10 });
  for (const [actualAmountEuros, verified] of [
    [13.75, true],
    [11.25, true],
    [13.76, false],
    [11.24, false],
  ] as const) {
    expect(await verify(asAgent, intentId, { actualAmountEuros })).toMatchObject({ verified });
  }
});

test('the same key gets the same answer, and events are sent once', async () => {
  const { payer, intentId, asAgent } = await bought();
  const first = await verify(asAgent, intentId, { actualAmountEuros: 99 }, 'the-key');
  expect(await verify(asAgent, intentId, { actualAmountEuros: 99 }, 'the-key')).toEqual(first);
  await world.sql('update idempotency set status = null, body = null, lease_until = null where key = $1', ['the-key']);
  expect(await verify(asAgent, intentId, { actualAmountEuros: 99 }, 'the-key')).toEqual(first);
  expect(await told(payer, 'verification.mismatch')).toHaveLength(1);
});

test('of a recurring intent it is the charge of the last completed window, within its own tolerance', async () => {
  const { asAgent, declare, charge, clear } = await aSubscriber(world);
  const intent = await declare({ recurring: { cadence: 'daily' } });
  const refused = { status: 400, message: expect.stringContaining('no window of the intent is completed yet') };
  await expect(verify(asAgent, intent.id, { actualAmountEuros: 10 })).rejects.toMatchObject(refused);
  const first = await charge();
  await expect(verify(asAgent, intent.id, { actualAmountEuros: 10 })).rejects.toMatchObject(refused);
  await clear(first.authorizationId);
  await goTo(world, windowIn(intent).to);
  const second = await charge();
  await clear(second.authorizationId);
  expect(await verify(asAgent, intent.id, { actualAmountEuros: 11 })).toMatchObject({
    verified: true,
    transactionsUpdated: 1,
  });
  const marks = async (id: string) => (await asAgent.transactions.getTransaction({ params: { id } })).verified;
  expect([await marks(first.transactionId), await marks(second.transactionId)]).toEqual([false, true]);
  expect(await verify(asAgent, intent.id, { actualAmountEuros: 11.01 })).toMatchObject({ verified: false });
});

test.each(['pending_approval', 'approved', 'denied', 'failed', 'expired', 'cancelled'])(
  'an intent that is %s is refused',
  async (status) => {
    const payer = await aPayer(world);
    const intentId = await anIntent(world, payer, { status });
    const asAgent = clientsOf(world.as(payer.token));
    await expect(verify(asAgent, intentId, { actualAmountEuros: 1 })).rejects.toMatchObject({
      status: 400,
      message: `the intent is ${status}; only a completed one can be verified`,
    });
  },
);

test('without anything to compare, or without an amount, it is refused; other owners get 404', async () => {
  const { payer, intentId, asAgent } = await bought();
  for (const [body, message] of [
    [{}, /actualAmountEuros, actualMerchant or both/],
    [{ actualAmountEuros: -1 }, /actualAmountEuros/],
    [{ actualAmountEuros: 1.001 }, /actualAmountEuros/],
    [{ actualMerchant: '' }, /actualMerchant/],
    [{ amount: 1 }, /amount/],
  ] as const) {
    await expect(verify(asAgent, intentId, body)).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(message),
    });
  }
  const stranger = clientsOf((await aPayer(world)).owner);
  const sibling = clientsOf(world.as((await aPayer(world, { owner: payer.owner })).token));
  await expect(verify(stranger, intentId, { actualAmountEuros: 1 })).rejects.toMatchObject({ status: 404 });
  await expect(verify(sibling, intentId, { actualAmountEuros: 1 })).rejects.toMatchObject({ status: 403 });
});
