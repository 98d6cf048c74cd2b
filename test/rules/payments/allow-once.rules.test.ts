/**
 * Goal: what an owner allows once lifts the owner's own rules about one charge, and nothing else. Method: random facts
 * are decided without and with a permission, and the permission is compared with facts that have no such rules at all.
 * @module
 */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { couldBeAllowed, whyNotAllowed } from '../../../src/domains/payments/network/allow-once.rules.ts';
import {
  type Candidate,
  type DecisionFacts,
  decideAuthorization,
  noPriorMessages,
} from '../../../src/domains/payments/network/authorization.rules.ts';
import { remedySteps } from '../../../src/domains/payments/network/remedy.rules.ts';
import { noSpending } from '../../../src/domains/spending/policies/policy.rules.ts';
import { defaultTerms } from '../../../src/domains/spending/policies/preset.rules.ts';
import { later } from '../../../src/kernel/instant.ts';
import { card, counters, instant, policy, request } from '../spending/spending.arbitraries.ts';

const cents = fc.integer({ min: 0, max: 600 });
const merchant = { id: 'sandbox-shop', name: 'Sandbox Shop' };
const place = { mcc: '5734', country: 'DE' };
const other = {
  merchant: { ...merchant, id: 'example-shop' },
  name: { ...merchant, name: 'Sandbox Casino' },
  mcc: '7995',
  country: 'FR',
};

const facts: fc.Arbitrary<DecisionFacts> = fc
  .record({
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
    candidates: fc.constant([]),
    token: fc.constant(null),
    availableCents: cents,
    partialSupported: fc.boolean(),
    before: fc.constant(noPriorMessages),
  })
  .map((all) => ({ ...all, spending: { ...all.spending, request: { ...all.spending.request, merchant, ...place } } }));

const permission = (expectedAmountCents: number, over: Partial<Candidate> = {}): Candidate => ({
  id: 'int_cccccccc',
  expectedAmountCents,
  expectedMerchant: merchant.name,
  isAutoApproved: false,
  attestedAt: null,
  allows: { transactionId: 'tx_declined', merchant: { ...merchant, ...place } },
  ...over,
});
const withPermission = (asked: DecisionFacts, one: Candidate): DecisionFacts => ({
  ...asked,
  candidates: [...asked.candidates, one],
});

/** The same without anything that an owner may lift, paid by an intent that a person has approved. */
function unruled({ spending, ...asked }: DecisionFacts): DecisionFacts {
  const { policy: ruled, card: used } = spending;
  const { requireAttestation, attestationWindowMinutes, expiresAfterMinutes } = ruled ?? {};
  const kept = { requireAttestation, attestationWindowMinutes, expiresAfterMinutes };
  const free = ruled === null ? null : { ...ruled, ...defaultTerms, ...kept, requireIntent: false };
  const limits = { maxTransactionCents: null, dailyLimitCents: null, monthlyLimitCents: null };
  return {
    ...asked,
    partialSupported: false,
    candidates: [permission(asked.availableCents + spending.request.amountCents, { allows: undefined })],
    spending: {
      ...spending,
      policy: free as DecisionFacts['spending']['policy'],
      card: used === undefined ? undefined : { ...used, limits, controls: null },
    },
  };
}

describe('a permission for one charge', () => {
  test('changes nothing where the rules approve, and never refuses more', () => {
    fc.assert(
      fc.property(facts, cents, (asked, allowedCents) => {
        const without = decideAuthorization(asked);
        const given = decideAuthorization(withPermission(asked, permission(allowedCents)));
        if (without.outcome === 'approved') expect(given).toEqual(without);
        if (given.outcome === 'declined') expect(without.outcome).toBe('declined');
      }),
      { numRuns: 2_000 },
    );
  });

  test('that cannot help for want of money leaves the part that the limits allow', () => {
    const at = new Date('2026-03-02T12:00:00.000Z');
    const terms = { ...defaultTerms, requireIntent: false, dailyLimitCents: 1_000 };
    const asked: DecisionFacts = {
      spending: {
        ...{ at, policy: { id: 'po_aaaaaaaa', version: 1, name: 'rules', updatedAt: at, ...terms } },
        ...{
          agent: { status: 'active' },
          counters: noSpending,
          phase: 'charge',
          risk: { outcome: 'allow', signals: [] },
        },
        request: { amountCents: 1_250, merchant, ...place, kind: 'purchase' },
      },
      ...{ candidates: [], token: null, availableCents: 1_100, partialSupported: true, before: noPriorMessages },
    };
    const given = decideAuthorization(withPermission(asked, permission(1_250)));
    expect(given).toEqual(decideAuthorization(asked));
    expect(given).toMatchObject({ outcome: 'partial', approvedCents: 1_000, rule: 'daily_limit' });
    const whole = decideAuthorization(withPermission({ ...asked, partialSupported: false }, permission(1_250)));
    expect(whole).toMatchObject({ outcome: 'declined', rule: 'insufficient_funds' });
  });

  test('approves exactly what nothing but the owner’s own rules stands against, up to its amount', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(facts, cents, (asked, allowedCents) => {
        const { amountCents, kind } = asked.spending.request;
        const without = decideAuthorization({ ...asked, partialSupported: false });
        if (without.outcome === 'approved') return;
        const given = decideAuthorization(
          withPermission({ ...asked, partialSupported: false }, permission(allowedCents)),
        );
        const isFree = decideAuthorization(unruled(asked)).outcome === 'approved';
        const isCovered = kind !== 'verification' && amountCents <= allowedCents;
        seen.add(`${given.outcome} ${given.rule}`);
        expect([without.rule, given.outcome]).toEqual([without.rule, isFree && isCovered ? 'approved' : 'declined']);
        if (given.outcome !== 'approved') return;
        expect(given).toMatchObject({ rule: 'allowed_once', approvedCents: amountCents, holdCents: amountCents });
        expect(given.candidate?.id).toBe('int_cccccccc');
        expect(given.reason).toContain('tx_declined');
        expect(given.trace.at(-1)).toMatchObject({
          rule: 'allowed_once',
          figures: { allowedOnceOf: 'tx_declined', limitCents: allowedCents, askedCents: amountCents },
        });
        for (const { outcome, figures } of given.trace)
          if (outcome === 'lifted') expect(figures.allowedOnceOf).toBe('tx_declined');
      }),
      { numRuns: 4_000 },
    );
    expect([...seen]).toEqual(
      expect.arrayContaining(
        ['agent_status', 'card_status', 'no_policy', 'policy_expiry', 'single_use', 'attestation', 'insufficient_funds']
          .map((rule) => `declined ${rule}`)
          .concat('approved allowed_once', 'declined risk'),
      ),
    );
  });

  test('is for no other merchant, name, category or country, and pays for no other charge as an intent', () => {
    const others = fc.constantFrom(
      { merchant: other.merchant },
      { merchant: other.name },
      { mcc: other.mcc },
      { country: other.country },
    );
    fc.assert(
      fc.property(facts, others, (asked, over) => {
        const elsewhere = {
          ...asked,
          spending: { ...asked.spending, request: { ...asked.spending.request, ...over } },
        };
        const { amountCents } = elsewhere.spending.request;
        const given = decideAuthorization(withPermission(elsewhere, permission(amountCents)));
        expect(given).toEqual(decideAuthorization(elsewhere));
      }),
      { numRuns: 1_000 },
    );
  });

  test('a payment token and a simulation that name it pay nothing with it', () => {
    fc.assert(
      fc.property(facts, (asked) => {
        const { amountCents, kind } = asked.spending.request;
        if (kind === 'verification' || amountCents === 0) return;
        const named = withPermission(asked, permission(amountCents));
        const token = { intentId: 'int_cccccccc', isUsed: false, ceilingCents: amountCents };
        expect(decideAuthorization({ ...named, token }).rule).toBe('checkout_intent');
        const simulation = { intentId: 'int_cccccccc', wanted: 'approve' as const };
        expect(decideAuthorization({ ...named, simulation }).rule).toBe('simulation_intent');
      }),
      { numRuns: 300 },
    );
  });

  test('what the explanation says about it is what it can do', () => {
    fc.assert(
      fc.property(facts, (asked) => {
        const whole = { ...asked, partialSupported: false };
        const { outcome } = decideAuthorization(whole);
        if (whole.spending.request.kind === 'verification') return;
        const remedy = remedySteps(whole);
        const { amountCents } = whole.spending.request;
        const given = decideAuthorization(withPermission(whole, permission(amountCents)));
        const isPromised = couldBeAllowed({ outcome, remedy, onlyIntentId: null });
        if (isPromised) expect([given.rule, given.outcome]).toEqual(['allowed_once', 'approved']);
        expect(couldBeAllowed({ outcome, remedy, onlyIntentId: 'int_aaaaaaaa' })).toBe(false);
      }),
      { numRuns: 1_000 },
    );
  });
});

test('a decline is allowed up to seven days after it, and what was not declined never', () => {
  const at = new Date('2026-03-02T12:00:00.000Z');
  const trace = [{ rule: 'daily_limit', outcome: 'deny' as const, figures: {} }];
  const decision = { outcome: 'declined' as const, rule: 'daily_limit', reason: 'the daily limit', trace, at };
  const charge = { transactionId: 'tx_a', decision, isDeclined: true, onlyIntentId: null, isVerification: false };
  const days = (count: number, ms = 0) => later(at, count * 86_400_000 + ms);
  expect(whyNotAllowed(charge, days(7))).toBeUndefined();
  expect(whyNotAllowed(charge, days(7, 1))?.why).toMatch(/declined 7 d 0 h ago, and a charge is allowed within 7 d/);
  expect(whyNotAllowed({ ...charge, isDeclined: false }, at)?.why).toMatch(/was not declined/);
  expect(whyNotAllowed({ ...charge, decision: null }, at)?.why).toMatch(/was not declined/);
  expect(whyNotAllowed({ ...charge, isVerification: true }, at)?.why).toMatch(/account check/);
  expect(whyNotAllowed({ ...charge, onlyIntentId: 'int_a' }, at)?.why).toMatch(/made for intent int_a/);
  const risky = {
    ...decision,
    rule: 'risk',
    trace: [{ ...trace[0], rule: 'risk', outcome: 'deny' as const, figures: {} }],
  };
  expect(whyNotAllowed({ ...charge, decision: risky }, at)).toEqual({
    why: 'no permission helps: the daily limit',
    by: risky,
  });
});
