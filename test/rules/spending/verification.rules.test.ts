/** Goal: what was paid is compared as declared. Method: a property for amounts, examples for merchants. @module */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { mismatchedField, mismatchesOf } from '../../../src/domains/spending/intents/verification.rules.ts';

const amount = fc.integer({ min: 0, max: 10_000_000 });

test('an amount fits exactly within the tolerance, upwards and downwards', () => {
  fc.assert(
    fc.property(amount, amount, fc.integer({ min: 0, max: 50 }), (declared, paid, tolerancePercent) => {
      const found = mismatchesOf({ amountCents: declared, merchant: null, tolerancePercent }, { amountCents: paid });
      const fits = Math.abs(paid - declared) <= Math.floor((declared * tolerancePercent) / 100);
      expect(found).toHaveLength(fits ? 0 : 1);
    }),
  );
});

test('the last cent of the tolerance fits, and the next one does not', () => {
  const expected = { amountCents: 1_250, merchant: null, tolerancePercent: 10 };
  const fits = (amountCents: number) => mismatchesOf(expected, { amountCents }).length === 0;
  expect([fits(1_124), fits(1_125), fits(1_375), fits(1_376)]).toEqual([false, true, true, false]);
});

test('the code of a mismatch is its field', () => {
  const found = mismatchesOf(
    { amountCents: 1, merchant: 'Shop', tolerancePercent: 0 },
    { amountCents: 2, merchant: 'Other' },
  );
  expect(found.map(mismatchedField)).toEqual(['amount', 'merchant']);
});

test('the reason contains both figures', () => {
  const expected = { amountCents: 1_250, merchant: 'Sandbox Shop', tolerancePercent: 10 };
  expect(mismatchesOf(expected, { amountCents: 1_376, merchant: 'Other' })).toEqual([
    'amount: expected 12.50 (within 1.25 of it), actual 13.76',
    'merchant: expected Sandbox Shop, actual Other',
  ]);
  expect(mismatchesOf({ ...expected, tolerancePercent: 0 }, { amountCents: 1_249 })).toEqual([
    'amount: expected 12.50, actual 12.49',
  ]);
});

test.each([
  ['Sandbox Shop', ' SANDBOX-SHOP ', true],
  ['Café Müller', 'cafe muller', true],
  ['example.com', 'shop.example.com', true],
  ['Sandbox Shop', 'Sandbox Shop 2', false],
  ['Sandbox Shop', 'Sandbok Shop', false],
])('declared %j, paid at %j: the same is %j', (merchant, actual, isSame) => {
  const found = mismatchesOf({ amountCents: 1, merchant, tolerancePercent: 0 }, { merchant: actual });
  expect(found).toHaveLength(isSame ? 0 : 1);
});

test('a field that is not given or was not declared is no mismatch', () => {
  expect(mismatchesOf({ amountCents: 1, merchant: 'A shop', tolerancePercent: 0 }, {})).toEqual([]);
  expect(mismatchesOf({ amountCents: 1, merchant: null, tolerancePercent: 0 }, { merchant: 'Any' })).toEqual([]);
});
