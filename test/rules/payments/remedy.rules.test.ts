/**
 * Goal: what the explanation of a decline proposes is enough, and no less is. Method: random facts; the proposed changes
 * are applied to the same facts, all of them, then one cent (minute, payment) less of each, then all but one.
 * @module
 */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { noControls } from '../../../src/domains/cards/card-controls/card-control.rules.ts';
import {
  type DecisionFacts,
  decideAuthorization,
  noPriorMessages,
} from '../../../src/domains/payments/network/authorization.rules.ts';
import { explained, type RemedyStep, remedySteps } from '../../../src/domains/payments/network/remedy.rules.ts';
import type { CardControls, Policy } from '../../../src/domains/spending/policies/policy.rules.ts';
import { harmlessCard } from '../../support/factories/card-facts.ts';
import { card, counters, harmless, instant, policy, request } from '../spending/spending.arbitraries.ts';

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

const theCard = { ...harmlessCard, controls: noControls };
type Spending = DecisionFacts['spending'];
const allowed: DecisionFacts = {
  spending: { ...harmless, card: theCard },
  candidates: [],
  token: null,
  availableCents: 10_000,
  partialSupported: false,
  before: noPriorMessages,
};
const spent = (over: Partial<Spending>): DecisionFacts => ({ ...allowed, spending: { ...allowed.spending, ...over } });
const ruled = (terms: Partial<Policy>, over: Partial<Spending> = {}): DecisionFacts =>
  spent({ ...over, policy: { ...(harmless.policy as Policy), ...terms } });
const asking = (over: Partial<Spending['request']>) => ({ request: { ...harmless.request, ...over } });
const counting = (over: Partial<Spending['counters']>) => ({ counters: { ...harmless.counters, ...over } });
const controlled = (controls: Partial<CardControls>, over: Partial<Spending> = {}): DecisionFacts =>
  spent({ ...over, card: { ...theCard, controls: { ...noControls, ...controls } } });
const limited = (limits: Partial<NonNullable<Spending['card']>['limits']>, over: Partial<Spending> = {}) =>
  spent({ ...over, card: { ...theCard, limits: { ...theCard.limits, ...limits } } });
const minutesAgo = (minutes: number): Date => new Date(harmless.at.getTime() - minutes * 60_000);
const candidate = {
  ...{ id: 'int_aaaaaaaa', expectedAmountCents: 1_200, expectedMerchant: 'Sandbox Shop' },
  ...{ isAutoApproved: true, attestedAt: null },
};
const expecting = (facts: DecisionFacts): DecisionFacts => ({ ...facts, candidates: [candidate] });
const shown = (facts: DecisionFacts) =>
  remedySteps(facts)?.map(({ field, value, tooLittle, inWords }) => [field, value, tooLittle, inWords]) ?? null;

test.each<[what: string, facts: DecisionFacts, step: (string | number | boolean | undefined)[]]>([
  [
    'a frozen agent',
    spent({ agent: { status: 'frozen' } }),
    ['agent.status', 'active', undefined, 'unfreeze the agent'],
  ],
  [
    'a frozen card',
    spent({ card: { ...theCard, status: 'frozen' } }),
    ['card.status', 'active', undefined, 'unfreeze the card'],
  ],
  [
    'a policy that is over',
    ruled({ expiresAfterMinutes: 60 }),
    [
      ...['policy.expiresAfterMinutes', 5_041, 5_040],
      'let the policy stand for 5041 min, or change it, which begins its time anew',
    ],
  ],
  [
    'a blocked merchant',
    ruled({ merchantBlocklist: ['SANDBOX SHOP GmbH'] }),
    [
      ...['policy.merchantBlocklist', 'SANDBOX SHOP GmbH', undefined],
      'take SANDBOX SHOP GmbH off the blocked merchants',
    ],
  ],
  [
    'a merchant that is not allowed',
    ruled({ merchantAllowlist: ['Other'] }),
    ['policy.merchantAllowlist', 'Sandbox Shop', undefined, 'allow the merchant Sandbox Shop'],
  ],
  [
    'a merchant whose name has no letters',
    ruled({ merchantAllowlist: ['Other'] }, asking({ merchant: { name: '!!', domain: 'example.com' } })),
    ['policy.merchantAllowlist', 'example.com', undefined, 'allow the merchant example.com'],
  ],
  [
    'a merchant with an id alone',
    ruled({ merchantAllowlist: ['Other'] }, asking({ merchant: { id: 'm_1' } })),
    ['policy.merchantAllowlist', 'm_1', undefined, 'allow the merchant m_1'],
  ],
  [
    'another merchant than the first',
    ruled({ lockToFirstMerchant: true }, counting({ firstMerchant: { name: 'Other' } })),
    ['policy.lockToFirstMerchant', false, undefined, 'do not lock the policy to its first merchant'],
  ],
  [
    'a merchant that is not named, where only the first one may be paid',
    ruled(
      { lockToFirstMerchant: true },
      { ...counting({ firstMerchant: { name: 'Other' } }), ...asking({ merchant: {} }) },
    ),
    ['policy.lockToFirstMerchant', false, undefined, 'do not lock the policy to its first merchant'],
  ],
  [
    'a blocked category',
    ruled({ blockedMccs: ['5734'] }),
    ['policy.blockedMccs', '5734', undefined, 'take 5734 off the blocked merchant categories'],
  ],
  [
    'a category that is not allowed',
    ruled({ allowedMccs: ['5942'] }),
    ['policy.allowedMccs', '5734', undefined, 'allow the merchant category 5734'],
  ],
  [
    'a country that is not allowed',
    ruled({ allowedCountries: ['FR'] }, asking({ country: 'de' })),
    ['policy.allowedCountries', 'DE', undefined, 'allow the country DE'],
  ],
  [
    'a merchant that the card blocks',
    controlled({ blockedMerchants: ['sandbox-shop'] }),
    [
      ...['card.controls.blockedMerchants', 'sandbox-shop', undefined],
      'take sandbox-shop off the merchants that the card blocks',
    ],
  ],
  [
    'a merchant that the card does not allow',
    controlled({ allowedMerchants: ['Other'] }),
    [...['card.controls.allowedMerchants', 'Sandbox Shop', undefined], 'allow the merchant Sandbox Shop for the card'],
  ],
  [
    'a category that the card blocks',
    controlled({ blockedMccs: ['5734'] }),
    [...['card.controls.blockedMccs', '5734', undefined], 'take 5734 off the merchant categories that the card blocks'],
  ],
  [
    'a category that the card does not allow',
    controlled({ allowedMccs: ['5942'] }),
    ['card.controls.allowedMccs', '5734', undefined, 'allow the merchant category 5734 for the card'],
  ],
  [
    'a country that the card blocks',
    controlled({ blockedCountries: ['DE'] }, asking({ country: 'de' })),
    ['card.controls.blockedCountries', 'DE', undefined, 'take DE off the countries that the card blocks'],
  ],
  [
    'a country that the card does not allow',
    controlled({ allowedCountries: ['FR'] }),
    ['card.controls.allowedCountries', 'DE', undefined, 'allow the country DE for the card'],
  ],
  [
    'an hour before the active ones',
    ruled({ activeHoursStart: 13, activeHoursEnd: 18 }),
    ['policy.activeHoursStart', 12, undefined, 'let the active hours begin at 12:00 UTC'],
  ],
  [
    'an hour after the active ones',
    ruled({ activeHoursStart: 8, activeHoursEnd: 12 }),
    ['policy.activeHoursEnd', 13, undefined, 'let the active hours end at 13:00 UTC'],
  ],
  [
    'an hour as far from both ends',
    ruled({ activeHoursStart: 14, activeHoursEnd: 11 }),
    ['policy.activeHoursEnd', 13, undefined, 'let the active hours end at 13:00 UTC'],
  ],
  [
    'an evening hour that is nearer to the beginning, where the active hours go over midnight',
    ruled({ activeHoursStart: 22, activeHoursEnd: 17 }, { at: new Date('2026-05-04T20:30:00.000Z') }),
    ['policy.activeHoursStart', 20, undefined, 'let the active hours begin at 20:00 UTC'],
  ],
  [
    'the last hour of a day',
    ruled({ activeHoursStart: 8, activeHoursEnd: 23 }, { at: new Date('2026-05-04T23:30:00.000Z') }),
    ['policy.activeHoursEnd', 0, undefined, 'let the active hours end at 0:00 UTC'],
  ],
  [
    'a payment too soon after another',
    ruled({ cooldownMinutes: 30 }, counting({ lastPaymentAt: minutesAgo(10.5) })),
    ['policy.cooldownMinutes', 10, 11, 'lower the least time between two payments to 10 min'],
  ],
  [
    'a payment before the last one, as where a clock was moved back',
    ruled({ cooldownMinutes: 30 }, counting({ lastPaymentAt: minutesAgo(-5) })),
    ['policy.cooldownMinutes', 0, 1, 'lower the least time between two payments to 0 min'],
  ],
  [
    'a card that was used too often',
    ruled({ maxUsageCount: 2 }, counting({ usageCount: 3 })),
    ['policy.maxUsageCount', 4, 3, 'raise the number of payments with a card to 4'],
  ],
  [
    'a payment above its limit',
    ruled({ maxTransactionCents: 1_000 }),
    ['policy.maxTransactionCents', 1_200, 1_199, 'raise the limit for one payment to 12.00 EUR'],
  ],
  [
    'a day above its limit',
    ruled({ dailyLimitCents: 2_000 }, counting({ spentTodayCents: 900 })),
    ['policy.dailyLimitCents', 2_100, 2_099, 'raise the limit for a day to 21.00 EUR'],
  ],
  [
    'a month above its limit',
    ruled({ monthlyLimitCents: 2_000 }, counting({ spentThisMonthCents: 900 })),
    ['policy.monthlyLimitCents', 2_100, 2_099, 'raise the limit for a month to 21.00 EUR'],
  ],
  [
    'a payment above the card’s limit',
    limited({ maxTransactionCents: 1_000 }),
    ['card.maxTransactionCents', 1_200, 1_199, 'raise the card’s limit for one payment to 12.00 EUR'],
  ],
  [
    'a day above the card’s limit',
    limited({ dailyLimitCents: 2_000 }, counting({ cardSpentTodayCents: 900 })),
    ['card.dailyLimitCents', 2_100, 2_099, 'raise the card’s limit for a day to 21.00 EUR'],
  ],
  [
    'a month above the card’s limit',
    limited({ monthlyLimitCents: 2_000 }, counting({ cardSpentThisMonthCents: 900 })),
    ['card.monthlyLimitCents', 2_100, 2_099, 'raise the card’s limit for a month to 21.00 EUR'],
  ],
  [
    'a charge without an intent',
    ruled({ requireIntent: true }),
    ['intent.expectedAmountCents', 1_200, 1_199, 'an approved intent of 12.00 EUR for Sandbox Shop'],
  ],
  [
    'a charge without an intent, where the policy has a tolerance',
    ruled({ requireIntent: true, amountTolerancePercent: 20 }),
    ['intent.expectedAmountCents', 1_000, 999, 'an approved intent of 10.00 EUR for Sandbox Shop'],
  ],
  [
    'a charge of cents without an intent, where a cent is enough because of the tolerance',
    ruled({ requireIntent: true, amountTolerancePercent: 10_000 }, asking({ amountCents: 50 })),
    ['intent.expectedAmountCents', 1, 0, 'an approved intent of 0.01 EUR for Sandbox Shop'],
  ],
  [
    'a charge without an intent and a merchant',
    ruled({ requireIntent: true }, asking({ merchant: undefined })),
    ['intent.expectedAmountCents', 1_200, 1_199, 'an approved intent of 12.00 EUR'],
  ],
  [
    'an intent that no person has attested',
    expecting(ruled({ requireAttestation: true })),
    ['intent.attestedAt', true, undefined, 'the attestation of a person with a passkey'],
  ],
  [
    'an intent that no person has approved',
    expecting(ruled({ autoApproveLimitCents: 0 })),
    ['intent.approvedBy', true, undefined, 'the approval of a person'],
  ],
  [
    'a charge that is to be reviewed',
    expecting(spent({ risk: { outcome: 'review', signals: [] } })),
    ['intent.approvedBy', true, undefined, 'the approval of a person'],
  ],
  [
    'too little money',
    { ...allowed, availableCents: 500 },
    ['funds.availableCents', 1_200, 1_199, 'add 7.00 EUR, so that 12.00 EUR are available'],
  ],
])('for %s one change is proposed, in words', (_what, facts, step) => {
  expect(shown(facts)).toEqual([step]);
});

test.each<[what: string, facts: DecisionFacts]>([
  ['a closed agent', spent({ agent: { status: 'closed' } })],
  ['a closed card', spent({ card: { ...theCard, status: 'closed' } })],
  ['an agent without a policy', spent({ policy: null })],
  ['a merchant that is not named', ruled({ merchantAllowlist: ['Other'] }, asking({ merchant: undefined }))],
  ['a category that is not named', ruled({ allowedMccs: ['5942'] }, asking({ mcc: null }))],
  ['a country that is not named', ruled({ allowedCountries: ['FR'] }, asking({ country: null }))],
  ['a risk that is too high', expecting(spent({ risk: { outcome: 'deny', signals: [] } }))],
  [
    'a payment token that was used',
    {
      ...expecting(allowed),
      token: { intentId: 'int_aaaaaaaa', isUsed: true, ceilingCents: 1_200 },
    },
  ],
])('for %s nothing is proposed', (_what, facts) => {
  expect(shown(facts)).toBeNull();
  expect(explained(facts, decideAuthorization(facts)).remedy).toBeNull();
});

test.each<[list: string, facts: DecisionFacts, other: string]>([
  ['policy.merchantBlocklist', ruled({ merchantBlocklist: ['Sandbox Shop', 'Casino'] }), 'Casino'],
  ['policy.merchantAllowlist', ruled({ merchantAllowlist: ['Other'] }), 'Casino'],
  ['policy.blockedMccs', ruled({ blockedMccs: ['5734', '7995'] }), '7995'],
  ['policy.allowedMccs', ruled({ allowedMccs: ['5942'] }), '7995'],
  ['policy.allowedCountries', ruled({ allowedCountries: ['FR'] }), 'US'],
  ['card.controls.blockedMerchants', controlled({ blockedMerchants: ['Sandbox Shop', 'Casino'] }), 'Casino'],
  ['card.controls.allowedMerchants', controlled({ allowedMerchants: ['Other'] }), 'Casino'],
  ['card.controls.blockedMccs', controlled({ blockedMccs: ['5734', '7995'] }), '7995'],
  ['card.controls.allowedCountries', controlled({ allowedCountries: ['FR'] }), 'US'],
])('of the list %s the entry that is named is changed, and that of another is of no help', (list, facts, other) => {
  const steps = remedySteps(facts) ?? [];
  expect(steps.map(({ field }) => field)).toEqual([list]);
  expect([outcomeAfter(facts, steps, []), outcomeAfter(facts, steps, [other])]).toEqual(['approved', 'declined']);
});

test('fifty-nine changes are proposed; a charge that needs one more gets none', () => {
  const words = Array.from({ length: 60 }, (_, index) => `word${index}x`);
  const facts = (count: number): DecisionFacts =>
    ruled({ merchantBlocklist: words.slice(0, count) }, asking({ merchant: { name: words.join(' ') } }));
  expect(shown(facts(59))).toHaveLength(59);
  expect(shown(facts(60))).toBeNull();
});

test('a charge that needs several changes gets all of them, the intent before what it has to have', () => {
  const facts = ruled({ requireAttestation: true, autoApproveLimitCents: 0, blockedMccs: ['5734', '7995'] });
  expect(shown(facts)?.map(([field]) => field)).toEqual([
    ...['policy.blockedMccs', 'intent.expectedAmountCents', 'intent.attestedAt', 'intent.approvedBy'],
  ]);
});

test('what was approved in part is explained too, by what the whole needs, and shows no more than a proposal', () => {
  const facts = { ...allowed, availableCents: 500, partialSupported: true };
  expect(shown(allowed)).toEqual([]);
  const decision = decideAuthorization(facts);
  expect(decision.outcome).toBe('partial');
  expect(explained(facts, decision)).toEqual({
    ...decision,
    remedy: [
      {
        ...{ field: 'funds.availableCents', value: 1_200 },
        inWords: 'add 7.00 EUR, so that 12.00 EUR are available',
      },
    ],
  });
});

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
