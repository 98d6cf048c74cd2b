/** Goal: no cent is made or lost by arithmetic, and amounts are written as people read them. @module */
import { expect, test } from '@jest/globals';
import {
  add,
  cents,
  centsFromEuros,
  centsOrNull,
  eurosFromCents,
  eurosOrNull,
  inWords,
  least,
  percentOf,
  share,
  subtract,
} from '../../../src/kernel/money.ts';

test.each([0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, -0.1])('%p is no amount of cents', (value) => {
  expect(() => cents(value)).toThrow(new RangeError(`not whole cents: ${value}`));
});

test('what is missing stays missing, and nothing is an amount', () => {
  expect([centsOrNull(null), centsOrNull(undefined), centsOrNull(0)]).toEqual([null, null, 0]);
  expect(() => centsOrNull(1.5)).toThrow(RangeError);
  expect([eurosOrNull(null), eurosOrNull(cents(0)), eurosOrNull(cents(1_250))]).toEqual([null, 0, 12.5]);
});

test.each([
  [0, 0],
  [7, 700],
  [12.5, 1_250],
  [12.05, 1_205],
  [0.01, 1],
  [999_999_999, 99_999_999_900],
  [1_000_000_000, undefined],
])('%d EUR are %p cents', (euros, amount) => {
  expect(centsFromEuros(euros)).toBe(amount);
});

test('an amount that is no whole number of cents is not sent', () => {
  expect(eurosFromCents(cents(-5))).toBe(-0.05);
  expect(() => eurosFromCents(0.5 as never)).toThrow(RangeError);
});

test.each([
  [0, '0.00'],
  [5, '0.05'],
  [1_250, '12.50'],
  [-300, '-3.00'],
  [100_000_000, '1000000.00'],
])('%d cents are written as %s', (amount, words) => {
  expect(inWords(amount)).toBe(words);
});

test('sums, differences and the smallest of several', () => {
  expect([add(), add(1), add(1, 2, 3), add(5, -7)]).toEqual([0, 1, 6, -2]);
  expect([subtract(5, 7), subtract(7, 5)]).toEqual([-2, 2]);
  expect([least(3), least(3, 1, 2)]).toEqual([3, 1]);
  expect(() => add(0.5, 0.25)).toThrow(RangeError);
});

test.each([
  [1_000, 10, 100],
  [99, 10, 9],
  [1_000, 2.3, 23], // 1,000 × 2.3 is less than 2,300 in binary.
  [1, 99, 0],
  [1_000, 0, 0],
  [1_000, 150, 1_500],
])('%d cents and %d percent of tolerance: %d cents', (amount, percent, tolerance) => {
  expect(percentOf(amount, percent)).toBe(tolerance);
});

test.each([
  [10_000, 25, 25],
  [9_999, 25, 24],
  [1_000, 10_000, 1_000],
  [99_999_999_999, 10_000, 99_999_999_999],
  [3, 3_333, 0],
])('of %d cents, %d hundredths of a percent are %d cents', (amount, basisPoints, part) => {
  expect(share(amount, basisPoints)).toBe(part);
});
