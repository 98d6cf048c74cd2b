/**
 * Goal: what `evaluateCharge` says before the network is asked is what the authorization then decides, by the same
 * rule with the same words. Method: both over the same rows, with one rule of the policy after another.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { evaluateCharge } from '../../../src/usecases/evaluate-charge.ts';
import { riskOf } from '../../../src/usecases/spending-facts.ts';
import { anIntent, aPayer, inDatabase, networkOf, sandboxShop } from '../../support/payments-world.ts';
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
    database.write((tx) => evaluateCharge({ riskOf })(tx, { intentId, cardId: payer.cardId, request }, at)),
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
