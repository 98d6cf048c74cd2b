/**
 * Goal: a cancelled intent leaves no credential that pays. Of a cancellation and a charge the one that commits first
 * counts, wherever the other one is. Method: credentials as rows, real HTTP, and locks that hold one of the two back.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { runSql } from '../../../src/db/statement.ts';
import { agentsArea } from '../../../src/domains/parties/agents/agent.contract.ts';
import { mppCredentialsArea } from '../../../src/domains/payments/mpp-credentials/mpp-credential.contract.ts';
import { intentsArea } from '../../../src/domains/spending/intents/intent.contract.ts';
import { registeredMerchant } from '../../support/factories/merchants.ts';
import { someoneWaits } from '../../support/lock-waits.ts';
import { aCredential, apiShop, type Credential, credentialRow, eventNamesOf } from '../../support/mpp-world.ts';
import { anUnknownPayment } from '../../support/open-payment.ts';
import {
  anIntent,
  aPayer,
  balancesOf,
  brokenInvariants,
  inDatabase,
  networkOf,
  type Payer,
} from '../../support/payments-world.ts';
import { aSubscriber, musicClub } from '../../support/recurring-world.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
let network: ReturnType<typeof networkOf>;
let merchant: { id: string; merchant_secret_key: string };
beforeAll(async () => {
  world = await startWorld();
  network = networkOf(world);
  merchant = await registeredMerchant(await world.owner());
});
afterAll(async () => {
  expect(await brokenInvariants(world)).toEqual([]);
  await world.close();
});

type Order = { readonly payer: Payer; readonly intentId: `int_${string}`; readonly credential: Credential };

async function anOrder(columns: Readonly<Record<string, unknown>> = {}): Promise<Order> {
  const payer = await aPayer(world, { fundsCents: 10_000, policy: { require_intent: true } });
  const intentId = await anIntent(world, payer, { merchant: apiShop.id });
  return { payer, intentId, credential: await aCredential(world, payer, intentId, columns) };
}
const cancel = ({ payer, intentId }: Order): Promise<number> =>
  world
    .as(payer.token)
    .client(intentsArea)
    .cancelIntent({ params: { id: intentId }, body: {} })
    .then(
      () => 200,
      ({ status }: { status: number }) => status,
    );
const charge = async ({ payer, credential }: Order) =>
  (await network.authorize(payer, { token: credential.token, merchant: apiShop })).body;
const statusOf = async ({ intentId }: Order) =>
  (await world.sql('select status from intents where id = $1', [intentId]))[0]?.status;
const charged = { available: 8_750, held: 1_250, receivable: 0 };
const untouched = { available: 10_000, held: 0, receivable: 0 };

/** The intent is cancelled, and nothing of the credential is left to use. */
async function expectRevoked(order: Order): Promise<void> {
  const { payer, credential } = order;
  expect(await statusOf(order)).toBe('cancelled');
  expect(await credentialRow(world, credential.id)).toEqual({
    status: 'revoked',
    transaction_id: null,
    authorized_at: null,
    sealed_credential: null,
    outcome_code: 'revoked',
  });
  expect(await eventNamesOf(world, credential.id)).toEqual(['mpp.credential.revoked']);
  expect(await world.sql('select action from audit where subject_id = $1', [credential.id])).toEqual([
    { action: 'mpp.credential.revoked' },
  ]);
  expect(await world.sql('select is_open from workflow_runs where subject_id = $1', [credential.id])).toEqual([
    { is_open: false },
  ]);
  expect(await charge(order)).toMatchObject({ decision: 'declined', rule: 'token_revoked' });
  expect(await balancesOf(world, payer)).toEqual(untouched);
}

/** Does `work` while `held` is locked, and returns when the request that was started before it waits for that lock. */
async function whileWaiting<T>(
  [table, id]: readonly ['agents' | 'mpp_credentials', string],
  request: () => Promise<T>,
  work: () => Promise<void>,
): Promise<T> {
  let asked: Promise<T> | undefined;
  await inDatabase(world, (database) =>
    database.write(async (tx) => {
      await runSql(tx, `select 1 from ${table} where id = $1 for update`, [id]);
      asked = request();
      asked.catch(() => undefined); // Looked at once the lock is free.
      await someoneWaits(world);
      await work();
    }),
  );
  if (asked === undefined) throw new Error('nothing was asked');
  return asked;
}

describe('cancelling an intent', () => {
  test('revokes its credential, in one transaction; a charge after it is declined and tells why', async () => {
    const [order, another] = [await anOrder(), await anOrder()];
    const beside = await anIntent(world, order.payer, { merchant: apiShop.id });
    const sibling = await aCredential(world, order.payer, beside);
    expect(await cancel(order)).toBe(200);
    await expectRevoked(order);
    // Those of another intent of the agent, and of another owner, stay.
    for (const { id } of [sibling, another.credential])
      expect(await credentialRow(world, id)).toMatchObject({ status: 'minted', outcome_code: null });
    expect(await cancel(order)).toBe(200);
    expect(await eventNamesOf(world, order.credential.id)).toHaveLength(1);
    const { payer, credential, intentId } = order;
    const client = payer.owner.client(mppCredentialsArea);
    expect(await client.getMppCredential({ params: { id: credential.id } })).toMatchObject({
      status: 'revoked',
      reason: `intent ${intentId} was cancelled`,
    });
    const listed = await client.listMppCredentials({ query: { status: 'revoked', intentId } });
    expect(listed.data.map(({ id }) => id)).toEqual([credential.id]);
  });

  test('revokes one that is still being minted, and leaves one that has ended', async () => {
    const requested = await anOrder({
      status: 'requested',
      token_hash: null,
      sealed_credential: null,
      minted_at: null,
    });
    expect(await cancel(requested)).toBe(200);
    expect(await credentialRow(world, requested.credential.id)).toMatchObject({ status: 'revoked' });
    const expired = await anOrder({ status: 'expired', sealed_credential: null });
    expect(await cancel(expired)).toBe(200);
    expect(await credentialRow(world, expired.credential.id)).toMatchObject({ status: 'expired' });
    expect(await eventNamesOf(world, expired.credential.id)).toEqual([]);
  });

  test('the merchant cannot verify it any more: 410', async () => {
    const order = await anOrder({ merchant_id: merchant.id });
    await cancel(order);
    const answer = await fetch(`${world.apiUrl}/v1/mpp/credentials/${order.credential.id}/verify`, {
      method: 'POST',
      headers: { 'X-Merchant-Key': merchant.merchant_secret_key },
    });
    expect([answer.status, await answer.json()]).toEqual([
      410,
      expect.objectContaining({ detail: expect.stringContaining('was revoked, because its intent was cancelled') }),
    ]);
  });

  test.each(['closeAgent', 'updateAgent'] as const)('%s does so for every intent of the agent', async (how) => {
    const order = await anOrder();
    const params = { id: order.payer.agentId };
    const client = order.payer.owner.client(agentsArea);
    await (how === 'closeAgent'
      ? client.closeAgent({ params })
      : client.updateAgent({ params, body: { status: 'closed' } }));
    expect(await statusOf(order)).toBe('cancelled');
    expect(await credentialRow(world, order.credential.id)).toMatchObject({ status: 'revoked' });
    expect(await eventNamesOf(world, order.credential.id)).toEqual(['mpp.credential.revoked']);
    expect((await charge(order)).decision).toBe('declined');
  });
});

test('what a closed agent left to its payment is cancelled and revoked when an operator finds that it was not paid', async () => {
  const payer = await aPayer(world, { fundsCents: 10_000, policy: { require_intent: true } });
  const intentId = await anIntent(world, payer, { merchant: apiShop.id });
  const payment = await anUnknownPayment(world, payer, intentId);
  await payer.owner.client(agentsArea).closeAgent({ params: { id: payer.agentId } });
  const order = { payer, intentId, credential: payment.credential };
  expect(await statusOf(order)).toBe('approved');
  expect(await credentialRow(world, payment.credential.id)).toMatchObject({ status: 'minted' });
  await resolveAsNotPaid(payer, payment.id);
  expect(await statusOf(order)).toBe('cancelled');
  expect(await credentialRow(world, payment.credential.id)).toMatchObject({ status: 'revoked' });
  expect(await eventNamesOf(world, payment.credential.id)).toEqual(['mpp.credential.revoked']);
  expect(await eventNamesOf(world, intentId)).toContain('intent.cancelled');
});

test('of a recurring intent its open window is missed then', async () => {
  const { payer, declare, charge, reverse, windows, eventsOf } = await aSubscriber(world);
  const { id: intentId } = await declare();
  const { authorizationId } = await charge();
  await reverse(authorizationId);
  expect(await windows(intentId)).toMatchObject([{ number: 1, status: 'open' }]);
  const credential = { amount_cents: 1_000, ceiling_cents: 1_000, recipient: musicClub.id, host: null, origin: null };
  const payment = await anUnknownPayment(world, payer, intentId, credential);
  await world.sql('update wallets set is_default = true where id = $1', [payer.walletId]); // For the agent's money.
  await payer.owner.client(agentsArea).closeAgent({ params: { id: payer.agentId } });
  expect(await windows(intentId)).toMatchObject([{ number: 1, status: 'open' }]);
  await resolveAsNotPaid(payer, payment.id);
  expect(await windows(intentId)).toMatchObject([{ number: 1, status: 'missed', transactionId: null }]);
  expect((await eventsOf(intentId)).slice(-2)).toEqual(['intent.cancelled', 'intent_window.missed']);
});

async function resolveAsNotPaid({ owner }: Payer, paymentId: string): Promise<void> {
  const answer = await fetch(`${world.apiUrl}/v1/mpp/payments/${paymentId}/resolve`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'X-Dashboard-Secret': world.dashboardSecret,
      'X-Owner-Id': owner.ownerId,
    },
    body: JSON.stringify({ outcome: 'not-paid' }),
  });
  expect(answer.status).toBe(200);
}

describe('a charge and a cancellation at once', () => {
  test('the charge has read its facts when the cancellation commits: it is declined, and nothing is held', async () => {
    const order = await anOrder();
    const answer = await whileWaiting(
      ['agents', order.payer.agentId],
      () => charge(order),
      async () => {
        expect(await cancel(order)).toBe(200);
      },
    );
    expect(answer).toMatchObject({ decision: 'declined', rule: 'token_revoked' });
    await expectRevoked(order);
  });

  test('the cancellation waits while the charge commits: it is refused, and the intent is paid for', async () => {
    const order = await anOrder();
    // The charge holds the intent, and waits for the credential that the test holds; the cancellation waits for the intent.
    let cancelled: Promise<number> = Promise.resolve(0);
    const answer = await whileWaiting(
      ['mpp_credentials', order.credential.id],
      () => charge(order),
      async () => {
        cancelled = cancel(order);
        await someoneWaits(world, { count: 2 });
      },
    );
    expect(answer).toMatchObject({ decision: 'approved' });
    expect(await cancelled).toBe(400);
    expect(await credentialRow(world, order.credential.id)).toMatchObject({ status: 'consumed' });
    expect(await statusOf(order)).toBe('approved');
    expect(await balancesOf(world, order.payer)).toEqual(charged);
  });

  test('whatever the order, exactly one of the two succeeds', async () => {
    for (let round = 0; round < 8; round++) {
      const order = await anOrder();
      const both = [() => charge(order).then(({ decision }) => decision), () => cancel(order)];
      const answers = await Promise.all((round % 2 === 0 ? both : both.toReversed()).map((ask) => ask()));
      const isPaid = answers.includes('approved');
      expect(answers).toContain(isPaid ? 400 : 200);
      expect(await credentialRow(world, order.credential.id)).toMatchObject({
        status: isPaid ? 'consumed' : 'revoked',
      });
      expect(await statusOf(order)).toBe(isPaid ? 'approved' : 'cancelled');
      expect(await balancesOf(world, order.payer)).toEqual(isPaid ? charged : untouched);
    }
  });
});
