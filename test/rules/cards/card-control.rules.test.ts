/** The rules of card controls: what may stand together, what counts as the same. @module */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  differingLists,
  noControls,
  whyNotControls,
  withoutRepeats,
} from '../../../src/domains/cards/card-controls/card-control.rules.ts';
import type { CardControls } from '../../../src/domains/spending/policies/policy.rules.ts';

const some = (values: readonly string[]) => fc.array(fc.constantFrom(...values), { maxLength: 4 });
const merchants = some(['Café', 'cafe', 'Sandbox Shop', 'sandbox-shop', '!!!', '???']);
const controls: fc.Arbitrary<CardControls> = fc.record({
  allowedMerchants: merchants,
  blockedMerchants: merchants,
  allowedCountries: some(['DE', 'FR', 'AT']),
  blockedCountries: some(['DE', 'FR', 'AT']),
  allowedMccs: some(['5734', '7995']),
  blockedMccs: some(['5734', '7995']),
});

test.each<[Partial<CardControls>, string]>([
  [{ allowedMerchants: ['Café Müller'], blockedMerchants: ['x', 'cafe muller'] }, 'merchant Café Müller'],
  [{ allowedCountries: ['FR', 'DE'], blockedCountries: ['DE'] }, 'country DE'],
  [{ allowedMccs: ['5734'], blockedMccs: ['5734'] }, 'merchant category 5734'],
])('%j is refused by the value', (lists, value) => {
  expect(whyNotControls({ ...noControls, ...lists })).toBe(`${value} is both allowed and blocked`);
});

test('values that no letter or digit tells apart are compared as they are', () => {
  expect(whyNotControls({ ...noControls, allowedMerchants: ['!!!'], blockedMerchants: ['???'] })).toBeUndefined();
});

describe('repeats', () => {
  test('the first spelling stays, in its place', () => {
    const given = { ...noControls, blockedMerchants: ['b', 'Café', 'a', 'cafe', 'B'], allowedMccs: ['5734', '5734'] };
    expect(withoutRepeats(given)).toEqual({
      ...noControls,
      blockedMerchants: ['b', 'Café', 'a'],
      allowedMccs: ['5734'],
    });
  });

  test('taking them out twice is taking them out once, and changes no refusal', () => {
    fc.assert(
      fc.property(controls, (given) => {
        const once = withoutRepeats(given);
        expect(withoutRepeats(once)).toEqual(once);
        expect(whyNotControls(once) === undefined).toBe(whyNotControls(given) === undefined);
      }),
    );
  });
});

test('a card without controls allows and blocks nothing by itself', () => {
  expect(Object.values(noControls)).toEqual([[], [], [], [], [], []]);
});

test('the order of values is no difference; each list that differs is named', () => {
  const given = { ...noControls, allowedMccs: ['5734', '7995'], blockedCountries: ['DE'] };
  const turned = { ...given, allowedMccs: ['7995', '5734'] };
  expect([differingLists(given, turned), differingLists(turned, given)]).toEqual([[], []]);
  expect(differingLists(given, noControls)).toEqual(['blockedCountries', 'allowedMccs']);
});
