/**
 * Goal: whatever shop and processor do, the checkout's row ends right and nothing is paid twice. Method: the real
 * activities over real rows; shop and processor answer as the test says.
 * @module
 */

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { checkoutActivities } from '../../../activities/payments/checkout.activities.ts';
import { allowAllRisk } from '../../../src/adapters/risk/allow-all.ts';
import { databaseOf } from '../../../src/db/database.ts';
import { type Orm, openDatabase } from '../../../src/db/orm.ts';
import type { OfferOutcome, PayOutcome } from '../../../src/domains/payments/checkout/checkout.port.ts';
import { unavailable } from '../../../src/kernel/errors.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { cents } from '../../../src/kernel/money.ts';
import { entities } from '../../../src/main/modules/index.ts';
import { evaluateCharge } from '../../../src/usecases/payments/evaluate-charge.ts';
import { anIntent, aPayer, networkOf, type Payer, sandboxShop } from '../../support/payments-world.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
let orm: Orm;
let network: ReturnType<typeof networkOf>;
let nowMs = Date.now();
let said: PayOutcome[] = [];
let payments: { token: string; key: string }[] = [];
let isProcessorAway = false;
let mintRefusal: 'closed' | 'not_accepted' | undefined;
let onPay: (token: string) => Promise<void> = async () => undefined;

const offer: OfferOutcome = {
  outcome: 'offer',
  orderId: 'ord_1',
  amountCents: cents(1_250),
  currency: 'EUR',
  merchant: sandboxShop,
  payUrl: 'https://shop.example/pay',
};
let offered: OfferOutcome = offer;

const activities = () =>
  checkoutActivities({
    database: databaseOf(orm),
    clock: { now: async () => new Date(nowMs), offsetMs: async () => 0 },
    merchantCheckout: {
      readOffer: async () => offered,
      pay: async ({ paymentToken, idempotencyKey }) => {
        payments.push({ token: paymentToken, key: idempotencyKey });
        await onPay(paymentToken);
        return said.shift() ?? { outcome: 'unknown', reason: 'unreachable' };
      },
    },
    evaluate: evaluateCharge({ risk: allowAllRisk }),
    signerOf: async () => undefined,
    cardProcessor: {
      mintPaymentToken: async ({ idempotencyKey }) => {
        if (isProcessorAway) throw unavailable('the card processor did not answer');
        if (mintRefusal !== undefined) return { outcome: 'refused', reason: mintRefusal };
        return { outcome: 'minted', paymentToken: `spt_${idempotencyKey}`, expiresAt: new Date().toISOString() };
      },
    },
  });

beforeAll(async () => {
  world = await startWorld();
  network = networkOf(world);
  orm = await openDatabase({ url: world.config.DATABASE_URL, entities, poolSize: 3, applicationName: 'test' });
});
afterAll(async () => {
  await orm.close();
  await world.close();
});

async function aCheckout(
  over: Parameters<typeof anIntent>[2] = {},
): Promise<{ id: string; intentId: string; payer: Payer }> {
  [said, payments, isProcessorAway, mintRefusal, offered] = [[], [], false, undefined, offer];
  onPay = async () => undefined;
  nowMs = Date.now();
  const payer = await aPayer(world, { policy: { require_intent: true }, fundsCents: 5_000 });
  const intentId = await anIntent(world, payer, over);
  const id = newId('checkout');
  await world.sql(
    `insert into checkouts (id, owner_id, agent_id, intent_id, card_id, target_url, status, request_id, created_at, updated_at)
     values ($1, $2, $3, $4, $5, 'https://shop.example/x', 'open', 'req', now(), now())`,
    [id, payer.owner.ownerId, payer.agentId, intentId, payer.cardId],
  );
  await world.sql(
    `insert into workflow_runs (id, workflow, subject_id, owner_id, agent_id, stage, created_at) values ($1, 'checkout', $2, $3, $4, 'open', now())`,
    [`checkout/${id}`, id, payer.owner.ownerId, payer.agentId],
  );
  return { id, intentId, payer };
}
const rowOf = async (id: string) =>
  (await world.sql('select status, outcome_code, transaction_id, pay_attempts from checkouts where id = $1', [id]))[0];
const isOpen = async (id: string) =>
  (await world.sql<{ is_open: boolean }>('select is_open from workflow_runs where id = $1', [`checkout/${id}`]))[0]
    ?.is_open;

test('a shop that is silent after the authorization: the row says paid', async () => {
  const { id, payer } = await aCheckout();
  const { readOffer, mintAndPay } = activities();
  expect(await readOffer(id)).toMatchObject({ view: { status: 'offered', amountCents: 1_250 } });
  onPay = async (token) => void (await network.authorize(payer, { token }));
  expect(await mintAndPay(id)).toMatchObject({
    view: { status: 'paid', transactionId: expect.stringMatching(/^tx_/) },
  });
  expect(await isOpen(id)).toBe(false);
  expect(await mintAndPay(id)).toMatchObject({ view: { status: 'paid' } });
  expect(payments).toHaveLength(1);
});

test('a rule that changes between the evaluation and the network’s request declines the payment', async () => {
  const { id, intentId, payer } = await aCheckout();
  const { readOffer, mintAndPay } = activities();
  expect(await readOffer(id)).toMatchObject({ view: { status: 'offered' } });
  onPay = async (token) => {
    await world.sql(`update policies set blocked_mccs = '{5734}', version = version + 1 where id = $1`, [
      payer.policyId,
    ]);
    await network.authorize(payer, { token });
  };
  expect(await mintAndPay(id)).toMatchObject({ view: { status: 'declined', code: 'mcc_blocklist' } });
  expect(await world.sql('select status from intents where id = $1', [intentId])).toEqual([{ status: 'failed' }]);
});

test('an offer that a rule forbids is refused with rule and figures, without a call to processor or shop', async () => {
  const { id, intentId, payer } = await aCheckout();
  await world.sql(`update policies set daily_limit_cents = 1249, version = version + 1 where id = $1`, [
    payer.policyId,
  ]);
  const { readOffer, mintAndPay } = activities();
  expect(await readOffer(id)).toMatchObject({ view: { status: 'refused', code: 'daily_limit', amountCents: 1_250 } });
  expect(await mintAndPay(id)).toMatchObject({ view: { status: 'refused' } });
  expect(payments).toEqual([]);
  const [row] = await world.sql('select outcome_reason, token_hash from checkouts where id = $1', [id]);
  expect(row).toEqual({
    outcome_reason: 'forbidden by the rule daily_limit: daily limit 12.49, spent 0.00, asked 12.50; nothing was held',
    token_hash: null,
  });
  expect(await world.sql('select status from intents where id = $1', [intentId])).toEqual([{ status: 'approved' }]);
});

test('an unknown outcome is queried again with the same token, at growing intervals, until the network’s authorization', async () => {
  const { id, payer } = await aCheckout();
  const { readOffer, mintAndPay, readCheckout } = activities();
  await readOffer(id);
  expect(await mintAndPay(id)).toMatchObject({ view: { status: 'paying', code: 'unreachable' } });
  expect((await readCheckout(id)).dueInMs.askShopAgain).toBeGreaterThan(0);
  nowMs += 1_001;
  expect((await readCheckout(id)).dueInMs.askShopAgain).toBeLessThanOrEqual(0);
  await mintAndPay(id);
  expect(new Set(payments.map(({ token, key }) => `${token} ${key}`)).size).toBe(1);
  const { body } = await network.authorize(payer, { token: payments[0]?.token });
  expect(await readCheckout(id)).toMatchObject({
    final: true,
    view: { status: 'paid', transactionId: body.transactionId },
  });
});

test('a shop that reports twice that it took no payment fails the checkout; the intent can be paid again', async () => {
  const { id, intentId } = await aCheckout();
  const { readOffer, mintAndPay } = activities();
  await readOffer(id);
  said = [{ outcome: 'declined' }, { outcome: 'declined' }];
  expect(await mintAndPay(id)).toMatchObject({ view: { status: 'paying', code: 'shop_declined' } });
  expect(await mintAndPay(id)).toMatchObject({ view: { status: 'failed', code: 'shop_declined' } });
  expect(await world.sql('select status from intents where id = $1', [intentId])).toEqual([{ status: 'approved' }]);
  expect(await isOpen(id)).toBe(false);
});

test('a shop’s answer `paid` counts only with the network’s authorization', async () => {
  const { id } = await aCheckout();
  const { readOffer, mintAndPay } = activities();
  await readOffer(id);
  said = [{ outcome: 'paid' }];
  expect(await mintAndPay(id)).toMatchObject({ view: { status: 'paying', code: 'paid_unseen', transactionId: null } });
});

test('silence is taken as not paid after the token and seven days', async () => {
  const { id } = await aCheckout();
  const { readOffer, mintAndPay } = activities();
  await readOffer(id);
  await mintAndPay(id);
  nowMs += 7 * 86_400_000;
  expect(await mintAndPay(id)).toMatchObject({ view: { status: 'paying' } });
  nowMs += 15 * 60_000;
  expect(await mintAndPay(id)).toMatchObject({ view: { status: 'failed', code: 'not_paid' } });
});

test('an authorization after a failed checkout is recorded as a transaction', async () => {
  const { id, payer } = await aCheckout();
  const { readOffer, mintAndPay } = activities();
  await readOffer(id);
  said = [{ outcome: 'declined' }, { outcome: 'declined' }];
  await mintAndPay(id);
  await mintAndPay(id);
  const { body } = await network.authorize(payer, { token: payments[0]?.token });
  expect(body.decision).toBe('approved');
  expect(await rowOf(id)).toMatchObject({ status: 'paid', transaction_id: body.transactionId });
});

test('the processor away: nothing is paid, the step is tried again, and one token is minted', async () => {
  const { id } = await aCheckout();
  const { readOffer, mintAndPay } = activities();
  await readOffer(id);
  isProcessorAway = true;
  await expect(mintAndPay(id)).rejects.toMatchObject({ type: 'unavailable', nonRetryable: false });
  expect(payments).toEqual([]);
  isProcessorAway = false;
  await mintAndPay(id);
  expect(payments).toHaveLength(1);
});

test('the processor away for good: given up after the token’s life and seven days', async () => {
  const { id } = await aCheckout();
  const { readOffer, mintAndPay } = activities();
  await readOffer(id);
  isProcessorAway = true;
  await expect(mintAndPay(id)).rejects.toMatchObject({ type: 'unavailable' });
  nowMs += 7 * 86_400_000 + 15 * 60_000;
  expect(await mintAndPay(id)).toMatchObject({ view: { status: 'failed', code: 'not_paid' } });
  expect([payments, await isOpen(id)]).toEqual([[], false]);
});

test.each([
  ['closed', /the card is closed there; nothing was held/],
  ['not_accepted', /it does not take this order; nothing was held/],
] as const)(
  'a token that the processor refuses (%s): refused, and nothing was asked of the shop',
  async (why, words) => {
    const { id } = await aCheckout();
    const { readOffer, mintAndPay } = activities();
    await readOffer(id);
    mintRefusal = why;
    expect(await mintAndPay(id)).toMatchObject({ view: { status: 'refused', code: 'card_refused' } });
    expect(payments).toEqual([]);
    const [row] = await world.sql('select outcome_reason from checkouts where id = $1', [id]);
    expect(row?.outcome_reason).toMatch(words);
  },
);

test('a refusal after the payment was sent ends nothing: the network’s authorization may still come', async () => {
  const { id, payer } = await aCheckout();
  const { readOffer, mintAndPay, readCheckout } = activities();
  await readOffer(id);
  expect(await mintAndPay(id)).toMatchObject({ view: { status: 'paying', code: 'unreachable' } });
  mintRefusal = 'closed';
  nowMs += 2_000;
  expect(await mintAndPay(id)).toMatchObject({ view: { status: 'paying', code: 'card_refused' } });
  expect((await readCheckout(id)).dueInMs.askShopAgain).toBeGreaterThan(0);
  const { body } = await network.authorize(payer, { token: payments[0]?.token });
  expect(await readCheckout(id)).toMatchObject({
    final: true,
    view: { status: 'paid', transactionId: body.transactionId },
  });
});

test('an intent that was cancelled, matched or ran out meanwhile is not paid for', async () => {
  const changes = [
    `status = 'cancelled'`,
    `matched_transaction_id = 'tx_aaaaaaaa'`,
    `expires_at = now() - interval '1 minute'`,
  ];
  for (const change of changes) {
    const { id, intentId } = await aCheckout();
    const { readOffer, mintAndPay } = activities();
    await readOffer(id);
    await world.sql(`update intents set ${change} where id = $1`, [intentId]);
    expect(await mintAndPay(id)).toMatchObject({ view: { status: 'refused', code: 'intent' } });
    expect(payments).toEqual([]);
  }
});

test('the token is nowhere but at processor and shop', async () => {
  const { id } = await aCheckout();
  const { readOffer, mintAndPay } = activities();
  await readOffer(id);
  const answer = JSON.stringify(await mintAndPay(id));
  const token = payments[0]?.token ?? '';
  expect(token).toMatch(/^spt_/);
  expect(answer).not.toContain(token);
  const tables = ['checkouts', 'events', 'audit', 'transitions', 'workflow_runs'];
  for (const table of tables) {
    expect(await world.sql(`select 1 from ${table} t where t::text like '%' || $1 || '%'`, [token])).toEqual([]);
  }
});
