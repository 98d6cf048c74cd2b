/** Instants as text, ids as letters, cents as euros: the quick ways say what the plain ones do. @module */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { newId } from '../../../src/kernel/ids.ts';
import { isoOf, isoOrNull } from '../../../src/kernel/instant.ts';
import { cents, eurosFromCents } from '../../../src/kernel/money.ts';

test('isoOf equals toISOString in every year', () => {
  fc.assert(
    fc.property(fc.date({ noInvalidDate: true }), (at) => {
      expect(isoOf(at)).toBe(at.toISOString());
    }),
    { numRuns: 2_000 },
  );
  expect(() => isoOf(new Date(Number.NaN))).toThrow(RangeError);
  expect([isoOrNull(null), isoOrNull(undefined)]).toEqual([null, null]);
});

test('an id is its 16 bytes in base 32, most significant first', () => {
  const letters = '0123456789abcdefghjkmnpqrstvwxyz';
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (bytes) => {
      let value = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
      let text = '';
      for (let i = 0; i < 26; i++, value >>= 5n) text = letters[Number(value & 31n)] + text;
      expect(newId('event', bytes)).toBe(`ev_${text}`);
    }),
  );
});

test('euros are the number that their two decimals name', () => {
  fc.assert(
    fc.property(fc.integer({ min: -99_999_999_999, max: 99_999_999_999 }), (amount) => {
      expect(eurosFromCents(cents(amount))).toBe(Number((amount / 100).toFixed(2)));
    }),
    { numRuns: 2_000 },
  );
});
