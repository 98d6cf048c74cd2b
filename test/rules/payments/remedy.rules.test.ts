/**
 * Goal: what the explanation of a decline proposes is enough, and no less is. Method: random facts; the proposed changes
 * are applied to the same facts, all of them, then one cent (minute, payment) less of each, then all but one.
 * @module
 */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type DecisionFacts,
  decideAuthorization,
  noPriorMessages,
} from '../../../src/domains/payments/network/authorization.rules.ts';
import { explained, type RemedyStep, remedySteps } from '../../../src/domains/payments/network/remedy.rules.ts';
import { card, counters, instant, policy, request } from '../spending/spending.arbitraries.ts';

const cents = fc.integer({ min: 0, max: 600 });
const anyFacts: fc.Arbitrary<DecisionFacts> = fc.record({
  spending: fc.record({
    at: instant,
    policy: fc.option(policy, { freq: 20 }),
    agent: fc.record({ status: fc.constantFrom('active' as const, 'active' as const, 'frozen' as const) }),
    card,
    request,
    counters,
    phase: fc.constant('charge' as const),
    risk: fc.record({
      outcome: fc.constantFrom('allow' as const, 'allow' as const, 'review' as const, 'deny' as const),
      signals: fc.constant([]),
    }),
  }),
  candidates: fc.array(
    fc.record({
      id: fc.constantFrom('int_aaaaaaaa', 'int_bbbbbbbb'),
      expectedAmountCents: cents,
      expectedMerchant: fc.constantFrom('Sandbox Shop', 'Other', null),
      isAutoApproved: fc.boolean(),
      attestedAt: fc.option(instant),
    }),
    { maxLength: 2 },
  ),
  token: fc.constant(null),
  availableCents: cents,
  partialSupported: fc.boolean(),
  before: fc.constant(noPriorMessages),
});

const outcomeAfter = (facts: DecisionFacts, steps: readonly RemedyStep[], values: readonly RemedyStep['value'][]) =>
  decideAuthorization(
    steps.reduce<DecisionFacts>((changed, step, index) => step.apply(changed, values[index] ?? step.value), {
      ...facts,
      partialSupported: false,
    }),
  ).outcome;

test('with the proposed changes the same facts are allowed; with one cent less, or one change fewer, they are not', () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(anyFacts, (facts) => {
      const steps = remedySteps(facts);
      if (steps === null) return;
      const values = steps.map(({ value }) => value);
      expect(outcomeAfter(facts, steps, values)).toBe('approved');
      for (const [index, { field, tooLittle }] of steps.entries()) {
        seen.add(field);
        if (tooLittle !== undefined)
          expect([field, outcomeAfter(facts, steps, values.with(index, tooLittle))]).toEqual([field, 'declined']);
        const others = steps.filter((_, place) => place !== index);
        expect([field, outcomeAfter(facts, others, values.toSpliced(index, 1))]).toEqual([field, 'declined']);
      }
    }),
    { numRuns: 1_000 },
  );
  for (const field of [
    'policy.dailyLimitCents',
    'card.maxTransactionCents',
    'intent.expectedAmountCents',
    'funds.availableCents',
    'policy.merchantBlocklist',
    'policy.cooldownMinutes',
    'policy.activeHoursEnd',
    'intent.approvedBy',
  ])
    expect([...seen]).toContain(field);
});

test('nothing is proposed where no change helps, and for what was approved', () => {
  fc.assert(
    fc.property(anyFacts, (facts) => {
      const decision = explained(facts, decideAuthorization(facts));
      if (decision.outcome === 'approved') return expect(decision.remedy).toBeUndefined();
      if (facts.spending.risk.outcome === 'deny' || facts.spending.policy === null) expect(decision.remedy).toBeNull();
      else if (decision.remedy !== null) expect(decision.remedy?.length).toBeGreaterThan(0);
      for (const { inWords } of decision.remedy ?? []) expect(inWords).not.toMatch(/undefined|NaN|null/);
    }),
  );
});
