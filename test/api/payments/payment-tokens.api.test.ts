/**
 * Goal: a payment token pays for its own intent, once, up to its ceiling, whatever the policy would let through without
 * it. Method: checkouts under way as rows, the network's messages over real HTTP.
 * @module
 */
import { createHash, randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { newId } from '../../../src/kernel/ids.ts';
import { type Network, usePayments } from '../../support/payments-suite.ts';
import { anIntent, aPayer, balancesOf, expireIn, type Payer } from '../../support/payments-world.ts';
import type { World } from '../../support/world.ts';

let world: World;
let network: Network;
usePayments((started) => {
  ({ world, network } = started);
});

async function aCheckout(payer: Payer, intentId: string, status = 'paying') {
  const [id, token] = [newId('checkout'), `spt_${randomUUID()}`];
  await world.sql(
    `insert into checkouts (id, owner_id, agent_id, intent_id, card_id, target_url, status, amount_cents, ceiling_cents,
       token_hash, request_id, created_at, updated_at)
     values ($1, $2, $3, $4, $5, 'https://shop.example/x', $6, 1250, 1250, $7, 'req', now(), now())`,
    [
      id,
      payer.owner.ownerId,
      payer.agentId,
      intentId,
      payer.cardId,
      status,
      createHash('sha256').update(token).digest('hex'),
    ],
  );
  return { id, token };
}
const statusOf = async (id: string) =>
  (await world.sql<{ status: string }>('select status from checkouts where id = $1', [id]))[0]?.status;
const isRunOpen = async (id: string) =>
  (await world.sql<{ is_open: boolean }>('select is_open from workflow_runs where id = $1', [`checkout/${id}`]))[0]
    ?.is_open;
const intentOf = async (id: string) =>
  (await world.sql('select status, matched_transaction_id from intents where id = $1', [id]))[0];
/** The policy asks for no intent: only the token binds the charge to one. */
const buyer = (over: Parameters<typeof aPayer>[1] = {}) => aPayer(world, { fundsCents: 10_000, ...over });

test('pays for its own intent', async () => {
  const payer = await buyer();
  const [, intentId] = [await anIntent(world, payer), await anIntent(world, payer)];
  const { id, token } = await aCheckout(payer, intentId);
  const { body } = await network.authorize(payer, { token });
  expect(body.decision).toBe('approved');
  expect([await statusOf(id), await intentOf(intentId)]).toEqual([
    'paid',
    { status: 'approved', matched_transaction_id: body.transactionId },
  ]);
});

test.each(['cancelled', 'expired', 'completed'])(
  'its intent is %s meanwhile: declined, nothing held',
  async (status) => {
    const payer = await buyer();
    const intentId = await anIntent(world, payer, { status });
    const { id, token } = await aCheckout(payer, intentId);
    const { body } = await network.authorize(payer, { token });
    expect(body).toMatchObject({ decision: 'declined', rule: 'checkout_intent' });
    expect(await statusOf(id)).toBe('declined');
    expect(await intentOf(intentId)).toMatchObject({ status });
    expect(await balancesOf(world, payer)).toEqual({ available: 10_000, held: 0, receivable: 0 });
  },
);

test('its intent is paid for by another transaction: declined, also where the rules ask for an intent', async () => {
  const payer = await buyer({ policy: { require_intent: true } });
  const intentId = await anIntent(world, payer);
  const { token } = await aCheckout(payer, intentId);
  expect((await network.authorize(payer)).body.decision).toBe('approved');
  expect((await network.authorize(payer, { token })).body.rule).toBe('checkout_intent');
});

test('a second time it is declined, and changes neither checkout nor intent', async () => {
  const payer = await buyer();
  const intentId = await anIntent(world, payer);
  const { id, token } = await aCheckout(payer, intentId);
  const message = network.authorizationOf(payer, { token });
  const { body } = await network.send<{ transactionId: string }>('authorizations', message);
  expect((await network.authorize(payer, { token })).body).toMatchObject({ decision: 'declined', rule: 'token_used' });
  expect(await intentOf(intentId)).toEqual({ status: 'approved', matched_transaction_id: body.transactionId });
  await network.reverse(payer, { authorizationId: message.id });
  expect((await network.authorize(payer, { token })).body.rule).toBe('token_used');
  expect([await statusOf(id), await intentOf(intentId)]).toEqual([
    'paid',
    { status: 'approved', matched_transaction_id: null },
  ]);
});

test('ten at once: one hold', async () => {
  const payer = await buyer();
  const { token } = await aCheckout(payer, await anIntent(world, payer));
  const answers = await Promise.all(Array.from({ length: 10 }, () => network.authorize(payer, { token })));
  expect(answers.filter(({ body }) => body.decision === 'approved')).toHaveLength(1);
  expect((await balancesOf(world, payer)).held).toBe(1_250);
});

test('above its ceiling: declined, also where a part could be approved', async () => {
  const payer = await buyer();
  const intentId = await anIntent(world, payer, { amountCents: 5_000 });
  const { id, token } = await aCheckout(payer, intentId);
  const { body } = await network.authorize(payer, { token, amountCents: 5_000, partialSupported: true });
  expect(body).toMatchObject({ decision: 'declined', rule: 'over_ceiling' });
  expect(body.reason).toContain('up to 12.50, asked 50.00');
  expect([await statusOf(id), await intentOf(intentId)]).toMatchObject(['declined', { status: 'failed' }]);
});

test('two checkouts of one intent, the first taken for failed: one of their tokens pays', async () => {
  const payer = await buyer();
  const intentId = await anIntent(world, payer);
  const [failed, second] = [await aCheckout(payer, intentId, 'failed'), await aCheckout(payer, intentId)];
  const answers = await Promise.all([failed, second].map(({ token }) => network.authorize(payer, { token })));
  expect(answers.map(({ body }) => body.decision).sort()).toEqual(['approved', 'declined']);
  expect([await statusOf(failed.id), await statusOf(second.id)].sort()).toEqual(['declined', 'paid']);
  expect((await balancesOf(world, payer)).held).toBe(1_250);
});

test('a late charge on a failed checkout ends that checkout and leaves the run of the checkout under way open', async () => {
  const payer = await buyer();
  const intentId = await anIntent(world, payer);
  const former = await aCheckout(payer, intentId, 'failed');
  const underWay = await aCheckout(payer, intentId);
  for (const [{ id }, isOpen] of [[former, false] as const, [underWay, true] as const]) {
    await world.sql(
      `insert into workflow_runs (id, workflow, subject_id, owner_id, agent_id, stage, is_open, created_at)
       values ('checkout/' || $1, 'checkout', $1, $2, $3, 'paying', $4, now())`,
      [id, payer.owner.ownerId, payer.agentId, isOpen],
    );
  }
  await network.authorize(payer, { token: former.token });
  expect([await statusOf(former.id), await statusOf(underWay.id)]).toEqual(['paid', 'paying']);
  expect([await isRunOpen(former.id), await isRunOpen(underWay.id)]).toEqual([false, true]);
  await network.authorize(payer, { token: underWay.token });
  expect([await statusOf(underWay.id), await isRunOpen(underWay.id)]).toEqual(['declined', false]);
});

test('an account check does not use the token up', async () => {
  const payer = await buyer();
  const intentId = await anIntent(world, payer);
  const { id, token } = await aCheckout(payer, intentId);
  const check = await network.authorize(payer, { token, kind: 'verification', amountCents: 0 });
  expect(check.body.decision).toBe('approved');
  expect([await statusOf(id), await intentOf(intentId)]).toMatchObject(['paying', { matched_transaction_id: null }]);
  expect((await network.authorize(payer, { token })).body.decision).toBe('approved');
});

test.each(['at once', 'after it was booked'])(
  'all of it collected before, and more than the intent allows: its intent is paid for once, asked %s',
  async (when) => {
    const payer = await buyer();
    const intentId = await anIntent(world, payer, { ttlMs: 60 * 86_400_000 });
    const { id, token } = await aCheckout(payer, intentId);
    const message = network.authorizationOf(payer, { token, amountCents: 2_000 });
    await network.clear(payer, { authorizationId: message.id, amountCents: 2_000 });
    if (when !== 'at once') await expireIn(world, new Date(Date.now() + 1.1 * 86_400_000));
    const { body } = await network.send<{ transactionId: string }>('authorizations', message);
    expect(body).toMatchObject({ decision: 'approved', rule: 'cleared_before' });
    expect([await statusOf(id), await intentOf(intentId)]).toEqual([
      'paid',
      { status: 'completed', matched_transaction_id: body.transactionId },
    ]);
    expect(await balancesOf(world, payer)).toEqual({ available: 8_000, held: 0, receivable: 0 });
  },
);
