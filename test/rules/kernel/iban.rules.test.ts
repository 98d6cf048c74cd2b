/** IBANs and BICs: right ones are read in any spelling, wrong ones are refused with the reason. @module */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { germanIban } from '../../../src/domains/treasury/wallets/iban.rules.ts';
import { isBic, isSepaCountry, maskedIban, readIban } from '../../../src/kernel/iban.ts';

const germanIbans = fc.integer({ min: 0, max: 9_999_999_999 }).map((account) => germanIban('99999999', account));

test('an IBAN is read in either case and with spaces or hyphens', () => {
  fc.assert(
    fc.property(germanIbans, fc.constantFrom(' ', '-', ''), fc.boolean(), (iban, gap, isLower) => {
      const groups = (iban.match(/.{1,4}/g) ?? []).join(gap);
      expect(readIban(isLower ? groups.toLowerCase() : groups)).toEqual({ ok: true, iban, country: 'DE' });
    }),
  );
});

test('one other digit is always found', () => {
  fc.assert(
    fc.property(germanIbans, fc.integer({ min: 2, max: 21 }), fc.integer({ min: 1, max: 9 }), (iban, place, step) => {
      const other = (Number(iban[place]) + step) % 10;
      expect(readIban(iban.slice(0, place) + String(other) + iban.slice(place + 1)).ok).toBe(false);
    }),
  );
});

test('no text at all is read as an IBAN that is none, and none makes the reader fail', () => {
  fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => expect(readIban(text).ok).toBe(false)));
});

test.each([
  ['FR14 2004 1010 0505 0001 3M02 606', 'FR'],
  ['GB29 NWBK 6016 1331 9268 19', 'GB'],
  ['CH93 0076 2011 6238 5295 7', 'CH'],
  ['AL47 2121 1009 0000 0002 3569 8741', 'AL'],
  ['RS35 2600 0560 1001 6113 79', 'RS'],
  ['MT84 MALT 0110 0001 2345 MTLC AST0 01S', 'MT'],
])('%s is an account in the SEPA schemes', (text, country) => {
  expect(readIban(text)).toEqual({ ok: true, iban: text.replaceAll(' ', ''), country });
});

test.each([
  ['DE89 3704 0044 0532 0130 01', 'has wrong check digits: a character is mistyped'],
  ['DE89 3704 0044 0532 0130', 'has not the length of an IBAN of DE'],
  ['FR14 X004 1010 0505 0001 3M02 606', 'has not the form of an IBAN of FR'],
  ['US64 SVBK US6S 3300 9586 71', 'begins with US, which has no IBANs'],
  ['TR33 0006 1005 1978 6457 8413 26', 'is an account in TR, which is outside the SEPA schemes'],
  ['CH44 3199 9123 0008 8901 2', 'is a QR-IBAN, to which only Swiss QR-bills are paid'],
  ['', 'must be an IBAN: two letters, two digits and the account number'],
  ['DE89 3704 0044 0532 0130 00 / Anna', 'must be an IBAN: two letters, two digits and the account number'],
])('%s is refused: %s', (text, reason) => {
  expect(readIban(text)).toEqual({ ok: false, reason });
});

test('the SEPA schemes have 41 countries, of which Gibraltar has a separate code', () => {
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
  const countries = letters.flatMap((one) => letters.map((other) => one + other)).filter(isSepaCountry);
  expect(countries).toHaveLength(42);
  expect(countries).not.toContain('TR');
});

test('a BIC has eight or eleven characters, in upper case', () => {
  expect(['COBADEFF', 'COBADEFFXXX', 'BURSDEF0XXX'].every(isBic)).toBe(true);
  expect(['cobadeff', 'COBADEFFX', 'COBA1EFF', 'COBADEFF XXX', ''].some(isBic)).toBe(false);
});

test('the masked form shows country and last four characters only', () => {
  fc.assert(fc.property(germanIbans, (iban) => expect(maskedIban(iban)).toBe(`DE•• •••• ${iban.slice(-4)}`)));
});
