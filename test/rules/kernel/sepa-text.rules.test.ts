/** Text in the SEPA character set: always in the set, never cut off, unchanged where it was in the set before. @module */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isSepaIdentifier, isSepaText, sepaTextOf } from '../../../src/kernel/sepa-text.ts';

test('whatever is written, the result is in the SEPA character set and stays as it is when written again', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const written = sepaTextOf(text);
      expect(isSepaText(written)).toBe(true);
      expect(sepaTextOf(written)).toBe(written);
    }),
  );
});

test('text of the set is only trimmed and its runs of spaces shortened', () => {
  const set = "abcXYZ019/-?:().,'+ ";
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...set) }), (text) =>
      expect(sepaTextOf(text)).toBe(text.replace(/ +/g, ' ').trim()),
    ),
  );
});

test.each([
  ['Müller & Söhne GmbH', 'Muller + Sohne GmbH'],
  ['Jürgen Groß', 'Jurgen Gross'],
  ['Łódź Spółka', 'Lodz Spolka'],
  ['Αθήνα', 'Athina'],
  ['София', 'Sofiya'],
  ['L’Oréal “Paris”', "L'Oreal 'Paris'"],
  ['e\u0301cole', 'ecole'],
  ['a_b~c@d', 'a-b-c.d'],
])('%s is written %s', (text, written) => {
  expect(sepaTextOf(text)).toBe(written);
});

test('an identifier has 1 to 35 characters and no slash where a bank would refuse it', () => {
  expect(['a', 'INV/2026-1', 'x'.repeat(35)].every(isSepaIdentifier)).toBe(true);
  expect(['', '/a', 'a/', 'a//b', 'ä', 'x'.repeat(36)].some(isSepaIdentifier)).toBe(false);
});
