/** The ids of entries: each leads to its journal and its line, and nothing else is one. @module */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { entryIdOf, entryKeyOf, statementCursor } from '../../../src/domains/treasury/ledger/entry.rules.ts';
import { isId, newId } from '../../../src/kernel/ids.ts';

test('an entry id is well-formed, unique per line, and leads back to its journal and line', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 99 }), (line) => {
      const key = { journalId: newId('journal'), line };
      const id = entryIdOf(key);
      expect(isId('entry', id)).toBe(true);
      expect(entryKeyOf(id)).toEqual(key);
    }),
  );
  expect(entryKeyOf('le_abcdefgh')).toBeUndefined();
});

test('the lines of a journal have two digits, and what is written around an id makes none', () => {
  expect(entryIdOf({ journalId: 'jr_abcdefgh', line: 3 })).toBe('le_abcdefgh03');
  expect(entryKeyOf('le_abcdefgh03')).toEqual({ journalId: 'jr_abcdefgh', line: 3 });
  for (const none of [
    'xle_abcdefgh03',
    'le_abcdefgh03x',
    'le_abcdefg03',
    'le_ABCDEFGH03',
    'le_abcdefgh0x',
    'le_abcdefghx3',
  ])
    expect([none, entryKeyOf(none)]).toEqual([none, undefined]);
});

test('a page of a statement ends with a version of at most 15 digits', () => {
  expect(statementCursor.idOf(12)).toBe('version_12');
  expect(statementCursor.form.test('version_123456789012345')).toBe(true);
  expect(statementCursor.form.test('version_1234567890123456')).toBe(false);
});
