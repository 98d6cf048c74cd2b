/**
 * Goal: what `evaluateCharge` says before the network is asked is what the authorization then decides, by the same
 * rule with the same words. Method: both over the same rows, with one rule of the policy after another.
 * @module
 */

import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { allowAllRisk } from '../../../src/adapters/risk/allow-all.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { evaluateCharge } from '../../../src/usecases/payments/evaluate-charge.ts';
import { anIntent, aPayer, inDatabase, networkOf, type Payer, sandboxShop } from '../../support/payments-world.ts';
import { businessNow, startWorld, type World } from '../../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(async () => {
  await world.close();
});

test.each([
  ['within_rules', {}, {}, {}],
  ['mcc_blocklist', { blocked_mccs: ['5734'] }, {}, {}],
  ['mcc_allowlist', { mcc_categories: ['airlines'] }, {}, {}],
  ['country', { allowed_countries: ['FR'] }, {}, {}],
  ['merchant_blocklist', { merchant_blocklist: ['Sandbox Shop'] }, {}, {}],
  ['merchant_allowlist', { merchant_allowlist: ['Bakery'] }, {}, {}],
  ['max_transaction', { max_transaction_cents: 1_249 }, {}, {}],
  ['daily_limit', { daily_limit_cents: 2_000 }, { spentCents: 1_000 }, {}],
  ['monthly_limit', { monthly_limit_cents: 2_000 }, { spentCents: 1_000 }, {}],
  ['cooldown', { cooldown_minutes: 60 }, { spentCents: 100 }, {}],
  ['usage_count', { max_usage_count: 1 }, { spentCents: 100 }, {}],
  ['attestation', { require_attestation: true }, {}, {}],
  ['auto_approve_limit', { auto_approve_limit_cents: 1_000 }, {}, { isAutoApproved: true }],
  ['within_rules', { auto_approve_limit_cents: 1_000 }, {}, { isAutoApproved: false }],
  ['insufficient_funds', {}, { fundsCents: 1_249 }, {}],
] as const)('%s with %j, %j', async (rule, policy, { spentCents = 0, fundsCents = 5_000 }: Spent, intent) => {
  const network = networkOf(world);
  const payer = await aPayer(world, { policy: { require_intent: false, ...policy }, fundsCents });
  if (spentCents > 0) {
    const { body } = await network.authorize(payer, { amountCents: spentCents });
    expect(body.decision).toBe('approved');
  }
  const intentId = await anIntent(world, payer, intent);
  const { id, name, mcc, country } = sandboxShop;
  const request = { amountCents: 1_250, merchant: { id, name }, mcc, country, kind: 'purchase' } as const;
  const at = await businessNow(world);
  const { decision } = await inDatabase(world, (database) =>
    database.write((tx) => evaluateCharge({ risk: allowAllRisk })(tx, { intentId, cardId: payer.cardId, request }, at)),
  );
  const { body } = await network.authorize(payer);
  expect(decision.rule).toBe(rule);
  expect({ ...body, transactionId: undefined }).toEqual({
    decision: decision.outcome,
    approvedCents: decision.approvedCents,
    rule: decision.rule,
    reason: decision.reason,
  });
});

type Spent = { readonly spentCents?: number; readonly fundsCents?: number };

const cents = fc.integer({ min: 800, max: 2_600 });
const limit = fc.oneof({ weight: 2, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: cents });
const state = fc.record({
  policy: fc.record({
    require_intent: fc.boolean(),
    max_transaction_cents: limit,
    daily_limit_cents: limit,
    monthly_limit_cents: limit,
    auto_approve_limit_cents: limit,
    amount_tolerance_percent: fc.constantFrom(null, 0, 10, 50),
    max_usage_count: fc.constantFrom(null, null, 1, 2),
    lock_to_first_merchant: fc.boolean(),
    require_attestation: fc.constantFrom(false, false, false, true),
    allowed_countries: fc.constantFrom([], [], ['DE'], ['FR']),
    expires_after_minutes: fc.constantFrom(null, null, 1, 600_000),
  }),
  card: fc.record({
    usage: fc.constantFrom('multi', 'multi', 'single'),
    status: fc.constantFrom('active', 'active', 'active', 'frozen'),
    max_transaction_cents: limit,
    daily_limit_cents: limit,
    monthly_limit_cents: limit,
  }),
  askedCents: fc.integer({ min: 900, max: 2_000 }),
  spentCents: fc.array(fc.integer({ min: 1, max: 900 }), { maxLength: 2 }),
  fundsCents: fc.constantFrom(2_500, 5_000, 9_000),
  isAutoApproved: fc.boolean(),
});

test('both decisions are equal over random policies, cards and spending', async () => {
  const rules = new Set<string>();
  const network = networkOf(world);
  await fc.assert(
    fc.asyncProperty(state, async ({ policy, card, askedCents, spentCents, fundsCents, isAutoApproved }) => {
      const payer = await aPayer(world, { fundsCents });
      for (const amountCents of spentCents) await network.authorize(payer, { amountCents });
      await setColumns('policies', payer.policyId, policy);
      await setColumns('cards', payer.cardId, { ...card, frozen_by: card.status === 'frozen' ? 'card' : null });
      const intentId = await anIntent(world, payer, { isAutoApproved });
      const { id, name, mcc, country } = sandboxShop;
      const request = { amountCents: askedCents, merchant: { id, name }, mcc, country, kind: 'purchase' } as const;
      const at = await businessNow(world);
      const { decision } = await inDatabase(world, (database) =>
        database.write((tx) =>
          evaluateCharge({ risk: allowAllRisk })(tx, { intentId, cardId: payer.cardId, request }, at),
        ),
      );
      const { token } = await aCheckout(payer, intentId, askedCents);
      const { body } = await network.authorize(payer, { amountCents: askedCents, token });
      rules.add(body.rule);
      // The words of a rule about hours name the minute; a token's own refusal stands before the rules.
      expect([body.decision, body.approvedCents, body.rule]).toEqual([
        decision.outcome,
        decision.approvedCents,
        decision.rule,
      ]);
    }),
    { numRuns: 40, endOnFailure: true },
  );
  expect(rules.size).toBeGreaterThan(4);
}, 120_000);

const setColumns = (table: string, id: string, columns: Readonly<Record<string, unknown>>) =>
  world.sql(
    `update ${table} set version = version + 1, ${Object.keys(columns).map((name, i) => `${name} = $${i + 2}`)} where id = $1`,
    [id, ...Object.values(columns)],
  );

/** As execute leaves it before the shop asks the network. The ceiling is the intent's with its tolerance. */
async function aCheckout(payer: Payer, intentId: string, amountCents: number): Promise<{ token: string }> {
  const token = `spt_${randomUUID()}`;
  await world.sql(
    `insert into checkouts (id, owner_id, agent_id, intent_id, card_id, target_url, status, amount_cents, ceiling_cents,
       token_hash, request_id, created_at, updated_at)
     select $1, $2, $3, $4, $5, 'https://shop.example/x', 'paying', $6,
       1250 + floor(1250 * coalesce((select amount_tolerance_percent from policies where id = $8), 0) / 100), $7, 'req', now(), now()`,
    [
      newId('checkout'),
      payer.owner.ownerId,
      payer.agentId,
      intentId,
      payer.cardId,
      amountCents,
      createHash('sha256').update(token).digest('hex'),
      payer.policyId,
    ],
  );
  return { token };
}
