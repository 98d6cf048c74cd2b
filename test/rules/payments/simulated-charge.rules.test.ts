/**
 * Goal: a simulated charge is evaluated like any, and its wishes only ever take away. Method: the decision with and without
 * the simulation, over arbitrary facts.
 * @module
 */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type Decision,
  type DecisionFacts,
  decideAuthorization,
} from '../../../src/domains/payments/network/authorization.rules.ts';
import { cents } from '../../../src/kernel/money.ts';
import { facts as spending } from '../spending/spending.arbitraries.ts';

const candidates = fc.array(
  fc.record({
    id: fc.constantFrom('int_aaaaaaaa', 'int_bbbbbbbb'),
    expectedAmountCents: fc.integer({ min: 0, max: 5_000 }),
    expectedMerchant: fc.constantFrom(null, 'Shop'),
    isAutoApproved: fc.boolean(),
    attestedAt: fc.constant(null),
  }),
  { maxLength: 2 },
);
const charges: fc.Arbitrary<DecisionFacts> = fc.record({
  spending: spending.map(({ intent: _none, ...rest }) => ({ ...rest, phase: 'charge' as const })),
  candidates,
  token: fc.constant(null),
  availableCents: fc.integer({ min: 0, max: 50_000 }),
  partialSupported: fc.boolean(),
  before: fc.record({
    collectedCents: fc.integer({ min: 0, max: 5_000 }).map(cents),
    isFinal: fc.boolean(),
    reversals: fc.record({ cents: fc.integer({ min: 0, max: 2_000 }), isWhole: fc.boolean() }),
    isBooked: fc.boolean(),
  }),
});

/** No more is answered than the network has collected already, and no wish changes that. */
const isCollectedOnly = ({ before }: DecisionFacts, { rule, outcome, approvedCents }: Decision): boolean =>
  rule === 'cleared_before' || (outcome === 'partial' && approvedCents === before.collectedCents);

test('without a wish it is decided as any charge', () => {
  fc.assert(
    fc.property(charges, (facts) => {
      const simulation = { intentId: null, wanted: 'approve' } as const;
      expect(decideAuthorization({ ...facts, simulation })).toEqual(decideAuthorization(facts));
    }),
  );
});

test('a requested decline does not change a decline by a rule, and holds nothing', () => {
  fc.assert(
    fc.property(charges, (facts) => {
      const plain = decideAuthorization(facts);
      const decision = decideAuthorization({ ...facts, simulation: { intentId: null, wanted: 'decline' } });
      if (plain.outcome === 'declined' || isCollectedOnly(facts, plain)) return expect(decision).toEqual(plain);
      expect(decision).toMatchObject({
        outcome: 'declined',
        rule: 'simulated_decline',
        holdCents: 0,
        approvedCents: 0,
      });
    }),
  );
});

test('only the named intent may pay', () => {
  fc.assert(
    fc.property(charges, (facts) => {
      const simulation = { intentId: 'int_aaaaaaaa', wanted: 'approve' } as const;
      const decision = decideAuthorization({ ...facts, simulation });
      if (decision.outcome === 'declined' || isCollectedOnly(facts, decision)) return;
      expect(decision.candidate?.id).toBe('int_aaaaaaaa');
      expect(decision).toEqual(decideAuthorization(facts));
    }),
  );
});
