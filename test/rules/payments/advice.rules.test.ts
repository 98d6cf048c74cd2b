/** A charge that the network approved in Bursar's place: it stands, whatever the rules would have said, and they are named. @module */
import { expect, test } from '@jest/globals';
import { adviseDecision } from '../../../src/domains/payments/network/advice.rules.ts';
import {
  type Decision,
  type DecisionFacts,
  decideAuthorization,
  noPriorMessages,
} from '../../../src/domains/payments/network/authorization.rules.ts';
import { cents } from '../../../src/kernel/money.ts';
import { harmless } from '../spending/spending.arbitraries.ts';

const facts = (over: Partial<DecisionFacts> = {}): DecisionFacts => ({
  ...{ spending: harmless, candidates: [], token: null, availableCents: 10_000, partialSupported: true },
  before: noPriorMessages,
  ...over,
});
const advised = (of: DecisionFacts, approvedCents: number): Decision =>
  adviseDecision(decideAuthorization(of), of, approvedCents);

test('an amount that the rules would have approved has their reason', () => {
  expect(advised(facts(), 1_200)).toMatchObject({
    ...{ outcome: 'approved', approvedCents: 1_200, holdCents: 1_200, rule: 'within_rules' },
    reason: '12.00 is within all rules',
  });
});

test('an amount that they would not have approved says so, with what they say', () => {
  expect(advised(facts({ availableCents: 500 }), 1_200)).toMatchObject({
    ...{ outcome: 'approved', approvedCents: 1_200, holdCents: 500, rule: 'stand_in', needsPerson: false },
    reason: 'the network approved 12.00 without an answer; the rules: 5.00 approved: available 5.00, asked 12.00',
  });
  const declined = facts({ availableCents: 500, partialSupported: false });
  expect(advised(declined, 1_200)).toMatchObject({
    ...{ outcome: 'approved', rule: 'stand_in', holdCents: 500 },
    reason: 'the network approved 12.00 without an answer; the rules: available 5.00, asked 12.00',
  });
  // Nothing was approved, and the network approved nothing: the refusal is not the rules' own word.
  expect(advised(declined, 0)).toMatchObject({ outcome: 'partial', rule: 'stand_in', holdCents: 0 });
});

test('less than was asked for is a part, and no person is asked any more', () => {
  const asking = facts({ spending: { ...harmless, risk: { outcome: 'review', signals: [] } } });
  expect(decideAuthorization(asking).needsPerson).toBe(true);
  expect(advised(asking, 1_199)).toMatchObject({ outcome: 'partial', approvedCents: 1_199, needsPerson: false });
});

test('booked messages have reduced the hold, and a final clearing or a reversal has ended it', () => {
  const before = { ...noPriorMessages, collectedCents: cents(300) };
  const held = (over: Partial<typeof before>) => advised(facts({ before: { ...before, ...over } }), 1_200).holdCents;
  expect(held({ isBooked: false })).toBe(1_200);
  expect(held({ isBooked: true })).toBe(900);
  expect(held({ isBooked: true, isFinal: true })).toBe(0);
  expect(held({ isBooked: true, reversals: { cents: 0, isWhole: true } })).toBe(0);
  expect(held({ isBooked: true, reversals: { cents: 200, isWhole: false } })).toBe(700);
  expect(held({ isBooked: false, reversals: { cents: 200, isWhole: false } })).toBe(1_200);
  expect(held({ isBooked: false, isFinal: true })).toBe(1_200);
  expect(held({ isBooked: true, collectedCents: cents(1_300) })).toBe(0);
});
