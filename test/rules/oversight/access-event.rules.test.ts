/**
 * Goal: access to a card is granted exactly where the rules of a payment allow it, and never where the charge would be
 * refused by what is known. Method: properties over random facts.
 * @module
 */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { accessAnswerOf, grantMinutes } from '../../../src/domains/oversight/access-events/access-event.rules.ts';
import { evaluateSpending } from '../../../src/domains/spending/policies/policy.rules.ts';
import { minute } from '../../../src/kernel/instant.ts';
import { facts, harmless } from '../spending/spending.arbitraries.ts';

const accessTo = (given: typeof harmless) => accessAnswerOf(evaluateSpending({ ...given, phase: 'access' }), given.at);

test('a grant ends after 15 minutes and has no reason; a denial has its reason and no end', () => {
  fc.assert(
    fc.property(facts, (given) => {
      const decision = evaluateSpending({ ...given, phase: 'access' });
      const answer = accessAnswerOf(decision, given.at);
      expect(answer.rule).toBe(decision.rule);
      if (decision.outcome === 'allow') {
        const expiresAt = new Date(given.at.getTime() + 15 * minute);
        expect(answer).toMatchObject({ decision: 'granted', reasons: [], expiresAt });
      } else {
        expect(answer).toMatchObject({ decision: 'denied', reasons: [decision.reason], expiresAt: null });
        expect(decision.reason).not.toBe('');
      }
    }),
  );
  expect(grantMinutes).toBe(15);
});

test('what is denied access is not charged either: a charge knows more, and every rule of an access applies to it', () => {
  fc.assert(
    fc.property(facts, (given) => {
      const charge = evaluateSpending({ ...given, phase: 'charge' });
      if (charge.outcome === 'allow') expect(accessTo(given).decision).toBe('granted');
    }),
    { numRuns: 1_000 },
  );
});

describe('with facts that nothing objects to', () => {
  const policy = harmless.policy;
  if (policy === null) throw new Error('the harmless facts have a policy');
  const unknown = { amountCents: 1_200 };

  test('access is granted for a quarter of an hour, without a reason', () => {
    expect(accessTo(harmless)).toEqual({
      ...{ decision: 'granted', rule: 'within_rules', reasons: [] },
      expiresAt: new Date(harmless.at.getTime() + 900_000),
    });
  });

  test('access is granted where merchant, category and country are not known yet', () => {
    const restricted = { ...policy, merchantAllowlist: ['Bakery'], allowedMccs: ['5942'], allowedCountries: ['FR'] };
    expect(accessTo({ ...harmless, policy: restricted, request: unknown }).decision).toBe('granted');
  });

  test('access without an intent is denied where the policy demands one', () => {
    const answer = accessTo({ ...harmless, policy: { ...policy, requireIntent: true } });
    expect(answer).toMatchObject({ decision: 'denied', rule: 'require_intent' });
  });

  test('an amount above the automatic limit is denied, and granted for an intent that a person approved', () => {
    const asking = { ...harmless, policy: { ...policy, autoApproveLimitCents: 1_000 } };
    expect(accessTo(asking)).toMatchObject({ decision: 'denied', rule: 'auto_approve_limit' });
    const intent = {
      id: 'int_aaaaaaaa',
      expectedAmountCents: 1_200,
      expectedMerchant: null,
      status: 'approved',
      autoApproved: false,
    };
    expect(accessTo({ ...asking, intent }).decision).toBe('granted');
    expect(accessTo({ ...asking, intent: { ...intent, closedBecause: 'its window is over' } })).toMatchObject({
      decision: 'denied',
      rule: 'intent',
      reasons: ['its window is over'],
    });
  });
});
