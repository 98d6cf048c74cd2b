/**
 * Goal: an increment is decided like an authorization of the whole new amount, costs the difference, and never lets
 * through what one payment of that amount would not get. Method: cases at the edge of each rule, and properties that
 * compare both decisions.
 * @module
 */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type Candidate,
  type DecisionFacts,
  decideAuthorization,
  noPriorMessages,
} from '../../../src/domains/payments/network/authorization.rules.ts';
import { decideIncrement, type IncrementedPayment } from '../../../src/domains/payments/network/increment.rules.ts';
import { increase } from '../../../src/domains/payments/transactions/transaction.rules.ts';
import { noSpending, type Policy } from '../../../src/domains/spending/policies/policy.rules.ts';
import { defaultTerms } from '../../../src/domains/spending/policies/preset.rules.ts';
import { harmlessCard } from '../../support/factories/card-facts.ts';

const at = new Date('2026-03-02T12:00:00.000Z');
const policy: Policy = {
  ...{ id: 'po_aaaaaaaa', version: 1, ...defaultTerms, name: 'rules', requireIntent: false, updatedAt: at },
};
type Over = {
  readonly terms?: Partial<Policy>;
  readonly facts?: Partial<DecisionFacts>;
  readonly spending?: Partial<DecisionFacts['spending']>;
};
const cardOf = ({ terms = {}, facts = {}, spending = {} }: Over = {}): DecisionFacts => ({
  spending: {
    at,
    policy: { ...policy, ...terms },
    agent: { status: 'active' },
    card: harmlessCard,
    request: { amountCents: 0, merchant: { id: 'm', name: 'Hotel' }, mcc: '7011', country: 'DE', kind: 'purchase' },
    ...{ counters: noSpending, phase: 'charge', risk: { outcome: 'allow', signals: [] } },
    ...spending,
  },
  ...{ candidates: [], token: null, availableCents: 10_000, partialSupported: false, before: noPriorMessages },
  ...facts,
});
const held = (over: Partial<IncrementedPayment> = {}): IncrementedPayment => ({
  ...{ status: 'pending', type: 'authorization', amountCents: 1_000, approvedCents: 1_000, heldCents: 1_000 },
  ...{ clearedCents: 0, reversedCents: 0, refundedCents: 0, isFinal: false, isVerification: false },
  holdExpiresAt: new Date(at.getTime() + 1),
  ...over,
});
const intent: Candidate = {
  ...{ id: 'int_aaaaaaaa', expectedAmountCents: 1_000, expectedMerchant: null, isAutoApproved: true, attestedAt: null },
};
const decide = (amountCents: number, over: Over = {}, payment = held()) =>
  decideIncrement({ payment, amountCents, card: cardOf(over) });

describe('the whole new amount against the rules', () => {
  test.each([
    ['max_transaction', { maxTransactionCents: 1_500 }],
    ['daily_limit', { dailyLimitCents: 1_500 }],
    ['monthly_limit', { monthlyLimitCents: 1_500 }],
  ] as const)('%s: up to the limit, and not a cent more', (rule, terms) => {
    expect(decide(500, { terms })).toMatchObject({ outcome: 'approved', approvedCents: 500, holdCents: 500 });
    const more = decide(501, { terms });
    expect(more).toMatchObject({ outcome: 'declined', rule, approvedCents: 0, holdCents: 0 });
    expect(more.reason).toMatch(/^raising 10\.00 to 15\.01: .*15\.00.*15\.01$/);
  });

  test('what is collected counts with what is held', () => {
    const payment = held({ heldCents: 400, clearedCents: 600 });
    const terms = { maxTransactionCents: 1_500 };
    expect(decide(500, { terms }, payment).outcome).toBe('approved');
    expect(decide(501, { terms }, payment).rule).toBe('max_transaction');
  });

  test('where more was collected than approved, that is the whole before', () => {
    const payment = held({ heldCents: 0, clearedCents: 1_200 });
    const terms = { maxTransactionCents: 1_500 };
    expect(decide(300, { terms }, payment).reason).toMatch(/^raising 12\.00 to 15\.00: /);
    expect(decide(301, { terms }, payment).rule).toBe('max_transaction');
  });

  test('a risk that asks for a review is declined without a remedy', () => {
    const spending = { risk: { outcome: 'review' as const, signals: [] } };
    expect(decide(500, { spending })).toMatchObject({ outcome: 'declined', rule: 'risk', remedy: null });
  });

  test('money is asked for the difference', () => {
    const facts = { availableCents: 500 };
    expect(decide(500, { facts }).outcome).toBe('approved');
    expect(decide(501, { facts })).toMatchObject({
      rule: 'insufficient_funds',
      reason: /available 5\.00, asked 5\.01/,
    });
  });

  test('of a payment that holds less than was approved the whole is what was approved, and the money is the increment', () => {
    const payment = held({ heldCents: 400, intentId: intent.id });
    const facts = { candidates: [intent], availableCents: 600 };
    expect(decide(600, { facts }, payment).reason).toMatch(/^raising 10\.00 to 16\.00: .*asked 16\.00/);
    const terms = { maxTransactionCents: 1_500 };
    const unbound = held({ heldCents: 400 });
    expect(decide(500, { terms, facts: { availableCents: 500 } }, unbound)).toMatchObject({ approvedCents: 500 });
    expect(decide(501, { terms }, unbound).rule).toBe('max_transaction');
    expect(decide(500, { facts: { availableCents: 499 } }, unbound).rule).toBe('insufficient_funds');
    // What was reversed is not paid for any more.
    expect(decide(701, { terms }, held({ heldCents: 400, reversedCents: 200 })).rule).toBe('max_transaction');
    expect(decide(700, { terms }, held({ heldCents: 400, reversedCents: 200 })).outcome).toBe('approved');
  });

  test('it is no new payment: cooldown, single use and the number of payments do not apply', () => {
    const spending = {
      counters: { ...noSpending, usageCount: 3, lastPaymentAt: at },
      card: { ...(cardOf().spending.card as NonNullable<DecisionFacts['spending']['card']>), usage: 'single' as const },
    };
    expect(decide(500, { spending, terms: { cooldownMinutes: 60, maxUsageCount: 3 } }).outcome).toBe('approved');
  });

  test.each(['agent', 'card'] as const)('a frozen %s raises no hold', (holder) => {
    const { card } = cardOf().spending;
    const spending =
      holder === 'agent'
        ? { agent: { status: 'frozen' as const } }
        : { card: { ...(card as NonNullable<typeof card>), status: 'frozen' as const } };
    expect(decide(1, { spending }).rule).toBe(`${holder}_status`);
  });

  test('what only wants a person is declined, and no person is asked', () => {
    expect(decide(500, { terms: { autoApproveLimitCents: 1_499 } })).toMatchObject({
      ...{ outcome: 'declined', rule: 'auto_approve_limit', needsPerson: false, remedy: null },
    });
  });
});

test('a refusal says which limit would have let it through', () => {
  const { remedy } = decide(501, { terms: { maxTransactionCents: 1_500 } });
  const inWords = 'raise the limit for one payment to 15.01 EUR';
  expect(remedy).toEqual([{ field: 'policy.maxTransactionCents', value: 1_501, inWords }]);
});

describe('a part', () => {
  const terms = { maxTransactionCents: 1_300 };
  test('is approved where the terminal takes one', () => {
    const facts = { partialSupported: true };
    expect(decide(500, { terms, facts })).toMatchObject({ outcome: 'partial', approvedCents: 300, holdCents: 300 });
    expect(decide(500, { terms })).toMatchObject({ outcome: 'declined', approvedCents: 0 });
    const part = decide(500, { terms, facts });
    expect(part.reason).toBe('raising 10.00 to 15.00: 13.00 approved: transaction limit 13.00, asked 15.00');
    expect(part).toMatchObject({ mismatch: undefined, needsPerson: false });
  });
  test('is as little as a cent', () => {
    const facts = { partialSupported: true };
    expect(decide(500, { terms: { maxTransactionCents: 1_001 }, facts })).toMatchObject({
      ...{ outcome: 'partial', approvedCents: 1, holdCents: 1 },
    });
  });
  test('of nothing is a decline', () => {
    const facts = { partialSupported: true, availableCents: 0 };
    expect(decide(500, { facts })).toMatchObject({ outcome: 'declined', rule: 'insufficient_funds' });
    expect(decide(500, { terms: { maxTransactionCents: 1_000 }, facts: { partialSupported: true } })).toMatchObject({
      ...{ outcome: 'declined', rule: 'max_transaction' },
    });
  });
});

describe('the intent of the payment', () => {
  const payment = held({ intentId: intent.id });
  const facts = { candidates: [intent] };
  test.each([true, false])('bounds the whole amount by its tolerance (required: %s)', (requireIntent) => {
    const terms = { requireIntent, amountTolerancePercent: 20 };
    expect(decide(200, { terms, facts }, payment)).toMatchObject({ outcome: 'approved', candidate: { id: intent.id } });
    const more = decide(201, { terms, facts }, payment);
    expect(more).toMatchObject({ outcome: 'declined', approvedCents: 0, remedy: null });
    expect(more.rule).toBe(requireIntent ? 'intent_required' : 'intent');
    expect(more.reason).toContain('expects 10.00 (with tolerance 12.00), asked 12.01');
  });
  test('has to pay for the whole, and the refusal says what it would pay for', () => {
    const terms = { requireIntent: false };
    const gone = decide(200, { terms }, payment);
    expect(gone).toMatchObject({ outcome: 'declined', rule: 'intent', approvedCents: 0, remedy: null });
    expect(gone.reason).toBe('raising 10.00 to 12.00: intent int_aaaaaaaa does not pay for this charge any more');
    expect(gone.trace.length).toBeGreaterThan(0);
    const dear = decide(200, { terms, facts }, payment);
    expect(dear.reason).toBe('raising 10.00 to 12.00: intent int_aaaaaaaa expects 10.00, asked 12.00');
  });
  test('is not another one, which a payment without an intent would get', () => {
    const wide = { ...intent, expectedAmountCents: 5_000 };
    expect(decide(200, { facts: { candidates: [wide] } })).toMatchObject({ outcome: 'declined', rule: 'intent' });
  });
  test('of a payment token bounds it by the ceiling', () => {
    const token = { intentId: intent.id, isUsed: false, ceilingCents: 1_100 };
    const terms = { amountTolerancePercent: 50 };
    expect(decide(100, { terms, facts: { ...facts, token } }, payment).outcome).toBe('approved');
    expect(decide(101, { terms, facts: { ...facts, token } }, payment)).toMatchObject({
      ...{ rule: 'over_ceiling', remedy: null },
    });
  });
});

test.each<[rule: string, reason: string, payment: Partial<IncrementedPayment>]>([
  [
    'authorization_declined',
    'the authorization was declined by the rule daily_limit',
    { status: 'failed', declineRule: 'daily_limit' },
  ],
  [
    'authorization_declined',
    'the authorization was declined by the rule unknown',
    { approvedCents: 0, heldCents: 0, clearedCents: 300, type: 'capture' },
  ],
  ['authorization_ended', 'nothing of the authorization is left', { status: 'reversed', heldCents: 0 }],
  [
    'authorization_ended',
    'the last clearing has come',
    { status: 'completed', heldCents: 0, clearedCents: 1_000, isFinal: true },
  ],
  ['authorization_ended', 'the last clearing has come', { status: 'completed' }],
  ['authorization_ended', 'the last clearing has come', { isFinal: true }],
  [
    'authorization_ended',
    'the authorization verified the card, and holds nothing',
    { status: 'completed', isVerification: true, approvedCents: 0, heldCents: 0 },
  ],
  ['authorization_ended', 'the hold expired at 2026-03-02T12:00:00.000Z', { holdExpiresAt: at }],
])('nothing grows that has ended, %s: %s', (rule, reason, over) => {
  expect(decide(1, {}, held(over))).toEqual({
    ...{ outcome: 'declined', rule, reason, approvedCents: 0, holdCents: 0, trace: [] },
    ...{ candidate: undefined, needsPerson: false, mismatch: undefined, remedy: null },
  });
});

test('a hold without an end grows', () => {
  for (const holdExpiresAt of [null, undefined])
    expect(decide(1, {}, held({ holdExpiresAt })).outcome).toBe('approved');
});

const cents = fc.integer({ min: 1, max: 3_000 });
const limit = fc.option(fc.integer({ min: 0, max: 5_000 }));
const anyIncrement = fc.record({
  ...{ heldCents: cents, amountCents: cents, clearedCents: fc.nat(2_000), availableCents: fc.nat(5_000) },
  partialSupported: fc.boolean(),
  terms: fc.record({ maxTransactionCents: limit, dailyLimitCents: limit, monthlyLimitCents: limit }),
  spentTodayCents: fc.nat(2_000),
});

test('the hold grows by what is granted, and the whole is what one payment of it would get', () => {
  fc.assert(
    fc.property(anyIncrement, (given) => {
      const { heldCents, clearedCents, amountCents, availableCents, partialSupported, terms, spentTodayCents } = given;
      const spending = { counters: { ...noSpending, spentTodayCents, spentThisMonthCents: spentTodayCents } };
      const payment = held({ heldCents, clearedCents, approvedCents: heldCents + clearedCents });
      const over = { terms, spending, facts: { availableCents, partialSupported } };
      const decision = decide(amountCents, over, payment);
      const { approvedCents } = decision;
      expect(approvedCents).toBe(decision.holdCents);
      expect(approvedCents).toBeLessThanOrEqual(Math.min(amountCents, availableCents));
      expect([approvedCents === amountCents, approvedCents === 0]).toEqual([
        decision.outcome === 'approved',
        decision.outcome === 'declined',
      ]);
      const after = increase(payment, approvedCents);
      expect(after.heldCents - heldCents).toBe(approvedCents);
      // With the money of what is held and collected back, the rules give one payment as much.
      const whole = cardOf({ ...over, facts: { availableCents: availableCents + heldCents + clearedCents } });
      const request = { ...whole.spending.request, amountCents: heldCents + clearedCents + approvedCents };
      const asOne = decideAuthorization({ ...whole, spending: { ...whole.spending, request } });
      if (approvedCents > 0) expect(asOne.outcome).toBe('approved');
      const asked = { ...request, amountCents: heldCents + clearedCents + amountCents };
      const wholly = decideAuthorization({ ...whole, spending: { ...whole.spending, request: asked } });
      expect(wholly.outcome === 'approved').toBe(decision.outcome === 'approved');
    }),
    { numRuns: 1_000 },
  );
});
