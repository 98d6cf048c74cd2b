/**
 * Goal: what a card is said to be able to spend is what a charge may spend. Method: the figures beside the one spending
 * evaluation, over arbitrary limits of card and policy and arbitrary sums.
 * @module
 */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { whyNotRotated } from '../../../src/domains/cards/cards/card.rules.ts';
import { isCoolingDown, narrowest, remaining } from '../../../src/domains/cards/cards/card-policy.rules.ts';
import { evaluateSpending, noSpending } from '../../../src/domains/spending/policies/policy.rules.ts';
import { harmlessCard } from '../../support/factories/card-facts.ts';
import { policy as policies } from '../spending/spending.arbitraries.ts';

const at = new Date('2026-05-05T12:00:00.000Z');
const limit = fc.option(fc.integer({ min: 0, max: 10_000 }), { nil: null });
const sum = fc.integer({ min: 0, max: 12_000 });
const limits = fc.record({ maxTransactionCents: limit, dailyLimitCents: limit, monthlyLimitCents: limit });
const spent = fc.record({
  spentTodayCents: sum,
  spentThisMonthCents: sum,
  cardSpentTodayCents: sum,
  cardSpentThisMonthCents: sum,
});
/** Rules that look at nothing but sums and amounts. */
const bare = {
  ...{ merchantAllowlist: [], merchantBlocklist: [], mccCategories: [], allowedMccs: [], blockedMccs: [] },
  ...{ allowedCountries: [], lockToFirstMerchant: false, cooldownMinutes: null, requireIntent: false },
  ...{ requireAttestation: false, expiresAfterMinutes: null, activeHoursStart: null, activeHoursEnd: null },
  ...{ maxUsageCount: null, autoApproveLimitCents: null },
};

test('a charge passes exactly up to the narrowest limit and the least that is left', () => {
  fc.assert(
    fc.property(
      policies,
      limits,
      limits,
      spent,
      fc.integer({ min: 1, max: 12_000 }),
      (some, ofPolicy, ofCard, seen, amountCents) => {
        const policy = { ...some, ...bare, ...ofPolicy };
        const decision = evaluateSpending({
          at,
          policy,
          agent: { status: 'active' },
          card: { ...harmlessCard, limits: ofCard },
          request: { amountCents },
          counters: { ...noSpending, ...seen },
          phase: 'charge',
          risk: { outcome: 'allow', signals: [] },
        });
        const most = narrowest(
          narrowest(ofCard.maxTransactionCents, ofPolicy.maxTransactionCents),
          remaining(
            { limitCents: ofCard.dailyLimitCents, spentCents: seen.cardSpentTodayCents },
            { limitCents: ofPolicy.dailyLimitCents, spentCents: seen.spentTodayCents },
          ),
          remaining(
            { limitCents: ofCard.monthlyLimitCents, spentCents: seen.cardSpentThisMonthCents },
            { limitCents: ofPolicy.monthlyLimitCents, spentCents: seen.spentThisMonthCents },
          ),
        );
        expect(decision.outcome === 'allow').toBe(most === null || amountCents <= most);
      },
    ),
  );
});

test('null is no limit, and an exceeded limit leaves 0', () => {
  expect(narrowest(null, null)).toBeNull();
  expect(narrowest(null, 0, 5)).toBe(0);
  expect(remaining({ limitCents: null, spentCents: 100 })).toBeNull();
  expect(remaining({ limitCents: 50, spentCents: 100 }, { limitCents: 900, spentCents: 0 })).toBe(0);
});

test.each([
  [null, new Date(at), false],
  [0, new Date(at), false],
  [10, null, false],
  [10, new Date(at.getTime() - 600_000), false],
  [10, new Date(at.getTime() - 599_999), true],
])('%p min since %p: cooling down %p', (cooldownMinutes, lastPaymentAt, isSo) => {
  expect(isCoolingDown({ cooldownMinutes, lastPaymentAt }, at)).toBe(isSo);
});

describe('a rotation', () => {
  test.each([
    ['active', null, false, undefined],
    ['frozen', null, false, undefined],
    ['active', null, true, /being rotated.*Idempotency-Key/],
    ['closed', null, false, /closed is final/],
    ['closed', 'ca_bbbbbbbb', false, /card ca_bbbbbbbb has taken its place/],
  ] as const)('of a card that is %s, replaced by %p, under way %p', (status, replacedByCardId, isUnderWay, why) => {
    const said = whyNotRotated({ status, replacedByCardId }, isUnderWay);
    if (why === undefined) expect(said).toBeUndefined();
    else expect(said).toMatch(why);
  });
});
