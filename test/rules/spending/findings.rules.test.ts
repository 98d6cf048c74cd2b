/** What an owner reads of each rule in the trace of a decision: whether it passed, its sentence and its figures. @module */
import { describe, expect, test } from '@jest/globals';
import {
  evaluateSpending,
  type Policy,
  type SpendingFacts,
} from '../../../src/domains/spending/policies/policy.rules.ts';
import { harmlessCard } from '../../support/factories/card-facts.ts';
import { harmless } from './spending.arbitraries.ts';

const at = harmless.at;
const minutesAgo = (minutes: number): Date => new Date(at.getTime() - minutes * 60_000);
const card = harmlessCard;
const intent = {
  ...{ id: 'int_aaaaaaaa', expectedAmountCents: 1_200, expectedMerchant: 'sandbox-shop' },
  ...{ status: 'approved', autoApproved: true },
};
const ruled = (policy: Partial<Policy>, more: Partial<SpendingFacts> = {}): SpendingFacts => ({
  ...harmless,
  ...more,
  policy: { ...(harmless.policy as Policy), ...policy },
});
const counting = (more: Partial<SpendingFacts['counters']>) => ({ counters: { ...harmless.counters, ...more } });
const asking = (more: Partial<SpendingFacts['request']>) => ({ request: { ...harmless.request, ...more } });

describe('a refusal', () => {
  test.each<[rule: string, reason: string, figures: object, facts: SpendingFacts]>([
    ['agent_status', 'the agent is frozen', { status: 'frozen' }, { ...harmless, agent: { status: 'frozen' } }],
    ['card_status', 'the card is closed', { status: 'closed' }, { ...harmless, card: { ...card, status: 'closed' } }],
    [
      'card_status',
      'the card is not issued yet',
      { status: 'provisioning' },
      { ...harmless, card: { ...card, isProvisioning: true } },
    ],
    ['no_policy', 'the agent has no policy, so nothing may be spent', {}, { ...harmless, policy: null }],
    [
      'policy_expiry',
      'the policy expired at 2026-05-01T01:00:00.000Z',
      { expiresAt: '2026-05-01T01:00:00.000Z' },
      ruled({ expiresAfterMinutes: 60 }),
    ],
    [
      'first_merchant',
      'locked to its first merchant Other Shop, asked by Sandbox Shop',
      { first: 'Other Shop', merchant: 'Sandbox Shop' },
      ruled({ lockToFirstMerchant: true }, counting({ firstMerchant: { name: 'Other Shop' } })),
    ],
    [
      'first_merchant',
      'locked to its first merchant SUNRISE BAKERY 0087, asked by SUNRISE BAKERY 0412, which has the category 5734 and not 5942',
      { first: 'SUNRISE BAKERY 0087', merchant: 'SUNRISE BAKERY 0412', firstMcc: '5942', mcc: '5734' },
      ruled(
        { lockToFirstMerchant: true },
        {
          ...counting({ firstMerchant: { name: 'SUNRISE BAKERY 0087', mcc: '5942' } }),
          ...asking({ merchant: { name: 'SUNRISE BAKERY 0412' } }),
        },
      ),
    ],
    [
      'first_merchant',
      'the policy restricts the merchant, and none was named',
      {},
      ruled(
        { lockToFirstMerchant: true },
        { ...counting({ firstMerchant: { name: 'Other Shop' } }), ...asking({ merchant: {} }) },
      ),
    ],
    [
      'active_hours',
      'active hours are 13:00 to 18:00 UTC, it is 12:00',
      { start: 13, end: 18, hour: 12 },
      ruled({ activeHoursStart: 13, activeHoursEnd: 18 }),
    ],
    [
      'active_hours',
      'active hours are 13:00 to 24:00 UTC, it is 12:00',
      { start: 13, end: 24, hour: 12 },
      ruled({ activeHoursStart: 13 }),
    ],
    [
      'active_hours',
      'active hours are 0:00 to 12:00 UTC, it is 12:00',
      { start: 0, end: 12, hour: 12 },
      ruled({ activeHoursEnd: 12 }),
    ],
    [
      'cooldown',
      '90 min must lie between payments, 1 h 20 min are left',
      { cooldownMinutes: 90, passedMinutes: 10 },
      ruled({ cooldownMinutes: 90 }, counting({ lastPaymentAt: minutesAgo(10) })),
    ],
    [
      'single_use',
      'the card is for one payment and has been used',
      { usageCount: 1 },
      { ...harmless, card: { ...card, usage: 'single' }, ...counting({ usageCount: 1 }) },
    ],
    [
      'usage_count',
      'usage count 2, used 3',
      { maxUsageCount: 2, usageCount: 3 },
      ruled({ maxUsageCount: 2 }, counting({ usageCount: 3 })),
    ],
    [
      'max_transaction',
      'transaction limit 11.99, asked 12.00',
      { limitCents: 1_199, askedCents: 1_200 },
      ruled({ maxTransactionCents: 1_199 }),
    ],
    [
      'card_monthly_limit',
      'card monthly limit 20.00, spent 9.00, asked 12.00',
      { limitCents: 2_000, spentCents: 900, askedCents: 1_200 },
      {
        ...harmless,
        card: { ...card, limits: { ...card.limits, monthlyLimitCents: 2_000 } },
        ...counting({ cardSpentThisMonthCents: 900 }),
      },
    ],
    ['require_intent', 'no approved intent fits this charge', {}, ruled({ requireIntent: true })],
    [
      'require_intent',
      'the transfer names no intent, and the policy requires one',
      {},
      ruled({ requireIntent: true }, { phase: 'transfer' }),
    ],
    [
      'intent',
      'intent int_aaaaaaaa is completed',
      { intentId: 'int_aaaaaaaa', status: 'completed', expectedCents: 1_200 },
      { ...harmless, intent: { ...intent, status: 'completed' } },
    ],
    [
      'attestation',
      'needs an attestation no older than 10 min, the last was at 2026-05-04T11:49:00.000Z',
      { windowMinutes: 10, attestedAt: '2026-05-04T11:49:00.000Z' },
      ruled(
        { requireAttestation: true, attestationWindowMinutes: 10 },
        { intent: { ...intent, attestedAt: minutesAgo(11) } },
      ),
    ],
    [
      'attestation',
      'needs an attestation no older than 15 min, there is none',
      { windowMinutes: 15, attestedAt: null },
      ruled({ requireAttestation: true }),
    ],
    [
      'risk',
      'refused as too risky: velocity, geo',
      { outcome: 'deny', signals: 'velocity, geo' },
      { ...harmless, risk: { outcome: 'deny', signals: ['velocity', 'geo'] } },
    ],
    [
      'risk',
      'refused as too risky: no signal named',
      { outcome: 'deny', signals: '' },
      { ...harmless, risk: { outcome: 'deny', signals: [] } },
    ],
  ])('by %s: %s', (rule, reason, figures, facts) => {
    const decision = evaluateSpending(facts);
    expect(decision).toMatchObject({ outcome: 'deny', rule, reason });
    expect(decision.trace.at(-1)).toEqual({ rule, outcome: 'deny', figures });
  });
});

describe('a wish for a person', () => {
  test.each<[rule: string, reason: string, figures: object, facts: SpendingFacts]>([
    [
      'auto_approve_limit',
      'this agent may spend up to 5.00 EUR without asking: a person has to approve 12.00 EUR',
      { limitCents: 500, askedCents: 1_200 },
      ruled({ autoApproveLimitCents: 500 }),
    ],
    [
      'auto_approve_limit',
      'this agent may spend nothing without asking: a person has to approve 12.00 EUR',
      { limitCents: 0, askedCents: 1_200 },
      ruled({ autoApproveLimitCents: 0 }),
    ],
    [
      'risk',
      'risk asks for a review: geo',
      { outcome: 'review', signals: 'geo' },
      { ...harmless, risk: { outcome: 'review', signals: ['geo'] } },
    ],
  ])('of %s: %s', (rule, reason, figures, facts) => {
    const decision = evaluateSpending(facts);
    expect(decision).toMatchObject({ outcome: 'needs_approval', rule, reason });
    expect(decision.trace).toContainEqual({ rule, outcome: 'needs_approval', figures });
  });
});

describe('a rule that passed', () => {
  test.each<[rule: string, figures: object, facts: SpendingFacts]>([
    ['policy_expiry', { expiresAt: '2026-05-07T00:00:00.000Z' }, ruled({ expiresAfterMinutes: 8_640 })],
    [
      'first_merchant',
      { first: 'Sandbox Shop', merchant: 'Sandbox Shop' },
      ruled({ lockToFirstMerchant: true }, counting({ firstMerchant: { name: 'Sandbox Shop' } })),
    ],
    ['active_hours', { start: 12, end: 13, hour: 12 }, ruled({ activeHoursStart: 12, activeHoursEnd: 13 })],
    [
      'cooldown',
      { cooldownMinutes: 30, passedMinutes: 30 },
      ruled({ cooldownMinutes: 30 }, counting({ lastPaymentAt: minutesAgo(30.5) })),
    ],
    ['single_use', { usageCount: 0 }, { ...harmless, card: { ...card, usage: 'single' } }],
    ['usage_count', { maxUsageCount: 2, usageCount: 1 }, ruled({ maxUsageCount: 2 }, counting({ usageCount: 1 }))],
    ['max_transaction', { limitCents: 1_200, askedCents: 1_200 }, ruled({ maxTransactionCents: 1_200 })],
    [
      'monthly_limit',
      { limitCents: 2_100, spentCents: 900, askedCents: 1_200 },
      ruled({ monthlyLimitCents: 2_100 }, counting({ spentThisMonthCents: 900 })),
    ],
    ['intent', { intentId: 'int_aaaaaaaa', status: 'approved', expectedCents: 1_200 }, { ...harmless, intent }],
    [
      'attestation',
      { windowMinutes: 15, attestedAt: '2026-05-04T11:45:00.000Z' },
      ruled({ requireAttestation: true }, { intent: { ...intent, attestedAt: minutesAgo(15) } }),
    ],
    ['auto_approve_limit', { limitCents: 1_200, askedCents: 1_200 }, ruled({ autoApproveLimitCents: 1_200 })],
    [
      'auto_approve_limit',
      { limitCents: 500, askedCents: 1_200, approvedByPerson: true },
      ruled({ autoApproveLimitCents: 500 }, { intent: { ...intent, autoApproved: false } }),
    ],
    ['risk', { outcome: 'allow', signals: '' }, harmless],
    [
      'risk',
      { outcome: 'review', signals: 'geo' },
      { ...harmless, intent: { ...intent, autoApproved: false }, risk: { outcome: 'review', signals: ['geo'] } },
    ],
  ])('%s shows %j', (rule, figures, facts) => {
    const decision = evaluateSpending(facts);
    expect(decision).toMatchObject({ outcome: 'allow', reason: '12.00 is within all rules' });
    expect(decision.trace).toContainEqual({ rule, outcome: 'pass', figures });
  });

  test('the figures of a cooldown never count back, as where a clock was moved back', () => {
    const { trace } = evaluateSpending(ruled({ cooldownMinutes: 30 }, counting({ lastPaymentAt: minutesAgo(-5) })));
    expect(trace.at(-1)).toMatchObject({ rule: 'cooldown', figures: { passedMinutes: 0 } });
  });
});

describe('what uses nothing up', () => {
  const strict: Partial<Policy> = {
    ...{ cooldownMinutes: 30, maxUsageCount: 1, maxTransactionCents: 0, dailyLimitCents: 0 },
    ...{ requireIntent: true, requireAttestation: true, autoApproveLimitCents: 0 },
  };
  const used = counting({ lastPaymentAt: at, usageCount: 1, spentTodayCents: 1 });
  const single = { card: { ...card, usage: 'single' as const } };

  test('an account check asks only who may pay, where and when', () => {
    const check = asking({ kind: 'verification', amountCents: 0 });
    const { outcome, trace } = evaluateSpending(ruled(strict, { ...used, ...single, ...check }));
    expect([outcome, trace.map(({ rule }) => rule)]).toEqual(['allow', ['risk']]);
  });

  test('an increment is no new payment, and its amount counts', () => {
    const more = { ...used, ...single, ...asking({ isIncrement: true }) };
    const rules = evaluateSpending(ruled({ cooldownMinutes: 30, maxUsageCount: 1 }, more)).trace;
    expect(rules.map(({ rule }) => rule)).toEqual(['risk']);
    expect(evaluateSpending(ruled({ maxTransactionCents: 1_199 }, more)).rule).toBe('max_transaction');
  });

  test('a declaration needs no attestation and no intent, and what a person approved before does not count for it', () => {
    const declared = { phase: 'declare' as const, intent: { ...intent, autoApproved: false } };
    const facts = ruled({ requireAttestation: true, requireIntent: true }, declared);
    expect(evaluateSpending(facts).outcome).toBe('allow');
    const review = { ...facts, risk: { outcome: 'review' as const, signals: [] } };
    expect(evaluateSpending(review)).toMatchObject({ outcome: 'needs_approval', rule: 'risk' });
    expect(evaluateSpending(ruled({ autoApproveLimitCents: 500 }, declared))).toMatchObject({
      ...{ outcome: 'needs_approval', rule: 'auto_approve_limit' },
    });
  });
});

describe('a transfer', () => {
  const named = { ...intent, expectedMerchant: 'Anna Meyer' };
  const to = (...payees: string[]) => ({ phase: 'transfer' as const, ...asking({ merchant: undefined, payees }) });

  test('is compared with its intent by each of its payees', () => {
    expect(evaluateSpending({ ...harmless, ...to('Anna Meyer'), intent: named }).outcome).toBe('allow');
    expect(evaluateSpending({ ...harmless, ...to('Anna Meyer', 'Bob Braun'), intent: named })).toMatchObject({
      rule: 'intent',
      reason: 'intent int_aaaaaaaa expects Anna Meyer, asked by Bob Braun',
    });
  });

  test('without payees has the merchant of the request', () => {
    expect(evaluateSpending({ ...harmless, ...to(), intent: named }).outcome).toBe('allow');
    const charge = { ...harmless, ...asking({ payees: [] }), intent: { ...intent, expectedMerchant: 'Other Shop' } };
    expect(evaluateSpending(charge).rule).toBe('intent');
  });
});
