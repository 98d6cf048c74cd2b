/**
 * Goal: a charge finds the intent of its merchant however the network spells the name, and not that of a similar one.
 * Method: pairs with their sources, and names changed at random. The first half stood here before the matcher was changed; the
 * second was added with the change.
 * @module
 */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isNameOf, steadyNameOf } from '../../../src/domains/spending/policies/merchant-descriptor.rules.ts';
import { isPaidBy, isStillMerchant, resembles } from '../../../src/domains/spending/policies/merchant-match.rules.ts';
import { promises, steadyNames } from './descriptors/examples.ts';
import { furtherDifferent, furtherSame } from './descriptors/further-pairs.ts';
import { different, same } from './descriptors/pairs.ts';
import { constructedDifferent, constructedSame, type Pair } from './descriptors/rules.ts';

test('at least 300 pairs each stand once and have a source, and half of them are similar names that must not match', () => {
  const [matching, similar] = [
    [...same, ...furtherSame],
    [...different, ...furtherDifferent],
  ];
  const all = [...matching, ...similar];
  expect(all.length).toBeGreaterThanOrEqual(300);
  expect(new Set(all.map(([declared, name]) => `${declared}|${name}`)).size).toBe(all.length);
  expect(similar.length).toBeGreaterThanOrEqual(all.length / 2);
  const isSourced = (rules: Readonly<Record<string, string>>, source: string) =>
    source.startsWith('https://') || rules[source] !== undefined;
  expect(matching.filter(([, , source]) => !isSourced(constructedSame, source))).toEqual([]);
  expect(similar.filter(([, , source]) => !isSourced(constructedDifferent, source))).toEqual([]);
});

test.each<[half: string, same: readonly Pair[], different: readonly Pair[], missed: string[]]>([
  ['first', same, different, []],
  [
    'second',
    furtherSame,
    furtherDifferent,
    [
      'DPLUS*DISNEY',
      'Visa 100021 Rema 1000 Sorenga',
      'DOMINOS456 04/13 #XXXXX4567 PURCHASE PIZZA DENVER CO',
      'PANERA_BREAD654 12/22 #XXXXX5678 PURCHASE SANDWICH AUSTIN TX',
      'GRUBHUB987 11/11 PURCHASE DALLAS TX',
      'PURCHASE WM SUPERCENTER #1700 POWAY CAUS',
    ],
  ],
])('of the %s half all of the same but these, and none of the others, are found', (_half, alike, similar, missed) => {
  const isFound = ([declared, name]: Pair): boolean => isPaidBy(declared, { name });
  expect(alike.filter((pair) => !isFound(pair)).map(([, name]) => name)).toEqual(missed);
  expect(similar.filter(isFound)).toEqual([]);
});

test.each(Object.entries(promises))('%s', (_sentence, { is, isNot }) => {
  expect(is.filter(([declared, descriptor]) => !isNameOf(declared, descriptor))).toEqual([]);
  expect(isNot.filter(([declared, descriptor]) => isNameOf(declared, descriptor))).toEqual([]);
});

test.each(steadyNames)('of %s stays %s', (descriptor, steady) => expect(steadyNameOf(descriptor)).toBe(steady));

const letters = fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz');
const word = fc.array(letters, { minLength: 5, maxLength: 9 }).map((all) => `q${all.join('')}`);
const name = fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join(' '));

test('a name is found with whatever networks write around it', () => {
  const before = fc.constantFrom('', 'SQ *', 'PAYPAL *', 'TST* ', 'SumUp  *', 'ZETTLE_*', 'POS DEB ', 'Visa 100021 ');
  const after = fc.constantFrom(
    '',
    ' 0087',
    ' #0412',
    ' FIL. 12',
    ' GMBH',
    ' BERLIN',
    ' WIEN AT',
    ' +49305550',
    ' ONLINE',
  );
  fc.assert(
    fc.property(name, before, after, (declared, prefix, suffix) => {
      expect(isPaidBy(declared, { name: `${prefix}${declared.toUpperCase()}${suffix}` })).toBe(true);
      expect(isPaidBy(declared, { name: `${declared.toUpperCase()}* ORDER 4711` })).toBe(true);
      expect(isPaidBy(declared, { name: declared.replaceAll(' ', '').toUpperCase() })).toBe(true);
      expect(isPaidBy(declared, { name: `WWW.${declared.replaceAll(' ', '-')}.DE` })).toBe(true);
    }),
  );
});

test('no letter more, less or other than in the name is let through', () => {
  fc.assert(
    fc.property(name, fc.nat(), letters, fc.constantFrom('other', 'more', 'less'), (declared, at, letter, how) => {
      const place = at % declared.length;
      const rest = declared.slice(how === 'more' ? place : place + 1);
      const changed = `${declared.slice(0, place)}${how === 'less' ? '' : letter}${rest}`;
      fc.pre(changed.replaceAll(' ', '') !== declared.replaceAll(' ', ''));
      expect(isNameOf(declared, changed.toUpperCase())).toBe(false);
    }),
    { numRuns: 500 },
  );
});

test('a word before the name, or a trade after it, makes another merchant of it', () => {
  fc.assert(
    fc.property(name, word, (declared, other) => {
      expect(isPaidBy(declared, { name: `${other} ${declared}` })).toBe(false);
      expect(isPaidBy(declared, { name: `${declared} casino` })).toBe(false);
      expect(isPaidBy(declared, { name: `${other} *${declared}` })).toBe(false);
      const [first = ''] = declared.split(' ');
      expect(isPaidBy(first, { name: `${first} ${other}` })).toBe(false);
      expect(isPaidBy(declared, { name: `${declared} ${other}` })).toBe(false);
    }),
  );
});

test('what an intent is found for, a blocklist blocks', () => {
  for (const [declared, descriptor] of [...same, ...furtherSame, ...different, ...furtherDifferent])
    if (isPaidBy(declared, { name: descriptor })) expect(resembles(declared, { name: descriptor })).toBe(true);
});

test('an intent that names its merchant as the network did is found at the next try, with another order or branch', () => {
  const asDeclined = 'AMZN MKTP US*RT5KN1Y24';
  expect(isPaidBy(asDeclined, { name: 'AMZN MKTP US*2K8J9' })).toBe(true);
  expect(isPaidBy('SQ *SUNRISE BAKERY', { name: 'SQ *SUNRISE BAKERY 0412 LYON' })).toBe(true);
  expect(isPaidBy(asDeclined, { name: 'AMZN MKTP US*GIFTCARD' })).toBe(false);
  expect(isPaidBy('SQ *SUNRISE BAKERY', { name: 'SQ *SUNSET BAKERY' })).toBe(false);
});

test('after a word that ends the name, only what networks and banks write may follow', () => {
  for (const descriptor of [
    'AMAZON SAGT DANKE',
    'AMAZON DANKT IHNEN',
    'AMAZON HELP AMAZON.COM/BILL',
    'AMAZON REFUND 123 SEATTLE WA',
    'AMAZON BILL NEW YORK NY',
    'AMAZON 04/30 PURCHASE FOOD ST LOUIS MO',
  ])
    expect([descriptor, isPaidBy('Amazon', { name: descriptor })]).toEqual([descriptor, true]);
  const further = ['BILL', 'HELP', 'PURCHASE', 'REFUND', 'RECURRING', 'REFERENCE', 'SAGT'];
  for (const descriptor of further.map((word) => `AMAZON ${word} SCAM CO`)) {
    expect([descriptor, isPaidBy('Amazon', { name: descriptor })]).toEqual([descriptor, false]);
    expect(isStillMerchant({ name: 'AMAZON' }, { name: descriptor })).toBe(false);
  }
  expect(isPaidBy('Amazon', { name: 'AMAZON HELP CASINO' })).toBe(false);
  expect(isStillMerchant({ name: 'AMAZON' }, { name: 'AMAZON REFUND 123' })).toBe(true);
});

test('a name without words is paid by nobody but one of the same name', () => {
  for (const declared of ['🍕', 'Et', '&'])
    for (const descriptor of ['', '🎲', '***', 'UND', 'SQ *', '12'])
      expect([declared, descriptor, isPaidBy(declared, { name: descriptor })]).toEqual([declared, descriptor, false]);
  expect(isPaidBy('Et', { name: 'ET' })).toBe(true);
});
