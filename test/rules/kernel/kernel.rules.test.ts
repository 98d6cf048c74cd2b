/** Goal: money, ids and cursors survive their borders exactly. Method: properties. @module */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { idPattern, idPrefixes, isId, newId, uuidv7Bytes } from '../../../src/kernel/ids.ts';
import { centsFromEuros, eurosFromCents, percentOf } from '../../../src/kernel/money.ts';
import { decodeCursor, encodeCursor } from '../../../src/kernel/page.ts';

test('cents go to euros and back unchanged', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 99_999_999_999 }), (amount) => {
      expect(centsFromEuros(eurosFromCents(amount))).toBe(amount);
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

test('ids match their own pattern, sort by time, and are told apart by kind', () => {
  const kinds = Object.keys(idPrefixes) as (keyof typeof idPrefixes)[];
  for (const kind of kinds) {
    const id = newId(kind);
    expect(id).toMatch(idPattern(kind));
    expect(kinds.filter((other) => isId(other, id))).toEqual([kind]);
  }
  expect(newId('intent', uuidv7Bytes(1_000)) < newId('intent', uuidv7Bytes(2_000))).toBe(true);
});

test('a cursor is read back, anything else is refused', () => {
  const cursor = { createdAt: '2026-01-02T03:04:05.678Z', id: newId('intent') };
  expect(decodeCursor(encodeCursor(cursor))).toEqual(cursor);
  fc.assert(fc.property(fc.string(), (text) => expect(decodeCursor(text) ?? 'refused').toBeTruthy()));
  for (const bad of ['', 'x', Buffer.from('2026|x|y').toString('base64url')]) expect(decodeCursor(bad)).toBeUndefined();
});
