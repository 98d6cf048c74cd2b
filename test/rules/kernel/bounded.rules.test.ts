/** Goal: whatever is sent to a run becomes a small value of plain JSON, and reading it never throws. @module */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { decisionFromUpdate, parseDecision } from '../../../src/domains/identity/approvals/decision.messages.ts';
import { bounded, longestBoundedText, textsOf } from '../../../src/kernel/bounded.ts';
import { payloadConverter } from '../../../src/temporal/workflow-data-converter.ts';

const anything = fc.anything({ withBigInt: true, withDate: true, withMap: true, withObjectString: true, maxDepth: 12 });
const size = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).reduce((sum, [name, item]) => sum + name.length + size(item), 1)
    : String(value).length;

test('it always fits a payload, and is small', () => {
  fc.assert(
    fc.property(fc.oneof(anything, fc.string({ unit: 'binary', maxLength: 2_000 })), (value) => {
      const small = bounded(value);
      payloadConverter.toPayload(small);
      expect(bounded(small)).toEqual(small);
      expect(JSON.stringify(small)).not.toMatch(/\\u00[01]/);
    }),
    { numRuns: 1_000 },
  );
});

test('length, depth and number of entries are cut', () => {
  expect(bounded('x'.repeat(100_000))).toHaveLength(longestBoundedText);
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`name${n}`, [1, 2, 3]]));
  expect(size(bounded({ a: many, b: many }))).toBeLessThan(2_000);
  const nested = JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`) as unknown;
  expect(bounded(nested)).toEqual([[[null]]]);
  expect(bounded('a\u0000b\ud800')).toBe('a b\ufffd');
});

test('only texts of the fields that are named are read, never an inherited one', () => {
  expect(textsOf({ by: 'anna', decision: 3, extra: 'x' }, ['by', 'decision', 'toString'])).toEqual({ by: 'anna' });
  expect(textsOf(null, ['by'])).toEqual({});
});

test('no reader of a message throws, and none lets another field through', () => {
  const fields = fc.dictionary(
    fc.constantFrom('decision', 'actor', 'by', 'causeId', 'requestId', 'proof', 'checkoutId', 'extra', '__proto__'),
    fc.oneof(fc.constantFrom('approve', 'key', 'chk_aaaaaaaa'), anything),
  );
  const known = ['decision', 'actor', 'by', 'causeId', 'requestId', 'proof', 'checkoutId', 'ignored'];
  fc.assert(
    fc.property(fc.oneof(fields, anything), (value) => {
      const small = bounded(value);
      for (const read of [decisionFromUpdate(small, 'u'.repeat(600)), parseDecision(small)]) {
        expect(Object.keys(read).filter((name) => !known.includes(name))).toEqual([]);
        payloadConverter.toPayload(read);
      }
    }),
    { numRuns: 1_000 },
  );
});
