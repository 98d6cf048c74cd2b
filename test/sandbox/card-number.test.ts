/** Sandbox card numbers: valid by an independent Luhn, in the test range, and always the same for a card. @module */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { deriveTestNumber, isLuhnValid } from '../../src/sandbox/processor/card-number.ts';

test('every derived number has 16 digits, the test range and a right check digit', () => {
  fc.assert(
    fc.property(fc.string(), (cardRef) => {
      const number = deriveTestNumber(cardRef);
      expect(number).toMatch(/^400000\d{10}$/);
      expect(luhnSum(number) % 10).toBe(0);
      expect(isLuhnValid(number)).toBe(true);
      expect(deriveTestNumber(cardRef)).toBe(number);
    }),
  );
});

test('one digit changed makes a number invalid', () => {
  fc.assert(
    fc.property(fc.string(), fc.nat(15), fc.integer({ min: 1, max: 9 }), (cardRef, at, by) => {
      const digits = [...deriveTestNumber(cardRef)];
      digits[at] = String((Number(digits[at]) + by) % 10);
      expect(isLuhnValid(digits.join(''))).toBe(false);
    }),
  );
});

test('numbers are checked by the Luhn algorithm', () => {
  expect(isLuhnValid('4242424242424242')).toBe(true);
  expect(isLuhnValid('4242424242424241')).toBe(false);
  expect(isLuhnValid('424242424242424x')).toBe(false);
});

const luhnSum = (number: string): number =>
  [...number].reduce((sum, digit, index) => {
    const doubled = Number(digit) * (index % 2 === 0 ? 2 : 1);
    return sum + Math.trunc(doubled / 10) + (doubled % 10);
  }, 0);
