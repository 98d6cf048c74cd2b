/** What each check of a merchant, a category and a country finds, with its sentence and figures, by a policy and a card. @module */
import { describe, expect, test } from '@jest/globals';
import { noControls } from '../../../src/domains/cards/card-controls/card-control.rules.ts';
import {
  type Asked,
  cardControlChecks,
  policyMerchantChecks,
  policyPlaceChecks,
} from '../../../src/domains/spending/policies/merchant-checks.rules.ts';
import { defaultTerms } from '../../../src/domains/spending/policies/preset.rules.ts';
import type { CardControls, PolicyTerms } from '../../../src/domains/spending/policies/spending-facts.rules.ts';

const asked = (request: Partial<Asked['request']> = {}, phase: Asked['phase'] = 'charge'): Asked => ({
  request: { amountCents: 1_200, merchant: { name: 'Sandbox Shop' }, mcc: '5734', country: 'DE', ...request },
  phase,
});
const terms = (some: Partial<PolicyTerms>): PolicyTerms => ({ ...defaultTerms, name: 'rules', ...some });

const byPolicy = (some: Partial<PolicyTerms>, of: Asked) =>
  [...policyMerchantChecks(terms(some), of), ...policyPlaceChecks(terms(some), of)].filter((one) => one !== undefined);
const byCard = (some: Partial<CardControls>, of: Asked) =>
  cardControlChecks({ ...noControls, ...some }, of).filter((one) => one !== undefined);

const pass = (rule: string, figures: object) => [{ rule, outcome: 'pass', reason: '', figures }];
const deny = (rule: string, reason: string, figures: object) => [{ rule, outcome: 'deny', reason, figures }];

const shop = { merchant: 'Sandbox Shop' };
const unnamed = { merchant: undefined, mcc: null, country: null };

describe('a blocklist of merchants', () => {
  const entries = ['Other Shop', 'SANDBOX SHOP GmbH'];

  test('names the entry that blocks', () => {
    const figures = { ...shop, entry: 'SANDBOX SHOP GmbH' };
    expect(byPolicy({ merchantBlocklist: entries }, asked())).toEqual(
      deny('merchant_blocklist', 'merchant Sandbox Shop is blocked by the entry SANDBOX SHOP GmbH', figures),
    );
    expect(byCard({ blockedMerchants: entries }, asked())).toEqual(
      deny(
        'card_merchant_blocklist',
        'merchant Sandbox Shop is blocked by the entry SANDBOX SHOP GmbH of this card',
        figures,
      ),
    );
  });

  test('lets others through, and does not ask who is not named', () => {
    const others = ['Other Shop'];
    expect(byPolicy({ merchantBlocklist: others }, asked())).toEqual(pass('merchant_blocklist', shop));
    expect(byCard({ blockedMerchants: others }, asked())).toEqual(pass('card_merchant_blocklist', shop));
    expect(byPolicy({ merchantBlocklist: others }, asked({ merchant: undefined }))).toEqual([]);
    expect(byPolicy({ merchantBlocklist: others }, asked({ merchant: { name: ' ' } }))).toEqual([]);
  });
});

describe('an allowlist of merchants', () => {
  const entries = ['Other Shop', 'sandbox-shop'];

  test('lets through what one of its entries names', () => {
    const figures = { ...shop, entries: 2 };
    expect(byPolicy({ merchantAllowlist: entries }, asked())).toEqual(pass('merchant_allowlist', figures));
    expect(byCard({ allowedMerchants: entries }, asked())).toEqual(pass('card_merchant_allowlist', figures));
  });

  test('refuses all others, with the number of its entries', () => {
    const others = ['Other Shop', 'Third Shop', 'Sandbox Shop 2'];
    expect(byPolicy({ merchantAllowlist: others }, asked())).toEqual(
      deny('merchant_allowlist', 'merchant Sandbox Shop is none of the 3 allowed merchants', { ...shop, entries: 3 }),
    );
    expect(byCard({ allowedMerchants: others }, asked())).toEqual(
      deny('card_merchant_allowlist', 'merchant Sandbox Shop is none of the 3 allowed merchants of this card', {
        ...shop,
        entries: 3,
      }),
    );
  });
});

describe('blocked categories', () => {
  test('are refused, by the controls of a card in other words', () => {
    const codes = ['7995', '5734'];
    expect(byPolicy({ blockedMccs: codes }, asked())).toEqual(
      deny('mcc_blocklist', 'merchant category 5734 is blocked', { mcc: '5734' }),
    );
    expect(byCard({ blockedMccs: codes }, asked())).toEqual(
      deny('card_mcc_blocklist', 'merchant category 5734 is blocked by the controls of this card', { mcc: '5734' }),
    );
  });

  test('let others through, and ask for no category', () => {
    expect(byPolicy({ blockedMccs: ['7995'] }, asked())).toEqual(pass('mcc_blocklist', { mcc: '5734' }));
    expect(byCard({ blockedMccs: ['7995'] }, asked())).toEqual(pass('card_mcc_blocklist', { mcc: '5734' }));
    expect(byPolicy({ blockedMccs: ['7995'] }, asked({ mcc: null }))).toEqual([]);
    expect(byPolicy({ blockedMccs: ['7995'] }, asked({ mcc: '' }))).toEqual([]);
  });
});

describe('allowed categories', () => {
  test('let through a code, or a group that holds it', () => {
    const mcc = { mcc: '5734' };
    expect(byPolicy({ allowedMccs: ['5942', '5734'] }, asked())).toEqual(pass('mcc_allowlist', mcc));
    expect(byCard({ allowedMccs: ['5942', '5734'] }, asked())).toEqual(pass('card_mcc_allowlist', mcc));
    expect(byPolicy({ mccCategories: ['lodging', 'gambling'] }, asked({ mcc: '7995' }))).toEqual(
      pass('mcc_allowlist', { mcc: '7995' }),
    );
  });

  test('refuse all others, and name groups and codes', () => {
    const figures = { mcc: '5734', allowed: 'lodging, 5942, 7995' };
    expect(byPolicy({ allowedMccs: ['5942', '7995'], mccCategories: ['lodging'] }, asked())).toEqual(
      deny('mcc_allowlist', 'merchant category 5734 is not among the allowed lodging, 5942, 7995', figures),
    );
    expect(byPolicy({ mccCategories: ['lodging'] }, asked())).toEqual(
      deny('mcc_allowlist', 'merchant category 5734 is not among the allowed lodging', {
        mcc: '5734',
        allowed: 'lodging',
      }),
    );
    expect(byCard({ allowedMccs: ['5942', '7995'] }, asked())).toEqual(
      deny('card_mcc_allowlist', 'merchant category 5734 is not among the allowed 5942, 7995 of this card', {
        mcc: '5734',
        allowed: '5942, 7995',
      }),
    );
  });
});

describe('countries', () => {
  test('that a card blocks are refused, whatever their letters, and others pass', () => {
    const figures = { country: 'de' };
    expect(byCard({ blockedCountries: ['FR', 'DE'] }, asked(figures))).toEqual(
      deny('card_country_blocklist', 'country de is blocked by the controls of this card', figures),
    );
    expect(byCard({ blockedCountries: ['FR'] }, asked())).toEqual(pass('card_country_blocklist', { country: 'DE' }));
    expect(byCard({ blockedCountries: ['FR'] }, asked({ country: null }))).toEqual([]);
  });

  test('that are allowed pass, whatever their letters, and others are refused', () => {
    const allowedCountries = ['FR', 'DE'];
    const figures = { country: 'de', allowed: 'FR, DE' };
    expect(byPolicy({ allowedCountries }, asked({ country: 'de' }))).toEqual(pass('country', figures));
    expect(byCard({ allowedCountries }, asked({ country: 'de' }))).toEqual(pass('card_country_allowlist', figures));
    expect(byPolicy({ allowedCountries }, asked({ country: 'AT' }))).toEqual(
      deny('country', 'country AT is not among the allowed FR, DE', { country: 'AT', allowed: 'FR, DE' }),
    );
    expect(byCard({ allowedCountries }, asked({ country: 'AT' }))).toEqual(
      deny('card_country_allowlist', 'country AT is not among the allowed FR, DE of this card', {
        country: 'AT',
        allowed: 'FR, DE',
      }),
    );
  });
});

describe('what is not named', () => {
  const listed = {
    ofPolicy: { merchantAllowlist: ['a'], mccCategories: ['lodging'], allowedCountries: ['DE'] },
    ofCard: { allowedMerchants: ['a'], allowedMccs: ['5942'], allowedCountries: ['DE'] },
  };

  test('is refused to a charge, where a list allows some', () => {
    const what = ['merchant', 'merchant category', 'merchant country'];
    const refused = (rules: readonly string[], whose: string) =>
      rules.flatMap((rule, at) => deny(rule, `the ${whose} the ${what[at]}, and none was named`, {}));
    expect(byPolicy(listed.ofPolicy, asked(unnamed))).toEqual(
      refused(['merchant_allowlist', 'mcc_allowlist', 'country'], 'policy restricts'),
    );
    expect(byPolicy(listed.ofPolicy, asked({ ...unnamed, merchant: {} }))).toEqual(
      refused(['merchant_allowlist', 'mcc_allowlist', 'country'], 'policy restricts'),
    );
    expect(byCard(listed.ofCard, asked(unnamed))).toEqual(
      refused(
        ['card_merchant_allowlist', 'card_mcc_allowlist', 'card_country_allowlist'],
        'controls of this card restrict',
      ),
    );
  });

  test.each(['declare', 'access', 'transfer'] as const)('is no matter of a %s', (phase) => {
    expect([
      ...byPolicy(listed.ofPolicy, asked(unnamed, phase)),
      ...byCard(listed.ofCard, asked(unnamed, phase)),
    ]).toEqual([]);
  });
});

test('empty lists are no rules, whatever is asked', () => {
  for (const charge of [asked(), asked(unnamed)]) expect([...byPolicy({}, charge), ...byCard({}, charge)]).toEqual([]);
});
