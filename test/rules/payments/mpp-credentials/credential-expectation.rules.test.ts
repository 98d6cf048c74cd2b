/** Goal: a credential is as expected exactly where amount, currency and payee are. Method: cases and random values. @module */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { whyUnexpected } from '../../../../src/domains/payments/mpp-credentials/credential-expectation.rules.ts';

const credential = { id: 'mppc_1', amountCents: 499, currency: 'EUR', host: 'shop.example', recipient: 'merch_1' };

test('what is not expected is not compared', () => {
  expect(whyUnexpected(credential, {})).toBeUndefined();
  expect(whyUnexpected(credential, { amountCents: undefined, currency: undefined, payee: undefined })).toBeUndefined();
});

test('a credential fits exactly its own figures', () => {
  const amounts = fc.integer({ min: 0, max: 1_000 });
  const currencies = fc.constantFrom('EUR', 'eur', 'USD');
  fc.assert(
    fc.property(amounts, amounts, currencies, (amountCents, expected, currency) => {
      const why = whyUnexpected({ ...credential, amountCents }, { amountCents: expected, currency });
      expect(why === undefined).toBe(amountCents === expected && currency !== 'USD');
    }),
  );
});

test.each([
  ['merch_1', true],
  ['Merch_1', false],
  ['merch1', false],
  ['merch_1 ', false],
  ['shop.example', true],
  ['https://SHOP.example:8443/report', true],
  ['example', false],
  ['evil.shop.example', false],
])('the payee %s is %s', (payee, fits) => {
  expect(whyUnexpected(credential, { payee }) === undefined).toBe(fits);
});

test('a credential without host or recipient fits no such payee', () => {
  expect(whyUnexpected({ ...credential, host: null }, { payee: 'shop.example' })).toBe(
    'credential mppc_1 pays recipient merch_1, expected shop.example; nothing was consumed',
  );
  expect(whyUnexpected({ ...credential, recipient: null }, { payee: 'merch_1' })).toContain(
    'pays shop.example, expected',
  );
  expect(whyUnexpected({ ...credential, host: null }, { payee: 'our shop' })).toContain('expected our shop');
});

test('the right amount in another currency is not expected', () => {
  expect(whyUnexpected(credential, { amountCents: 499, currency: 'usd' })).toBe(
    'credential mppc_1 is for 4.99 EUR, expected 4.99 USD; nothing was consumed',
  );
});

test('the sentence names every difference', () => {
  expect(whyUnexpected(credential, { amountCents: 500, currency: 'USD', payee: 'x' })).toBe(
    'credential mppc_1 is for 4.99 EUR, expected 5.00 USD, and pays shop.example, recipient merch_1, expected x; nothing was consumed',
  );
});
