/** Goal: money, ids and cursors survive their borders exactly. Method: properties. @module */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { idPattern, idPrefixes, isId, newId, uuidv7Bytes } from '../../../src/kernel/ids.ts';
import { cents, centsFromEuros, eurosFromCents, percentOf } from '../../../src/kernel/money.ts';
import { decodeCursor, encodeCursor } from '../../../src/kernel/page.ts';

test('cents go to euros and back unchanged', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 99_999_999_999 }), (amount) => {
      expect(centsFromEuros(eurosFromCents(cents(amount)))).toBe(amount);
    }),
  );
});

test('three decimals, negative, huge and strange numbers are no amounts', () => {
  for (const bad of [0.001, 12.345, -1, -0.01, 1e9, 1e21, Number.NaN, Infinity, 1e-7])
    expect(centsFromEuros(bad)).toBeUndefined();
  expect(centsFromEuros(0.1 + 0.2)).toBeUndefined(); // 0.30000000000000004 is what was sent, so it is refused.
  expect(centsFromEuros(999_999_999.99)).toBe(99_999_999_999);
});

test('a percentage of an amount is never more than its exact value', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1e9 }), fc.integer({ min: 0, max: 100 }), (amount, percent) => {
      expect(percentOf(amount, percent) * 100).toBeLessThanOrEqual(amount * percent);
    }),
  );
});

test('ids match the pattern of their kind only, and sort by time', () => {
  const kinds = Object.keys(idPrefixes) as (keyof typeof idPrefixes)[];
  for (const kind of kinds) {
    const id = newId(kind);
    expect(id).toMatch(idPattern(kind));
    expect(kinds.filter((other) => isId(other, id))).toEqual([kind]);
  }
  expect(newId('intent', uuidv7Bytes(1_000)) < newId('intent', uuidv7Bytes(2_000))).toBe(true);
});

const anyInstant = fc
  .date({ min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true })
  .map((at) => at.toISOString());

test('a cursor is decoded only in its exact encoding', () => {
  fc.assert(
    fc.property(anyInstant, (createdAt) => {
      const cursor = { createdAt, id: newId('intent') };
      const text = encodeCursor(cursor);
      expect(decodeCursor(text, idPattern('intent'))).toEqual(cursor);
      expect(decodeCursor(text, idPattern('agent'))).toBeUndefined();
      for (const near of [` ${text}`, `${text}=`, `${text}A`, text.slice(0, -1), text.toUpperCase()]) {
        expect(decodeCursor(near, idPattern('intent'))).toBeUndefined();
      }
    }),
  );
});

test('every accepted cursor encodes to the same text', () => {
  const parts = fc.tuple(fc.oneof(anyInstant, fc.string({ unit: 'binary' })), fc.string({ unit: 'binary' }));
  const sent = fc.oneof(
    fc.string({ unit: 'binary' }),
    parts.map(([at, id]) => Buffer.from(`${at}|${id}`).toString('base64url')),
  );
  fc.assert(
    fc.property(sent, (text) => {
      const cursor = decodeCursor(text, /^.+$/);
      if (cursor !== undefined) expect(encodeCursor(cursor)).toBe(text);
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  '2026-02-30T00:00:00.000Z',
  '2026-01-01T00:00:00Z',
  '0000-01-01T00:00:00.000Z',
  '+010000-01-01T00:00:00.000Z',
])('no cursor is of %s', (createdAt) => {
  expect(decodeCursor(encodeCursor({ createdAt, id: newId('intent') }), idPattern('intent'))).toBeUndefined();
});
