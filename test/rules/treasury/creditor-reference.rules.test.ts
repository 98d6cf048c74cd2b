/** Creditor references: valid check digits, the characters that banks pass on, and one for each top-up. @module */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  creditorReference,
  isCreditorReference,
} from '../../../src/domains/treasury/funding/creditor-reference.rules.ts';
import { newId } from '../../../src/kernel/ids.ts';

const ids = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => newId('funding', bytes));

describe('a creditor reference', () => {
  test('has valid check digits and at most 25 digits and capitals', () => {
    fc.assert(
      fc.property(ids, (id) => {
        const reference = creditorReference(id);
        expect(reference).toMatch(/^RF\d{2}[0-9A-Z]{21}$/);
        expect(isCreditorReference(reference)).toBe(true);
      }),
    );
  });

  test('with another digit in one place is invalid', () => {
    fc.assert(
      fc.property(ids, fc.nat(20), fc.nat(9), (id, place, digit) => {
        const reference = creditorReference(id);
        fc.pre(/\d/.test(reference.charAt(4 + place)));
        const changed = reference.slice(0, 4 + place) + String(digit) + reference.slice(5 + place);
        expect(isCreditorReference(changed)).toBe(changed === reference);
      }),
    );
  });

  test('is the one that the standard gives for its example', () => {
    expect(isCreditorReference('RF18539007547034')).toBe(true);
  });

  test('begins, ends and is written as the standard says', () => {
    for (const none of [
      'xRF18539007547034',
      'RF18539007547034-',
      'rf18539007547034',
      'RF1',
      'RF18',
      'RFAB539007547034',
      '',
    ])
      expect([none, isCreditorReference(none)]).toEqual([none, false]);
    const behindOthers = Array.from({ length: 100 }, (_, n) => `ABRF${String(n).padStart(2, '0')}539007547034`);
    expect(behindOthers.filter(isCreditorReference)).toEqual([]);
    expect(isCreditorReference('RF18000000000539007547034')).toBe(true);
    expect(isCreditorReference('RF180000000000539007547034')).toBe(false);
  });

  test('is made of the end of an id, and of nothing that banks refuse', () => {
    expect(creditorReference('fnd_539007547034')).toBe('RF18539007547034');
    expect(() => creditorReference('fnd_' as never)).toThrow('a creditor reference of fnd_');
    expect(() => creditorReference('fnd_a_b' as never)).toThrow('a creditor reference of fnd_a_b');
  });

  test('of a thousand top-ups of one millisecond are different', () => {
    expect(new Set(Array.from({ length: 1_000 }, () => creditorReference(newId('funding')))).size).toBe(1_000);
  });
});
