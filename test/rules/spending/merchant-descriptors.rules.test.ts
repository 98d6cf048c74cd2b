/**
 * Goal: a charge finds the intent of its merchant however the network spells the name, and not that of a similar one.
 * Method: pairs with their sources; the matcher must not become worse than it is.
 * @module
 */
import { expect, test } from '@jest/globals';
import { resembles } from '../../../src/domains/spending/policies/merchant-match.rules.ts';
import { different, same } from './descriptors/pairs.ts';
import { constructedDifferent, constructedSame } from './descriptors/rules.ts';

test('each pair stands once and has its source, and half of them are similar names of different merchants', () => {
  const all = [...same, ...different];
  expect(new Set(all.map(([declared, name]) => `${declared}|${name}`)).size).toBe(all.length);
  expect(different.length).toBeGreaterThanOrEqual(all.length / 2);
  const isSourced = (rules: Readonly<Record<string, string>>, source: string) =>
    source.startsWith('https://') || rules[source] !== undefined;
  expect(same.filter(([, , source]) => !isSourced(constructedSame, source))).toEqual([]);
  expect(different.filter(([, , source]) => !isSourced(constructedDifferent, source))).toEqual([]);
});

test('of the pairs, the matcher of intents finds what it found before', () => {
  const found = same.filter(([declared, name]) => resembles(declared, { name })).length;
  const wrong = different.filter(([declared, name]) => resembles(declared, { name })).length;
  expect(found / same.length).toBeGreaterThanOrEqual(0.89);
  expect(found / (found + wrong)).toBeGreaterThanOrEqual(0.78);
});
