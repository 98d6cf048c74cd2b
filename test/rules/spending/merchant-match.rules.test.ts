/** When two spellings are one merchant: strict for allowing, lenient for blocking. @module */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isInCategory, isMccCategory, mccCategories } from '../../../src/domains/spending/policies/mcc-groups.rules.ts';
import {
  domainIn,
  isDrifted,
  isKnown,
  isPaidBy,
  isSameMerchant,
  isStillMerchant,
  type MerchantFacts,
  merchantInWords,
  normalised,
  resembles,
} from '../../../src/domains/spending/policies/merchant-match.rules.ts';
import { merchant as anyMerchant } from './spending.arbitraries.ts';

describe('allowing', () => {
  test.each<[entry: string, merchant: MerchantFacts]>([
    ['sandbox shop', { name: 'Sandbox-Shop' }],
    ['Café Müller', { name: 'CAFE MULLER' }],
    ['sandbox-shop', { id: 'Sandbox-Shop', name: 'Something else' }],
    ['example.com', { domain: 'example.com' }],
    ['example.com', { domain: 'shop.example.com' }],
    ['https://www.example.com/path', { domain: 'EXAMPLE.com' }],
    ['example.com', { name: 'shop.example.com' }],
    ['müller.example', { domain: 'xn--mller-kva.example' }],
    ['书店', { name: '书店' }],
    [' Sandbox-1 ', { id: 'SANDBOX-1' }],
    ['example.com', { name: 'Other', domain: 'example.com' }],
  ])('%s is %j', (entry, merchant) => expect(isSameMerchant(entry, merchant)).toBe(true));

  test.each<[entry: string, merchant: MerchantFacts]>([
    ['sandbox shop', { name: 'Sandbox Shops' }],
    ['example.com', { domain: 'badexample.com' }],
    ['example.com', { domain: 'example.com.bad.test' }],
    ['shop.example.com', { domain: 'example.com' }],
    ['Shop', { name: 'Sandbox Shop' }],
    ['', { name: '' }],
    ['!!', { name: '??' }],
    ['书店', { name: '书' }],
    ['anything', {}],
    ['', { id: '' }],
    [' ', { id: ' ' }],
    ['sandbox-1', { id: 'sandbox-12' }],
    ['null', { id: null, name: null, domain: null }],
  ])('%s is not %j', (entry, merchant) => expect(isSameMerchant(entry, merchant)).toBe(false));
});

describe('blocking', () => {
  test.each<[entry: string, merchant: MerchantFacts]>([
    ['Sandbox Casino', { name: 'SANDBOX*CASINO BERLIN' }],
    ['Sandbox Casino', { name: 'Sandbox Casino GmbH' }],
    ['Sandbox Casino GmbH', { name: 'sandbox casino' }],
    ['Sandbox Casino', { name: 'Sandbx Casino' }],
    ['Sandbox Casino', { domain: 'pay.sandbox-casino.com' }],
    ['sandbox-casino.com', { name: 'Sandbox Casino' }],
    ['casino', { name: 'PAYPAL *CASINO' }],
    ['SandboxCasino', { name: 'Sandbox Casino' }],
    ['Casino', { name: 'Ca\u00adsino Club' }],
    ['Casino', { name: 'C\u200da\u200ds\u200di\u200dn\u200do Club' }],
    ['abc', { name: 'ABC Example Shop' }],
    ['ab.casino', { name: 'AB Casino Berlin' }],
    ['Sandbox Casino', { name: 'Other', id: 'sandbox casino 12' }],
    ['gmbhagg', { name: 'GMBH AG' }],
    ['Kft', { name: 'KFT GMBH' }],
    ['Incorporated', { name: 'INCORPORATET' }],
    ['Sandbox Casino GmbH', { name: 'Sandbx Casino' }],
    ['sandbox-casino.com', { name: 'Sandbx Casino' }],
  ])('%s covers %j', (entry, merchant) => expect(resembles(entry, merchant)).toBe(true));

  test.each<[entry: string, merchant: MerchantFacts]>([
    ['Sandbox Casino', { name: 'Sandbox Shop' }],
    ['ab', { name: 'AB Example Shop' }],
    ['Aldi', { name: 'Lidl' }],
    ['visa', { name: 'Provisalon' }],
    ['example.com', { domain: 'shop.test' }],
    ['com', { name: 'Sandbox Shop' }],
    ['xy', { name: 'XY Example Shop' }],
    ['x y', { name: 'X Y Example Shop' }],
  ])('%s does not cover %j', (entry, merchant) => expect(resembles(entry, merchant)).toBe(false));

  test.each<[entry: string, name: string]>([
    ['casino', 'casina'],
    ['sandbox', 'sandbx'],
    ['sandbx', 'sandbox'],
    ['casino', 'casinos'],
    ['casino', 'ccasino'],
    ['sandboxing', 'sindbixing'],
    ['sandboxcasino', 'sandboxcasinoab'],
    ['sandboxcasinoab', 'sandboxcasino'],
    ['sandboxcasino', 'absandboxcasino'],
  ])('%s covers %s, which is misspelt', (entry, name) => expect(resembles(entry, { name })).toBe(true));

  test.each<[entry: string, name: string]>([
    ['kasin', 'kasim'],
    ['casino', 'casio'],
    ['casino', 'xxcasino'],
    ['xxcasino', 'casino'],
    ['casino', 'cosina'],
    ['sandboxin', 'sindbixin'],
    ['sandboxing', 'sandboxxn'],
    ['sandboxxn', 'sandboxing'],
    ['sandboxing', 'sindbixinx'],
    ['sandboxcasino', 'sandboxcasinoabc'],
  ])('%s does not cover %s, which differs by more than is forgiven', (entry, name) =>
    expect(resembles(entry, { name })).toBe(false),
  );

  test('blocking covers at least the names that allowing accepts', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.domain(), fc.constantFrom('Sandbox Shop', 'example.com')),
        anyMerchant,
        (entry, merchant) => {
          if (isSameMerchant(entry, merchant)) expect(resembles(entry, merchant)).toBe(true);
          if (normalised(entry) !== '') expect(resembles(entry, { name: entry })).toBe(true);
        },
      ),
    );
  });

  test('never throws for any text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 60 }),
        fc.string({ unit: 'binary', maxLength: 60 }),
        (entry, name) => {
          expect(typeof resembles(entry, { name, domain: name, id: name })).toBe('boolean');
          expect(domainIn(entry) ?? '').not.toMatch(/\s/);
        },
      ),
    );
  });
});

describe('an intent', () => {
  test.each<[declared: string, merchant: MerchantFacts]>([
    ['Sunrise Bakery', { id: 'SUNRISE BAKERY 0087' }],
    ['Sunrise Bakery', { name: ' ', id: 'SUNRISE BAKERY 0087' }],
    ['Sunrise Bakery', { name: 'OTHER', domain: 'sunrise-bakery.de' }],
    ['AMZN MKTP US*RT5KN1Y24', { name: 'AMZN MKTP US*2K8J9' }],
    ['Et', { name: 'ET' }],
  ])('for %s is paid to %j', (declared, merchant) => expect(isPaidBy(declared, merchant)).toBe(true));

  test.each<[declared: string, merchant: MerchantFacts]>([
    ['Sunrise Bakery', { name: 'OTHER', id: 'SUNRISE BAKERY 0087' }],
    ['SUNRISE BAKERY 0087 PARIS', { name: 'SUNRISE BAKERY 0412 LYON' }],
    ['Sunrise Bakery', {}],
  ])('for %s is not paid to %j', (declared, merchant) => expect(isPaidBy(declared, merchant)).toBe(false));
});

test('a merchant is named by its name, else by its domain, else by its id', () => {
  const all = { name: 'Shop', domain: 'shop.test', id: 'm_1' };
  expect(merchantInWords(all)).toBe('Shop');
  expect(merchantInWords({ ...all, name: '' })).toBe('shop.test');
  expect(merchantInWords({ ...all, name: null, domain: null })).toBe('m_1');
  expect(merchantInWords({})).toBe('unknown merchant');
});

test('a merchant is known by any of id, name and domain that is not blank', () => {
  for (const known of [{ id: 'm_1' }, { name: 'Shop' }, { domain: 'shop.test' }]) expect(isKnown(known)).toBe(true);
  for (const unknown of [{}, { id: ' ', name: '', domain: null }]) expect(isKnown(unknown)).toBe(false);
});

describe('a lock on the first merchant', () => {
  test.each<[first: string, later: string]>([
    ['SUNRISE BAKERY 0087 PARIS', 'SUNRISE BAKERY 0412 LYON'],
    ['SUNRISE BAKERY', 'SUNRISE BAKERY BERLIN DE'],
    ['SUNRISE BAKERY #12', 'SUNRISE BAKERY FIL. 7'],
    ['SUNRISE BAKERY* 4711', 'SUNRISE BAKERY* 4712'],
    ['SQ *SUNRISE BAKERY', 'SUNRISE BAKERY GMBH'],
    ['Café Müller', 'CAFE MULLER WIEN AT'],
    ['NETFLIX.COM 8662458999', 'NETFLIX.COM AMSTERDAM NL'],
    ['STUDIO 54 FITNESS', 'STUDIO 54 FITNESS NEW YORK NY'],
    ['BLUE BOTTLE SAN FRANCISCO CA', 'BLUE BOTTLE OAKLAND CA'],
  ])('%s stays the merchant as %s', (first, later) => {
    expect(isStillMerchant({ name: first }, { name: later })).toBe(true);
    expect(isStillMerchant({ name: later }, { name: first })).toBe(true);
  });

  test.each<[first: string, later: string]>([
    ['SUNRISE BAKERY', 'SUNRISE BREWERY'],
    ['SUNRISE BAKERY', 'SUNRISE'],
    ['SUNRISE BAKERY', 'SUNRISE BAKERY SUPPLIES'],
    ['SUNRISE BAKERY', 'SUNRISE BAKERY MONTMARTRE'],
    ['STUDIO 54', 'STUDIO 55'],
    ['DELTA', 'DELTA DENTAL'],
    ['NETFLIX.COM', 'NETFLIX.SHOP'],
    ['NETFLIX.COM', 'NETFLIX'],
    ['PAYPAL *SUNRISE', 'PAYPAL *SUNSET'],
    ['FOOPAY *SUNRISE', 'FOOPAY *SUNSET'],
    ['HOTEL BERLIN', 'HOTEL PARIS'],
    ['BAKERY 0087', 'BAKERY 0412'],
    ['ONLINE SHOP 0087', 'ONLINE SHOP 0412'],
  ])('%s does not become %s', (first, later) => {
    expect(isStillMerchant({ name: first }, { name: later })).toBe(false);
    expect(isStillMerchant({ name: later }, { name: first })).toBe(false);
  });

  test('a drifted name has to be of the same category; an equal name or id is enough in any', () => {
    const first = { id: 'merch_1', name: 'SUNRISE BAKERY 0087', mcc: '5462' };
    expect(isStillMerchant(first, { name: 'SUNRISE BAKERY 0412', mcc: '5462' })).toBe(true);
    expect(isStillMerchant(first, { name: 'SUNRISE BAKERY 0412', mcc: '7995' })).toBe(false);
    expect(isStillMerchant(first, { name: 'SUNRISE BAKERY 0412' })).toBe(true);
    expect(isStillMerchant(first, { id: 'merch_2', name: 'sunrise bakery 0087', mcc: '7995' })).toBe(true);
    expect(isStillMerchant(first, { id: 'merch_1', name: 'OTHER', mcc: '7995' })).toBe(true);
  });

  test('is kept by the domain, and by nothing where the first payment named nobody', () => {
    expect(isStillMerchant({ domain: 'example.com' }, { domain: 'shop.example.com' })).toBe(true);
    expect(isStillMerchant({ domain: 'example.com' }, { domain: 'example.org' })).toBe(false);
    expect(isStillMerchant({}, {})).toBe(false);
    expect(isStillMerchant({ name: 'SUNRISE BAKERY 0087' }, {})).toBe(false);
    expect(isStillMerchant({}, { name: 'SUNRISE BAKERY 0087' })).toBe(false);
  });

  test('no chain of names leads to another merchant: two that drift from a third drift from each other', () => {
    const part = fc.constantFrom(
      'SUNRISE',
      'BAKERY',
      'BERLIN',
      '0087',
      '54',
      'DE',
      '*',
      'SQ',
      'GMBH',
      'SAN',
      'DIEGO',
      '#1',
      'X.COM',
    );
    const name = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => ({ name: parts.join(' ') }));
    fc.assert(
      fc.property(name, name, name, (a, b, c) => {
        if (isDrifted(a, b) && isDrifted(b, c)) expect(isDrifted(a, c)).toBe(true);
        expect(isDrifted(a, b)).toBe(isDrifted(b, a));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('category groups', () => {
  test('contain their codes and nothing malformed', () => {
    expect(isInCategory('7995', 'gambling')).toBe(true);
    expect(isInCategory('7994', 'gambling')).toBe(false);
    expect(isInCategory('3500', 'car_hire')).toBe(true);
    expect(isInCategory('3501', 'car_hire')).toBe(false);
    expect(isInCategory('079950', 'gambling')).toBe(false);
    expect(isInCategory('7995', 'toString')).toBe(false);
    expect(isMccCategory('constructor')).toBe(false);
    expect(mccCategories.length).toBeGreaterThan(20);
  });
});
