/** Names against a sanctions list: what is the same person is found however it is written, what is another is not. @module */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { payRefusal, screened } from '../../../src/domains/treasury/beneficiaries/beneficiary.rules.ts';
import {
  matchesIn,
  matchPercent,
  resemblance,
  similarity,
  wordsOf,
} from '../../../src/domains/treasury/beneficiaries/name-match.rules.ts';

const listOf = (...names: string[]) => ({
  id: 'test',
  names: names.map((name, i) => ({ reference: `EU.${i}.1`, name })),
});
const word = fc.string({ unit: fc.constantFrom(...'abcdefghijklmnoprstuvz'), minLength: 3, maxLength: 12 });
const name = fc.array(word, { minLength: 2, maxLength: 5 }).map((words) => words.join(' '));

test('a listed name is found in any order, in upper and lower case and with marks, with the full score', () => {
  fc.assert(
    fc.property(name, fc.nat(), (listed, turn) => {
      const words = listed.split(' ');
      const at = turn % words.length;
      const turned = [...words.slice(at), ...words.slice(0, at)].join(', ').toUpperCase();
      expect(matchesIn(listOf(listed), turned)).toEqual([{ reference: 'EU.0.1', name: listed, scorePercent: 100 }]);
    }),
  );
});

test('the index of a list finds exactly the names that resemble by at least the threshold', () => {
  fc.assert(
    fc.property(fc.array(name, { maxLength: 8 }), name, (listed, payee) => {
      const expected = listed.filter((one) => Math.floor(resemblance(payee, one) * 100) >= matchPercent);
      expect(
        matchesIn(listOf(...listed), payee)
          .map((match) => match.name)
          .sort(),
      ).toEqual(expected.sort());
    }),
  );
});

test('names whose words resemble each other score the same from both sides', () => {
  const near = fc.constantFrom('keller', 'koller', 'kellner', 'muster', 'musters', 'mustermann', 'mustermans');
  const names = fc.array(near, { minLength: 1, maxLength: 4 }).map((words) => words.join(' '));
  fc.assert(fc.property(names, names, (a, b) => expect(resemblance(a, b)).toBeCloseTo(resemblance(b, a), 10)));
});

test('similarity and resemblance are symmetric, from 0 to 1, and 1 for the same', () => {
  fc.assert(
    fc.property(name, name, word, word, (a, b, one, other) => {
      expect(resemblance(a, a)).toBeCloseTo(1);
      expect(resemblance(a, b)).toBeCloseTo(resemblance(b, a));
      expect(similarity(one, other)).toBeCloseTo(similarity(other, one));
      for (const value of [resemblance(a, b), similarity(one, other)]) {
        expect(value).toBeGreaterThanOrEqual(0);
        expect(value).toBeLessThanOrEqual(1.000001);
      }
    }),
  );
});

test.each([
  ['Erika Maria Mustermann', 'Erika Mustermann'],
  ['Muhammad Ali Hassan', 'Mohammed Ali Hasan'],
  ['Иван Иванович Петров', 'Ivan Petrov'],
  ['Example Trading GmbH', 'EXAMPLE TRADING LLC'],
  ['Jürgen Möller', 'Jurgen Moller'],
  ['Zorglub', 'ZORGLUB Ltd'],
])('the entry %s is found by %s', (listed, payee) => {
  expect(matchesIn(listOf(listed), payee)).toHaveLength(1);
});

test.each([
  ['Erika Mustermann', 'Erika Beispiel'],
  ['Erika Mustermann', 'Mustermann'],
  ['Example Trading GmbH', 'Muster Handel GmbH'],
  ['Zorglub', 'Zorglub Bakery Berlin'],
  ['Erika Mustermann', '株式会社'],
])('the entry %s is not found by %s', (listed, payee) => {
  expect(matchesIn(listOf(listed), payee)).toEqual([]);
});

test('an entry with several names is one match, by its best name', () => {
  const names = ['Erika Musterman', 'Erika Mustermann', 'Rita Beispiel'].map((one) => ({
    reference: 'EU.7.1',
    name: one,
  }));
  expect(matchesIn({ id: 'test', names }, 'Erika Mustermann')).toEqual([
    { reference: 'EU.7.1', name: 'Erika Mustermann', scorePercent: 100 },
  ]);
});

test('legal forms count only in a name that has nothing else', () => {
  expect(wordsOf('Keller & Co. GmbH')).toEqual(['keller']);
  expect(wordsOf('SA')).toEqual(['sa']);
});

test('dismissed entries are no hit, all others are', () => {
  const matches = matchesIn(listOf('Erika Muster', 'Erika Musters'), 'Erika Muster');
  expect(screened(matches, []).result).toBe('hit');
  const one = screened(matches, [{ reference: 'EU.0.1', reason: 'another' }]);
  expect(one).toMatchObject({ result: 'hit', matches: [{ reference: 'EU.1.1' }] });
  const both = ['EU.0.1', 'EU.1.1'].map((reference) => ({ reference, reason: 'another' }));
  expect(screened(matches, both)).toEqual({ result: 'clear', matches: [] });
});

test('no payment goes to what is disabled or resembles a listed name, and agents pay only where they may', () => {
  const payee = { status: 'active', screeningResult: 'clear', agentsMayPay: false } as const;
  expect(payRefusal(payee, 'owner')).toBeUndefined();
  expect(payRefusal(payee, 'agent')).toMatch(/agents may pay/);
  expect(payRefusal({ ...payee, agentsMayPay: true }, 'agent')).toBeUndefined();
  for (const by of ['owner', 'agent'] as const) {
    expect(payRefusal({ ...payee, agentsMayPay: true, status: 'disabled' }, by)).toMatch(/disabled/);
    expect(payRefusal({ ...payee, agentsMayPay: true, screeningResult: 'hit' }, by)).toMatch(/sanctions/);
  }
});

test('a refusal reads on from the id of the beneficiary', () => {
  const payee = { status: 'active', screeningResult: 'clear', agentsMayPay: false } as const;
  expect(payRefusal({ ...payee, screeningResult: 'hit' }, 'owner')).toBe('resembles a name of the sanctions list');
  expect(payRefusal({ ...payee, status: 'disabled' }, 'owner')).toBe('is disabled');
  expect(payRefusal(payee, 'agent')).toBe('is not one that agents may pay');
});

test.each<[one: string, other: string, value: number]>([
  ['martha', 'marhta', 0.9611],
  ['dixon', 'dicksonx', 0.8133],
  ['dwayne', 'duane', 0.84],
  ['jones', 'johnson', 0.8324],
  ['prefixes', 'prefixed', 0.95],
  ['abc', 'xyz', 0],
  ['a', 'b', 0],
  ['ab', 'ba', 0],
  ['', 'a', 0],
  ['', '', 1],
])('%j and %j are similar by %d, as Winkler published', (one, other, value) => {
  expect(similarity(one, other)).toBeCloseTo(value, 3);
});

test('at most 20 entries are named, the best first', () => {
  const listed = [...Array.from({ length: 25 }, () => 'Erika Musterman'), 'Erika Mustermann'];
  const matches = matchesIn(listOf(...listed), 'Erika Mustermann');
  expect(matches).toHaveLength(20);
  expect(matches[0]).toEqual({ reference: 'EU.25.1', name: 'Erika Mustermann', scorePercent: 100 });
  expect(matches[1]?.scorePercent).toBeLessThan(100);
});

test('a name without a word of Latin letters or digits resembles nothing, not even itself', () => {
  expect([wordsOf('!!!'), wordsOf('')]).toEqual([[], []]);
  expect(resemblance('!!!', '!!!')).toBe(0);
  expect(resemblance('Erika', '!!!')).toBe(0);
  expect(matchesIn(listOf('!!!', 'Erika Muster'), '!!!')).toEqual([]);
});

test('marks within a word are left out, and digits are letters of it', () => {
  expect(wordsOf("O'Neill S.A.R.L. 24-7")).toEqual(['oneill', '24', '7']);
});

test.each<[one: string, other: string, value: number]>([
  ['ann anna mustermans', 'kellner muster anna', 0.7765],
  ['kellner keller', 'keller muster', 0.5],
  ['kellner anna anna', 'koller koller ann', 0.534],
  ['abbabcba abba', 'abca abbc', 0.875],
  ['abba abbabcba', 'abbc abca', 0.875],
  ['abcbaab abcbacb', 'abbcccb abca', 0.8869],
  ['abcbacb abcbaab', 'abca abbcccb', 0.8869],
  ['abcbacb abcbaab', 'abbbabab abbc abca', 0.45],
  ['dfbcf', 'fdbf', 0.85],
  ['Erika Muster', '!!!', 0],
])('of %j and %j each word has one partner, the most similar first: %d from both sides', (one, other, value) => {
  expect(resemblance(one, other)).toBeCloseTo(value, 3);
  expect(resemblance(other, one)).toBeCloseTo(value, 3);
});

test('a score of 90 % is a match, and a lower one is none', () => {
  expect(matchesIn(listOf('Miller', 'Annn'), 'Muller')).toMatchObject([{ name: 'Miller', scorePercent: 90 }]);
  expect(matchesIn(listOf('Annn'), 'Anna')).toEqual([]);
});

test('an entry is named by its first name among those that fit best', () => {
  const matched = (...names: readonly string[]) =>
    matchesIn({ id: 'test', names: names.map((one) => ({ reference: 'EU.7.1', name: one })) }, 'Erika Mustermann');
  expect(matched('Erika Mustermann', 'Mustermann Erika')).toMatchObject([{ name: 'Erika Mustermann' }]);
  expect(matched('Mustermann Erika', 'Erika Mustermann')).toMatchObject([{ name: 'Mustermann Erika' }]);
  expect(matched('Erika Mustermann', 'Erika Musterman')).toMatchObject([{ name: 'Erika Mustermann' }]);
});
