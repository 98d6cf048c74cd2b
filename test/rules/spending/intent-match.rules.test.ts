/** Which intent a charge belongs to. @module */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  matchIntent,
  maxChargeCentsFor,
  misfitsOf,
  tolerancePercentOf,
} from '../../../src/domains/spending/policies/intent-match.rules.ts';
import { intent as anyIntent, merchant as anyMerchant } from './spending.arbitraries.ts';

const shop = { id: 'sandbox-shop', name: 'Sandbox Shop' };
const intent = (id: string, expectedAmountCents: number, expectedMerchant: string | null = 'Sandbox Shop') => ({
  id,
  expectedAmountCents,
  expectedMerchant,
});

test('an amount at or below the intent fits, above it only within the tolerance', () => {
  const of1000 = [intent('int_a', 1000)];
  expect(matchIntent(of1000, { amountCents: 1000, merchant: shop }, null).outcome).toBe('matched');
  expect(matchIntent(of1000, { amountCents: 1, merchant: shop }, null).outcome).toBe('matched');
  expect(matchIntent(of1000, { amountCents: 1001, merchant: shop }, null).outcome).toBe('mismatched');
  expect(matchIntent(of1000, { amountCents: 1100, merchant: shop }, 10).outcome).toBe('matched');
  expect(matchIntent(of1000, { amountCents: 1101, merchant: shop }, 10).outcome).toBe('mismatched');
  expect(maxChargeCentsFor(intent('int_a', 99), 10)).toBe(108);
});

test('the surer merchant is preferred, then the nearer amount, then the first given', () => {
  const charge = { amountCents: 900, merchant: shop };
  expect(matchIntent([intent('int_a', 900, null), intent('int_b', 2000)], charge, 0)).toMatchObject({
    intent: { id: 'int_b' },
  });
  expect(matchIntent([intent('int_a', 2000), intent('int_b', 1000)], charge, 0)).toMatchObject({
    intent: { id: 'int_b' },
  });
  expect(matchIntent([intent('int_a', 1000), intent('int_b', 1000)], charge, 0)).toMatchObject({
    intent: { id: 'int_a' },
  });
});

test('a near miss names the intent and what does not fit', () => {
  expect(matchIntent([intent('int_a', 1000)], { amountCents: 1200, merchant: shop }, 0)).toEqual({
    outcome: 'mismatched',
    intent: intent('int_a', 1000),
    misfits: [{ field: 'amount', reason: 'intent int_a expects 10.00, asked 12.00' }],
    reason: 'intent int_a expects 10.00, asked 12.00',
  });
  const elsewhere = matchIntent([intent('int_a', 1000)], { amountCents: 800, merchant: { name: 'Casino Royal' } }, 5);
  expect(elsewhere).toMatchObject({
    outcome: 'mismatched',
    reason: 'intent int_a expects Sandbox Shop, asked by Casino Royal',
  });
  expect(matchIntent([intent('int_a', 100)], { amountCents: 800, merchant: { name: 'Casino Royal' } }, 0).outcome).toBe(
    'none',
  );
  expect(matchIntent([], { amountCents: 1 }, 0).outcome).toBe('none');
});

test('the category and the country that a person was shown are compared, where the charge names them', () => {
  const shown = { ...intent('int_a', 1000), expectedMcc: '5734', expectedCountry: 'DE' };
  const charge = { amountCents: 1000, merchant: shop, mcc: '5734', country: 'DE' };
  expect(matchIntent([shown], charge, 0).outcome).toBe('matched');
  expect(matchIntent([shown], { amountCents: 1000, merchant: shop }, 0).outcome).toBe('matched');
  expect(matchIntent([intent('int_a', 1000)], { ...charge, mcc: '7995', country: 'FR' }, 0).outcome).toBe('matched');
  const ofCategory = 'intent int_a is for a merchant of category 5734, asked by one of 7995';
  for (const [other, field, reason] of [
    [{ mcc: '7995' }, 'mcc', ofCategory],
    [{ country: 'FR' }, 'country', 'intent int_a is for a merchant in DE, asked by one in FR'],
    // One misfit of the merchant, so that it is still named as near.
    [{ mcc: '7995', country: 'FR' }, 'mcc', ofCategory],
  ] as const) {
    const found = matchIntent([shown], { ...charge, ...other }, 0);
    expect(found).toMatchObject({ outcome: 'mismatched', misfits: [{ field, reason }] });
  }
});

test('a matched intent has no misfit, and an open intent without a misfit is matched', () => {
  fc.assert(
    fc.property(
      fc.array(anyIntent, { maxLength: 4 }),
      fc.nat(600),
      fc.option(anyMerchant, { nil: undefined }),
      fc.option(fc.nat(50)),
      (intents, amountCents, merchant, tolerance) => {
        const charge = { amountCents, merchant };
        const match = matchIntent(intents, charge, tolerance);
        const fitting = intents.filter((one) => misfitsOf(one, charge, tolerance).length === 0);
        expect(match.outcome === 'matched').toBe(fitting.length > 0);
        if (match.outcome === 'matched') expect(fitting).toContain(match.intent);
        if (match.outcome === 'mismatched') expect(match.misfits.length).toBeGreaterThan(0);
        expect(match.reason).not.toBe('');
      },
    ),
    { numRuns: 500 },
  );
});

describe('the sentences', () => {
  const charge = { amountCents: 1_200, merchant: shop };
  const reasonOf = (...intents: Parameters<typeof matchIntent>[0][number][]) => matchIntent(intents, charge, 10).reason;

  test('of a match, and of none', () => {
    expect(reasonOf(intent('int_a', 1_200))).toBe('12.00 fits intent int_a');
    expect(reasonOf()).toBe('no open intent has this amount or merchant');
    expect(reasonOf(intent('int_a', 100, 'Other Shop'))).toBe('no open intent has this amount or merchant');
  });

  test('of an amount name the tolerance where there is one', () => {
    expect(reasonOf(intent('int_a', 1_000))).toBe('intent int_a expects 10.00 (with tolerance 11.00), asked 12.00');
    expect(reasonOf(intent('int_a', 9))).toBe('intent int_a expects 0.09, asked 12.00');
  });

  test('of an intent that cannot be charged now', () => {
    const closedBecause = 'intent int_a is not due before Monday';
    expect(reasonOf({ ...intent('int_a', 1_200), closedBecause })).toBe(closedBecause);
    expect(misfitsOf({ ...intent('int_a', 1_000, 'Other Shop'), closedBecause }, charge, 10)).toEqual([
      { field: 'amount', reason: 'intent int_a expects 10.00 (with tolerance 11.00), asked 12.00' },
      { field: 'merchant', reason: 'intent int_a expects Other Shop, asked by Sandbox Shop' },
      { field: 'window', reason: closedBecause },
    ]);
  });
});

test('of intents that miss by one thing, one that only costs less is named first', () => {
  const charge = { amountCents: 1_200, merchant: shop };
  const elsewhere = intent('int_elsewhere', 1_200, 'Other Shop');
  const dear = intent('int_dear', 1_000);
  for (const intents of [
    [elsewhere, dear],
    [dear, elsewhere],
  ])
    expect(matchIntent(intents, charge, 0)).toMatchObject({ outcome: 'mismatched', intent: { id: 'int_dear' } });
  const anywhere = intent('int_anywhere', 1_000, null);
  expect(matchIntent([elsewhere, anywhere], charge, 0)).toMatchObject({ intent: { id: 'int_anywhere' } });
  const far = intent('int_far', 500);
  expect(matchIntent([far, dear], charge, 0)).toMatchObject({ intent: { id: 'int_dear' } });
});

test('an intent without a merchant, and a charge that names none, are compared by amount', () => {
  for (const expectedMerchant of [null, '', '  ']) {
    expect(
      matchIntent([intent('int_a', 1_200, expectedMerchant)], { amountCents: 1_200, merchant: shop }, 0).outcome,
    ).toBe('matched');
  }
  for (const merchant of [undefined, {}, { name: ' ' }]) {
    expect(matchIntent([intent('int_a', 1_200)], { amountCents: 1_200, merchant }, 0).outcome).toBe('matched');
  }
});

test('a tolerance of the agent is bounded by that of the owner', () => {
  expect([tolerancePercentOf(null, null), tolerancePercentOf(undefined, 5)]).toEqual([0, 5]);
  expect([tolerancePercentOf(3, 5), tolerancePercentOf(7, 5), tolerancePercentOf(7, null)]).toEqual([3, 5, 7]);
});

test('in a tie the intent of the kind of the payment is taken, and a charge under an agreement prefers a recurring one', () => {
  const once = intent('int_once', 1_200);
  const monthly = { ...intent('int_monthly', 1_200), isRecurring: true };
  const chosen = (recurring: boolean | undefined, ...intents: (typeof monthly | typeof once)[]) =>
    matchIntent(intents, { amountCents: 1_200, merchant: shop, recurring }, 0);
  for (const intents of [
    [once, monthly],
    [monthly, once],
  ] as const) {
    expect(chosen(undefined, ...intents)).toMatchObject({ intent: { id: 'int_once' } });
    expect(chosen(false, ...intents)).toMatchObject({ intent: { id: 'int_once' } });
    expect(chosen(true, ...intents)).toMatchObject({ intent: { id: 'int_monthly' } });
  }
  const farMonthly = { ...intent('int_far', 5_000, null), isRecurring: true };
  expect(chosen(true, once, farMonthly)).toMatchObject({ intent: { id: 'int_far' } });
  expect(chosen(undefined, farMonthly, once)).toMatchObject({ intent: { id: 'int_once' } });
});
