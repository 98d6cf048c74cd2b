/** What a merchant abroad charges: amount and currency together, or neither. @module */
import { expect, test } from '@jest/globals';
import { bothOrNeither, namesBothOrNeither } from '../../../src/domains/payments/network/merchant-charge.rules.ts';

test('an amount without its currency, and a currency without an amount, are refused in words', () => {
  expect(namesBothOrNeither({})).toBe(true);
  expect(namesBothOrNeither({ merchantAmount: 0, merchantCurrency: 'USD' })).toBe(true);
  expect(namesBothOrNeither({ merchantAmount: 0 })).toBe(false);
  expect(namesBothOrNeither({ merchantCurrency: 'USD' })).toBe(false);
  expect(bothOrNeither).toEqual({
    ...{ path: ['merchantCurrency'], error: 'goes together with merchantAmount: send both or neither' },
  });
});
