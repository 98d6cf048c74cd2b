/**
 * Goal: what the decision on an authorization relies on cannot be taken out unnoticed: a payment token and an intent
 * are of one card, a recurring charge counts in all sums, and the card stands still while the decision is written. Real
 * HTTP and rows; each test fails where the database function or the rule leaves its part out.
 * @module
 */
import { createHash, randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { newId } from '../../../src/kernel/ids.ts';
import { someoneWaits } from '../../support/lock-waits.ts';
import { type Network, usePayments } from '../../support/payments-suite.ts';
import { anIntent, aPayer, balancesOf, type Payer } from '../../support/payments-world.ts';
import type { World } from '../../support/world.ts';

let world: World;
let network: Network;
usePayments((started) => {
  ({ world, network } = started);
});

/** A second card of the same agent: same policy, same wallet, same sums. */
async function secondCard(payer: Payer): Promise<Payer> {
  const [cardId, cardRef] = [newId('card'), `cr_${randomUUID()}`];
  await world.sql(
    `insert into cards (id, owner_id, agent_id, card_ref, last4, brand, expiry_month, expiry_year, status, synced_state,
       usage, is_primary, name, is_provisioning, origin, created_at, updated_at)
     select $2, owner_id, agent_id, $3, '4343', brand, expiry_month, expiry_year, status, synced_state, usage, false,
       'second', false, origin, created_at, updated_at from cards where id = $1`,
    [payer.cardId, cardId, cardRef],
  );
  return { ...payer, cardId, cardRef };
}

async function aToken(payer: Payer, intentId: string): Promise<{ checkoutId: string; token: string }> {
  const [checkoutId, token] = [newId('checkout'), `spt_${randomUUID()}`];
  await world.sql(
    `insert into checkouts (id, owner_id, agent_id, intent_id, card_id, target_url, status, amount_cents, ceiling_cents,
       token_hash, request_id, created_at, updated_at)
     values ($1, $2, $3, $4, $5, 'https://shop.example/x', 'paying', 1250, 1250, $6, 'req', now(), now())`,
    [
      checkoutId,
      payer.owner.ownerId,
      payer.agentId,
      intentId,
      payer.cardId,
      createHash('sha256').update(token).digest('hex'),
    ],
  );
  return { checkoutId, token };
}

describe('a payment token', () => {
  test.each(['of the same agent', 'of another agent'])('works for no other card %s', async (whose) => {
    const payer = await aPayer(world, { policy: { require_intent: true } });
    const other =
      whose === 'of the same agent'
        ? await secondCard(payer)
        : await aPayer(world, { owner: payer.owner, policy: { require_intent: true } });
    const intentId = await anIntent(world, payer);
    const { checkoutId, token } = await aToken(payer, intentId);
    const { body } = await network.authorize(other, { token });
    expect(body).toMatchObject({ decision: 'declined', rule: 'intent_required' });
    const [checkout] = await world.sql('select status, transaction_id from checkouts where id = $1', [checkoutId]);
    expect(checkout).toEqual({ status: 'paying', transaction_id: null });
    const [intent] = await world.sql('select status, matched_transaction_id as matched from intents where id = $1', [
      intentId,
    ]);
    expect(intent).toEqual({ status: 'approved', matched: null });
    // Its own card pays with it afterwards.
    expect((await network.authorize(payer, { token })).body.decision).toBe('approved');
  });

  test('of another card is ignored: a charge that needs no token is decided without it, and the token stays unused', async () => {
    const payer = await aPayer(world);
    const other = await secondCard(payer);
    const intentId = await anIntent(world, payer);
    const { checkoutId, token } = await aToken(payer, intentId);
    expect((await network.authorize(other, { token })).body.decision).toBe('approved');
    const [checkout] = await world.sql('select status from checkouts where id = $1', [checkoutId]);
    expect(checkout).toEqual({ status: 'paying' });
    const [intent] = await world.sql('select matched_transaction_id as matched from intents where id = $1', [intentId]);
    expect(intent).toEqual({ matched: null });
  });
});

describe('an intent', () => {
  test('pays only for charges of its card', async () => {
    const payer = await aPayer(world, { policy: { require_intent: true } });
    const other = await secondCard(payer);
    const intentId = await anIntent(world, payer);
    expect((await network.authorize(other)).body).toMatchObject({ decision: 'declined', rule: 'intent_required' });
    const { body } = await network.authorize(payer);
    expect(body.decision).toBe('approved');
    const [intent] = await world.sql('select matched_transaction_id as matched from intents where id = $1', [intentId]);
    expect(intent).toEqual({ matched: body.transactionId });
  });

  test('is not named by the decision on another card', async () => {
    const payer = await aPayer(world);
    const other = await secondCard(payer);
    await anIntent(world, payer);
    const { body } = await network.authorize(other);
    const [decision] = await world.sql('select intent_id, facts from decisions where transaction_id = $1', [
      body.transactionId,
    ]);
    expect(decision).toMatchObject({ intent_id: null, facts: { candidates: [] } });
  });
});

describe('a recurring charge', () => {
  test.each([
    ['daily_limit', { policy: { daily_limit_cents: 2_000 } }],
    ['monthly_limit', { policy: { monthly_limit_cents: 2_000 } }],
    ['card_daily_limit', { card: { daily_limit_cents: 2_000 } }],
    ['card_monthly_limit', { card: { monthly_limit_cents: 2_000 } }],
  ])('counts for %s, and is counted', async (rule, limits) => {
    const recurring = true;
    const payer = await aPayer(world, limits);
    expect((await network.authorize(payer, { recurring })).body.decision).toBe('approved');
    // 12.50 are spent: another recurring charge has no room, and neither has a plain one.
    for (const over of [{ recurring }, {}]) {
      expect((await network.authorize(payer, over)).body).toMatchObject({ decision: 'declined', rule });
    }
    const plain = await aPayer(world, limits);
    expect((await network.authorize(plain)).body.decision).toBe('approved');
    expect((await network.authorize(plain, { recurring })).body).toMatchObject({ decision: 'declined', rule });
  });

  test('that alone is above a limit is declined', async () => {
    const payer = await aPayer(world, { policy: { daily_limit_cents: 1_000, monthly_limit_cents: 1_000 } });
    expect((await network.authorize(payer, { recurring: true })).body).toMatchObject({ decision: 'declined' });
    expect((await balancesOf(world, payer)).held).toBe(0);
  });
});

describe('the card', () => {
  /** Opens a transaction that changes the card and does not commit; answers with what commits it. */
  async function changing(payer: Payer, change: string) {
    const client = new pg.Client({ connectionString: world.config.DATABASE_URL });
    await client.connect();
    await client.query('begin');
    await client.query(`update cards set ${change}, version = version + 1 where id = $1`, [payer.cardId]);
    return {
      commit: async () => {
        await client.query('commit');
        await client.end();
      },
    };
  }

  test.each([
    ['is frozen', `status = 'frozen', frozen_by = 'card'`, 'card_status'],
    ['gets a lower limit', 'max_transaction_cents = 1', 'card_max_transaction'],
  ])('%s while the decision is written: the decision waits for it, and is made anew', async (_, change, rule) => {
    const payer = await aPayer(world);
    const freeze = await changing(payer, change);
    const answer = network.authorize(payer);
    await someoneWaits(world, { statement: 'lock_decision' });
    await freeze.commit();
    expect((await answer).body).toMatchObject({ decision: 'declined', rule });
    expect((await balancesOf(world, payer)).held).toBe(0);
  });
});

const unbooked = `unbooked_reason = 'other_card', body = '{}'`;
test.each([
  ...['amount', 'requested', 'approved', 'held', 'cleared', 'reversed', 'refunded'].map((name) => [
    'transactions_cents_check',
    `${name}_cents = -1`,
  ]),
  ['transactions_status_check', `status = 'paid', held_cents = 0`],
  ['transactions_type_check', `type = 'authorisation'`],
  ['transactions_rail_check', `rail = 'cash'`],
  ['network_messages_kind_check', `kind = 'rumour'`],
  ['network_messages_unbooked_reason_check', `unbooked_reason = 'other', body = '{}'`],
  ['network_messages_settled_as_check', `${unbooked}, settled_as = 'lost', settled_reason = 'x', settled_at = now()`],
  ['transaction_events_kind_check', `kind = 'rumour'`],
])('%s refuses %s', async (constraint, change) => {
  const payer = await aPayer(world);
  const { body } = await network.authorize(payer);
  const table = /^(transactions|network_messages|transaction_events)/.exec(constraint)?.[0];
  const column = table === 'transactions' ? 'id' : 'transaction_id';
  await expect(
    world.sql(`update ${table} set ${change} where ${column} = $1`, [body.transactionId]),
  ).rejects.toMatchObject({ code: '23514', table, constraint });
});
