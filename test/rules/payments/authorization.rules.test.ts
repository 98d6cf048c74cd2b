/**
 * Goal: an authorization is approved only for what rules, intent and money all allow. Method: random facts, and the
 * spending rule asked again about whatever was approved.
 * @module
 */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type Candidate,
  type DecisionFacts,
  decideAuthorization,
  decidingFigures,
  noPriorMessages,
  type PriorMessages,
  type TokenFacts,
} from '../../../src/domains/payments/network/authorization.rules.ts';
import { evaluateSpending, noSpending, type Policy } from '../../../src/domains/spending/policies/policy.rules.ts';
import { defaultTerms } from '../../../src/domains/spending/policies/preset.rules.ts';
import { cents as toCents } from '../../../src/kernel/money.ts';
import { harmlessCard } from '../../support/factories/card-facts.ts';

const at = new Date('2026-03-02T12:00:00.000Z');
const policy: Policy = {
  id: 'po_aaaaaaaa',
  version: 1,
  ...defaultTerms,
  name: 'rules',
  requireIntent: false,
  updatedAt: at,
};
const factsOf = (
  over: Partial<DecisionFacts> = {},
  terms: Partial<Policy> = {},
  amountCents = 1_000,
): DecisionFacts => ({
  spending: {
    at,
    policy: { ...policy, ...terms },
    agent: { status: 'active' },
    card: harmlessCard,
    request: {
      amountCents,
      merchant: { id: 'm', name: 'Shop' },
      mcc: '5734',
      country: 'DE',
      kind: amountCents === 0 ? 'verification' : 'purchase',
    },
    counters: noSpending,
    phase: 'charge',
    risk: { outcome: 'allow', signals: [] },
  },
  candidates: [],
  token: null,
  availableCents: 10_000,
  partialSupported: false,
  before: noPriorMessages,
  ...over,
});
const candidate = (over: Partial<Candidate> = {}): Candidate => ({
  id: 'int_aaaaaaaa',
  expectedAmountCents: 1_000,
  expectedMerchant: 'Shop',
  isAutoApproved: true,
  attestedAt: null,
  ...over,
});

const cents = fc.integer({ min: 0, max: 5_000 });
const limit = fc.option(cents);
const anyFacts = fc
  .record({
    asked: cents,
    availableCents: cents,
    partialSupported: fc.boolean(),
    terms: fc.record({
      maxTransactionCents: limit,
      dailyLimitCents: limit,
      monthlyLimitCents: limit,
      requireIntent: fc.boolean(),
      autoApproveLimitCents: limit,
    }),
    spent: cents,
    candidates: fc.array(
      fc.record({ expectedAmountCents: cents, expectedMerchant: fc.constantFrom('Shop', 'Other', null) }),
      { maxLength: 3 },
    ),
  })
  .map(({ asked, availableCents, partialSupported, terms, spent, candidates }) => {
    const facts = factsOf({ availableCents, partialSupported }, terms, asked);
    const counters = { ...noSpending, spentTodayCents: spent, spentThisMonthCents: spent };
    return {
      ...facts,
      spending: { ...facts.spending, counters },
      candidates: candidates.map((one, index) => candidate({ ...one, id: `int_aaaaaaa${index}` })),
    };
  });

test('only a charge that waits for nothing but a person asks one', () => {
  const asking = decideAuthorization(factsOf({}, { autoApproveLimitCents: 500 }));
  const refused = decideAuthorization(factsOf({}, { autoApproveLimitCents: 500, maxTransactionCents: 999 }));
  expect([asking.outcome, asking.needsPerson]).toEqual(['declined', true]);
  expect([refused.outcome, refused.rule, refused.needsPerson]).toEqual(['declined', 'max_transaction', false]);
});

test('a payment token for one merchant is refused to another, and to one that the network does not name', () => {
  const token = { intentId: 'int_aaaaaaaa', isUsed: false, merchantId: 'm', ceilingCents: 1_000 };
  const paying = factsOf({ token, candidates: [candidate()] });
  const by = (merchant: { name: string; id?: string } | undefined): DecisionFacts => ({
    ...paying,
    spending: { ...paying.spending, request: { ...paying.spending.request, merchant } },
  });
  expect(decideAuthorization(paying).outcome).toBe('approved');
  for (const merchant of [{ id: 'other', name: 'Shop' }, { name: 'Shop' }, undefined]) {
    expect(decideAuthorization(by(merchant))).toMatchObject({ outcome: 'declined', rule: 'token_merchant' });
  }
});

describe('intents', () => {
  test('the one that fits is taken', () => {
    const near = candidate({ id: 'int_near', expectedAmountCents: 900 });
    const decision = decideAuthorization(factsOf({ candidates: [near, candidate()] }, { requireIntent: true }));
    expect(decision).toMatchObject({ outcome: 'approved', candidate: { id: 'int_aaaaaaaa' }, mismatch: undefined });
  });

  test('a near miss is named in the reason', () => {
    const decision = decideAuthorization(
      factsOf({ candidates: [candidate({ expectedAmountCents: 900 })] }, { requireIntent: true }),
    );
    expect(decision).toMatchObject({
      outcome: 'declined',
      rule: 'intent_required',
      mismatch: { intentId: 'int_aaaaaaaa' },
    });
    expect(decision.reason).toBe('no approved intent fits this charge: intent int_aaaaaaaa expects 9.00, asked 10.00');
  });

  test('where no intent is required a mismatch is reported, and the charge is evaluated further', () => {
    const decision = decideAuthorization(factsOf({ candidates: [candidate({ expectedMerchant: 'Elsewhere' })] }));
    expect(decision).toMatchObject({
      outcome: 'approved',
      candidate: undefined,
      mismatch: { intentId: 'int_aaaaaaaa' },
    });
  });

  test('one that a person approved may be charged above the auto-approve limit; another may not', () => {
    const terms = { autoApproveLimitCents: 500 };
    const byPerson = factsOf({ candidates: [candidate({ isAutoApproved: false })] }, terms);
    const byPolicy = factsOf({ candidates: [candidate()] }, terms);
    expect(decideAuthorization(byPerson).outcome).toBe('approved');
    expect(decideAuthorization(byPolicy)).toMatchObject({ outcome: 'declined', rule: 'auto_approve_limit' });
  });

  test('an account check uses no intent', () => {
    const decision = decideAuthorization(
      factsOf({ candidates: [candidate({ expectedAmountCents: 0 })], availableCents: 0 }, { requireIntent: true }, 0),
    );
    expect(decision).toMatchObject({ outcome: 'approved', approvedCents: 0, candidate: undefined });
  });
});

const whole = { cents: 0, isWhole: true };

describe('messages before the authorization', () => {
  const collected = (amountCents: number, over: Partial<PriorMessages> = {}): { before: PriorMessages } => ({
    before: { ...noPriorMessages, collectedCents: toCents(amountCents), ...over },
  });

  test('reversed: declined, and nothing is held', () => {
    const decision = decideAuthorization(factsOf(collected(400, { reversals: whole })));
    expect(decision).toMatchObject({ outcome: 'declined', holdCents: 0, rule: 'reversed_before' });
  });

  test('all of it collected: approved whatever the rules say, holding no more than there is', () => {
    const facts = factsOf({ ...collected(1_000), availableCents: 400 }, { maxTransactionCents: 1 });
    expect(decideAuthorization(facts)).toMatchObject({
      outcome: 'approved',
      approvedCents: 1_000,
      holdCents: 400,
      rule: 'cleared_before',
    });
  });

  test('an account check is decided by the rules, whatever was collected', () => {
    const facts = factsOf({ ...collected(1_000) }, {}, 0);
    const frozen = { ...facts, spending: { ...facts.spending, agent: { status: 'frozen' as const } } };
    for (const partialSupported of [false, true]) {
      const decision = decideAuthorization({ ...frozen, partialSupported });
      expect(decision).toMatchObject({ outcome: 'declined', rule: 'agent_status' });
    }
  });

  test('a part of it collected, the rest refused: the collected amount where parts are taken, else declined', () => {
    const facts = factsOf({ ...collected(1), partialSupported: true }, {}, 9_000_000);
    const frozen = { ...facts, spending: { ...facts.spending, agent: { status: 'frozen' as const } } };
    expect(decideAuthorization(frozen)).toMatchObject({
      outcome: 'partial',
      approvedCents: 1,
      holdCents: 0,
      rule: 'agent_status',
    });
    expect(decideAuthorization({ ...frozen, partialSupported: false })).toMatchObject({
      outcome: 'declined',
      approvedCents: 0,
      holdCents: 0,
      rule: 'agent_status',
    });
  });

  test('after a final clearing no approval is requested, and nothing more is held', () => {
    const needsPerson = { autoApproveLimitCents: 500 };
    const open = decideAuthorization(factsOf({ ...collected(400) }, needsPerson));
    const ended = decideAuthorization(factsOf({ ...collected(400, { isFinal: true }) }, needsPerson));
    expect([open.needsPerson, ended.needsPerson]).toEqual([true, false]);
    const booked = collected(400, { isFinal: true, isBooked: true });
    expect(decideAuthorization(factsOf(booked))).toMatchObject({ outcome: 'approved', holdCents: 0 });
  });

  const anySaid = fc
    .record({ collectedCents: fc.integer({ min: 0, max: 5_000 }), isFinal: fc.boolean(), isBooked: fc.boolean() })
    .map(({ collectedCents, ...said }) => ({ ...noPriorMessages, ...said, collectedCents: toCents(collectedCents) }));

  test('a charge gets at most the amount without earlier clearings, or the collected amount', () => {
    fc.assert(
      fc.property(anyFacts, anySaid, (facts, before) => {
        const { collectedCents, isBooked, isFinal } = before;
        const decision = decideAuthorization({ ...facts, before });
        // The same charge with nothing collected, and the money that was collected still there.
        const availableCents = facts.availableCents + (isBooked ? collectedCents : 0);
        const plain = decideAuthorization({ ...facts, availableCents });
        expect(decision.approvedCents).toBeLessThanOrEqual(Math.max(plain.approvedCents, collectedCents));
        expect(decision.holdCents).toBeLessThanOrEqual(facts.availableCents);
        if (isBooked) {
          const rest = Math.max(0, decision.approvedCents - collectedCents);
          expect(decision.holdCents).toBe(isFinal ? 0 : rest);
        }
        if (plain.outcome === 'approved' && facts.spending.request.amountCents > 0) {
          expect(decision).toMatchObject({ outcome: 'approved', approvedCents: plain.approvedCents });
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

/** The owner reads it in the transaction, the agent in its answer. */
describe('the sentence of a decision', () => {
  const token: TokenFacts = { intentId: 'int_aaaaaaaa', isUsed: false, ceilingCents: 1_000 };
  const collected = { ...noPriorMessages, collectedCents: toCents(400) };
  const named = (intentId: string) => ({ simulation: { intentId, wanted: 'approve' as const } });
  const byNobody = factsOf({ token: { ...token, merchantId: 'm_shop' }, candidates: [candidate()] });
  const unnamed = { ...byNobody.spending.request, merchant: undefined };

  test.each<[rule: string, reason: string, facts: DecisionFacts]>([
    [
      'reversed_before',
      'the network reversed 10.00 before it asked for them',
      factsOf({ before: { ...noPriorMessages, reversals: whole } }),
    ],
    [
      'cleared_before',
      'the network had collected 10.00 before it asked',
      factsOf({ before: { ...collected, collectedCents: toCents(1_000) } }),
    ],
    [
      'insufficient_funds',
      'the network had collected 4.00 before it asked; no more than that: available 0.00, asked 10.00',
      factsOf({ before: collected, partialSupported: true, availableCents: 0 }),
    ],
    [
      'max_transaction',
      '9.99 approved: transaction limit 9.99, asked 10.00',
      factsOf({ partialSupported: true }, { maxTransactionCents: 999 }),
    ],
    ['insufficient_funds', 'available 9.99, asked 10.00', factsOf({ availableCents: 999 })],
    ['intent_required', 'no approved intent fits this charge', factsOf({}, { requireIntent: true })],
    ['token_used', 'the payment token was used before', factsOf({ token: { ...token, isUsed: true } })],
    [
      'token_revoked',
      'the payment token was revoked, because its intent was cancelled',
      factsOf({ token: { ...token, isRevoked: true } }),
    ],
    ['token_expired', 'the payment token has expired', factsOf({ token: { ...token, isExpired: true } })],
    [
      'token_merchant',
      'the payment token is for merchant m_shop, asked by m',
      factsOf({ token: { ...token, merchantId: 'm_shop' } }),
    ],
    [
      'token_merchant',
      'the payment token is for merchant m_shop, asked by nobody',
      { ...byNobody, spending: { ...byNobody.spending, request: unnamed } },
    ],
    [
      'over_ceiling',
      'the payment token is for up to 9.99, asked 10.00',
      factsOf({ token: { ...token, ceilingCents: 999 } }),
    ],
    [
      'over_ceiling',
      'the payment token is for up to 0.00, asked 10.00',
      factsOf({ token: { ...token, ceilingCents: null } }),
    ],
    [
      'checkout_intent',
      'the payment token pays for nothing: intent int_aaaaaaaa is not open any more',
      factsOf({ token }),
    ],
    [
      'checkout_intent',
      'the payment token pays for nothing: intent int_aaaaaaaa expects 9.00, asked 10.00',
      factsOf({ token, candidates: [candidate({ expectedAmountCents: 900 })] }),
    ],
    [
      'simulation_intent',
      'the simulation names intent int_bbbbbbbb: it is not open for this card and this charge any more',
      factsOf(named('int_bbbbbbbb')),
    ],
    [
      'simulation_intent',
      'the simulation names intent int_aaaaaaaa: intent int_aaaaaaaa expects 9.00, asked 10.00',
      factsOf({ ...named('int_aaaaaaaa'), candidates: [candidate({ expectedAmountCents: 900 })] }),
    ],
    [
      'simulated_decline',
      'the rules let 10.00 through, and the simulation asks for a decline',
      factsOf({ simulation: { intentId: null, wanted: 'decline' } }),
    ],
  ])('%s: %s', (rule, reason, facts) => {
    const decision = decideAuthorization(facts);
    expect(decision).toMatchObject({ rule, reason, needsPerson: false });
    // Where the spending rules were not asked there is nothing to show of them.
    const isUnasked = /^(reversed_before|cleared_before|token_|over_ceiling|checkout_|simulation_)/.test(rule);
    expect(decision.trace.length === 0).toBe(isUnasked);
  });

  test('the figures are those of the rule that decided', () => {
    const poor = decideAuthorization(factsOf({ availableCents: 999 }));
    expect(decidingFigures(poor)).toEqual({ availableCents: 999, askedCents: 1_000 });
    expect(poor.trace.at(-1)).toMatchObject({ rule: 'insufficient_funds', outcome: 'deny' });
    const limited = decideAuthorization(factsOf({}, { maxTransactionCents: 999, dailyLimitCents: 5_000 }));
    expect(decidingFigures(limited)).toEqual({ limitCents: 999, askedCents: 1_000 });
    const unasked = decideAuthorization(factsOf({}, { requireIntent: true }));
    expect([unasked.rule, decidingFigures(unasked)]).toEqual(['intent_required', {}]);
    expect(decidingFigures(decideAuthorization(factsOf({ token: { ...token, isUsed: true } })))).toEqual({});
    // The last entry is that of risk.
    const asking = decideAuthorization(factsOf({}, { autoApproveLimitCents: 500 }));
    expect(decidingFigures(asking)).toEqual({ limitCents: 500, askedCents: 1_000 });
  });

  test('a mismatch has the amounts that an owner compares: what was asked, and the most that the intent lets through', () => {
    const near = candidate({ expectedAmountCents: 800, expectedMerchant: null });
    const { mismatch } = decideAuthorization(factsOf({ candidates: [near] }, { amountTolerancePercent: 10 }));
    expect(mismatch).toEqual({
      intentId: 'int_aaaaaaaa',
      reason: 'intent int_aaaaaaaa expects 8.00 (with tolerance 8.80), asked 10.00',
      misfits: ['amount'],
      askedCents: 1_000,
      maxChargeCents: 880,
    });
  });
});

test('an account check uses no payment token: one that was used, or is for less, refuses nothing', () => {
  const token = { intentId: 'int_aaaaaaaa', isUsed: true, isExpired: true, ceilingCents: null };
  expect(decideAuthorization(factsOf({ token }, {}, 0))).toMatchObject({ outcome: 'approved', rule: 'within_rules' });
});

test('of two intents that fit alike, the one that a person has attested is taken', () => {
  const [plain, attested] = [candidate(), candidate({ id: 'int_bbbbbbbb', attestedAt: at })];
  const decide = (requireAttestation: boolean) =>
    decideAuthorization(factsOf({ candidates: [plain, attested] }, { requireAttestation })).candidate?.id;
  expect([decide(true), decide(false)]).toEqual(['int_bbbbbbbb', 'int_aaaaaaaa']);
});

test('an unattested intent is named where no attested one fits', () => {
  const decision = decideAuthorization(factsOf({ candidates: [candidate()] }, { requireAttestation: true }));
  expect(decision).toMatchObject({ outcome: 'declined', rule: 'attestation', candidate: { id: 'int_aaaaaaaa' } });
});

test('an agent that has lost its policy is told so, whether one of its intents fits or not', () => {
  for (const expectedAmountCents of [1_000, 900]) {
    const facts = factsOf({ candidates: [candidate({ expectedAmountCents })] });
    const decision = decideAuthorization({ ...facts, spending: { ...facts.spending, policy: null } });
    expect(decision).toMatchObject({ outcome: 'declined', rule: 'no_policy' });
  }
});

test('a payee that the token was minted for is not asked of any other intent', () => {
  const token = { intentId: 'int_bbbbbbbb', isUsed: false, ceilingCents: 1_000, isPayeeBound: true };
  const elsewhere = candidate({ expectedMerchant: 'Elsewhere' });
  const bound = candidate({ id: 'int_bbbbbbbb', expectedMerchant: 'shop.example' });
  const decision = decideAuthorization(factsOf({ token, candidates: [elsewhere, bound] }));
  expect(decision).toMatchObject({ outcome: 'approved', candidate: { id: 'int_bbbbbbbb' } });
});

test('a simulation that names the intent of the charge is approved', () => {
  const simulation = { intentId: 'int_aaaaaaaa', wanted: 'approve' as const };
  expect(decideAuthorization(factsOf({ simulation, candidates: [candidate()] }))).toMatchObject({
    ...{ outcome: 'approved', candidate: { id: 'int_aaaaaaaa' }, needsPerson: false },
  });
});

test('a charge that was reversed, or declined on request, keeps its intent', () => {
  const before = { ...noPriorMessages, reversals: whole };
  const simulation = { intentId: null, wanted: 'decline' as const };
  for (const facts of [{ before }, { simulation }]) {
    const decision = decideAuthorization(factsOf({ ...facts, candidates: [candidate()] }));
    expect(decision).toMatchObject({ outcome: 'declined', candidate: { id: 'int_aaaaaaaa' }, mismatch: undefined });
  }
});

test('what was collected and is not booked yet is taken from the hold, which is whole', () => {
  const before = { ...noPriorMessages, collectedCents: toCents(400) };
  expect(decideAuthorization(factsOf({ before }))).toMatchObject({ outcome: 'approved', holdCents: 1_000 });
  const booked = { ...before, isBooked: true };
  expect(decideAuthorization(factsOf({ before: booked }))).toMatchObject({ holdCents: 600 });
  for (const [reversed, holdCents] of [
    [150, 450],
    [700, 0],
  ] as const) {
    const facts = factsOf({ before: { ...booked, reversals: { cents: reversed, isWhole: false } } });
    expect(decideAuthorization(facts)).toMatchObject({ outcome: 'approved', approvedCents: 1_000, holdCents });
  }
});

test('a part of a limit of a day is what is left of it', () => {
  const facts = factsOf({ partialSupported: true }, { dailyLimitCents: 1_000 });
  const counters = { ...noSpending, spentTodayCents: 400 };
  const decision = decideAuthorization({ ...facts, spending: { ...facts.spending, counters } });
  expect(decision).toMatchObject({ outcome: 'partial', approvedCents: 600 });
});

describe('a part for want of money', () => {
  test('is all that there is', () => {
    const decision = decideAuthorization(factsOf({ partialSupported: true, availableCents: 400 }));
    expect(decision).toMatchObject({ outcome: 'partial', approvedCents: 400, holdCents: 400 });
    expect(decision.reason).toBe('4.00 approved: available 4.00, asked 10.00');
  });

  test('of as much as was collected holds nothing, because it is collected already', () => {
    const before = { ...noPriorMessages, collectedCents: toCents(400) };
    const decision = decideAuthorization(factsOf({ before, partialSupported: true, availableCents: 400 }));
    expect(decision).toMatchObject({ outcome: 'partial', approvedCents: 400, holdCents: 0 });
  });

  test('adds what was collected and booked before', () => {
    const before = { ...noPriorMessages, collectedCents: toCents(300), isBooked: true };
    const decision = decideAuthorization(factsOf({ before, partialSupported: true, availableCents: 400 }));
    expect(decision).toMatchObject({ outcome: 'partial', approvedCents: 700, holdCents: 400 });
  });
});

describe('what the owner has allowed once', () => {
  const allows = { transactionId: 'tx_declined', merchant: { id: 'm', name: 'Shop', mcc: '5734', country: 'DE' } };
  const permission = (over: Partial<Candidate> = {}) => candidate({ expectedAmountCents: 1_200, allows, ...over });

  test('names each rule that it lifts, and the amounts', () => {
    const terms = { blockedMccs: ['5734'], maxTransactionCents: 999 };
    const decision = decideAuthorization(factsOf({ candidates: [permission()] }, terms));
    expect(decision).toMatchObject({
      outcome: 'approved',
      rule: 'allowed_once',
      reason:
        'the owner has allowed 12.00 once for this merchant, after tx_declined was declined; asked 10.00, in spite of mcc_blocklist, max_transaction',
    });
    expect(decision.trace.at(-1)).toEqual({
      rule: 'allowed_once',
      outcome: 'pass',
      figures: { allowedOnceOf: 'tx_declined', intentId: 'int_aaaaaaaa', askedCents: 1_000, limitCents: 1_200 },
    });
  });

  test('names the rule that refused where it is an intent itself', () => {
    const { reason } = decideAuthorization(factsOf({ candidates: [permission()] }, { requireIntent: true }));
    expect(reason).toMatch(/asked 10\.00, in spite of intent_required$/);
  });

  test('is not named where no owner can lift the rule', () => {
    const facts = factsOf({ candidates: [permission()] });
    const frozen = { ...facts, spending: { ...facts.spending, agent: { status: 'frozen' as const } } };
    expect(decideAuthorization(frozen)).toMatchObject({ rule: 'agent_status', candidate: undefined });
  });

  test('lets neither more nor another merchant through, whoever else asks', () => {
    for (const over of [
      { expectedAmountCents: 999 },
      { allows: { ...allows, merchant: { ...allows.merchant, id: 'other' } } },
    ]) {
      const decision = decideAuthorization(factsOf({ candidates: [permission(over)] }, { maxTransactionCents: 999 }));
      expect(decision).toMatchObject({ outcome: 'declined', rule: 'max_transaction', candidate: undefined });
    }
  });

  test('is named where the money is missing, which no owner can lift', () => {
    const facts = factsOf({ candidates: [permission()], availableCents: 400 }, { maxTransactionCents: 999 });
    expect(decideAuthorization(facts)).toMatchObject({
      ...{ outcome: 'declined', rule: 'insufficient_funds', reason: 'available 4.00, asked 10.00' },
      candidate: { id: 'int_aaaaaaaa' },
    });
  });

  test('of several it is the smallest that is enough', () => {
    const [near, far] = [permission({ expectedAmountCents: 1_100, id: 'int_near' }), permission()];
    for (const candidates of [
      [near, far],
      [far, near],
    ])
      expect(decideAuthorization(factsOf({ candidates }, { maxTransactionCents: 999 })).candidate?.id).toBe('int_near');
  });
});

describe('whatever the facts', () => {
  test('an approved amount is allowed by the spending rules and available', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const { outcome, approvedCents, holdCents, candidate: chosen } = decideAuthorization(facts);
        if (outcome === 'declined') return expect([approvedCents, holdCents]).toEqual([0, 0]);
        expect(holdCents).toBe(approvedCents);
        expect(approvedCents).toBeLessThanOrEqual(facts.availableCents);
        const intent = chosen && { ...chosen, status: 'approved', autoApproved: chosen.isAutoApproved };
        const request = { ...facts.spending.request, amountCents: approvedCents };
        expect(evaluateSpending({ ...facts.spending, request, ...(intent ? { intent } : {}) }).outcome).toBe('allow');
      }),
      { numRuns: 500 },
    );
  });

  test('a partial approval is below the request, only where supported, and the highest possible amount', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const asked = facts.spending.request.amountCents;
        const { outcome, approvedCents, candidate: chosen } = decideAuthorization(facts);
        if (outcome === 'approved') expect(approvedCents).toBe(asked);
        if (outcome !== 'partial') return;
        expect(facts.partialSupported).toBe(true);
        expect(approvedCents).toBeGreaterThan(0);
        expect(approvedCents).toBeLessThan(asked);
        // One cent more is refused: by the rule, or for lack of money.
        const intent = chosen && { ...chosen, status: 'approved', autoApproved: chosen.isAutoApproved };
        const request = { ...facts.spending.request, amountCents: approvedCents + 1 };
        const decision = evaluateSpending({ ...facts.spending, request, ...(intent ? { intent } : {}) });
        expect(decision.outcome !== 'allow' || approvedCents + 1 > facts.availableCents).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  test('with a payment token only its own intent is paid, once, up to its ceiling', () => {
    const anyToken = fc.record({ isUsed: fc.boolean(), ceilingCents: cents, at: fc.nat(3) });
    fc.assert(
      fc.property(anyFacts, anyToken, (facts, { isUsed, ceilingCents, at: index }) => {
        const intentId = `int_aaaaaaa${index}`;
        const {
          outcome,
          approvedCents,
          candidate: chosen,
        } = decideAuthorization({
          ...facts,
          candidates: facts.candidates.filter(({ id }) => id === intentId),
          token: { intentId, isUsed, ceilingCents },
        });
        if (outcome === 'declined' || facts.spending.request.kind === 'verification') return;
        expect([isUsed, chosen?.id]).toEqual([false, intentId]);
        expect(approvedCents).toBeLessThanOrEqual(ceilingCents);
      }),
      { numRuns: 500 },
    );
  });

  test('a payment token that was minted for a payee pays its intent under any name, and no other intent', () => {
    const other = candidate({ id: 'int_bbbbbbbb', expectedMerchant: 'Shop' });
    const ofHost = candidate({ expectedMerchant: 'shop.example' });
    const decide = (isPayeeBound: boolean, candidates: Candidate[] = [other, ofHost]) => {
      const token = { intentId: ofHost.id, isUsed: false, ceilingCents: 1_000, isPayeeBound };
      const { outcome, rule, candidate: chosen } = decideAuthorization(factsOf({ candidates, token }));
      return { outcome, rule, intentId: chosen?.id };
    };
    expect(decide(true, [ofHost])).toEqual({ outcome: 'approved', rule: 'within_rules', intentId: ofHost.id });
    expect(decide(false, [ofHost])).toMatchObject({ outcome: 'declined', rule: 'checkout_intent' });
    // The intent of another merchant that fits better by its name is not the token's.
    expect(decide(true)).toMatchObject({ outcome: 'declined', rule: 'checkout_intent' });
    const late = { ...ofHost, closedBecause: 'intent int_aaaaaaaa is outside its window' };
    expect(decide(true, [late])).toMatchObject({ outcome: 'declined', rule: 'checkout_intent' });
  });

  test('the decision is a function of its facts', () => {
    fc.assert(
      fc.property(anyFacts, (facts) =>
        expect(decideAuthorization(facts)).toEqual(decideAuthorization(structuredClone(facts))),
      ),
    );
  });
});
