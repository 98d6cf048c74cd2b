/** What changed between two versions of a policy: exactly the fields that differ, each in words. @module */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { PolicyTerms } from '../../../src/domains/spending/policies/policy.rules.ts';
import { policyDifference } from '../../../src/domains/spending/policies/policy-version.rules.ts';
import { defaultTerms } from '../../../src/domains/spending/policies/preset.rules.ts';
import { policy as anyPolicy } from './spending.arbitraries.ts';

const before: PolicyTerms = { ...defaultTerms, name: 'Groceries' };

test.each<[change: Partial<PolicyTerms>, inWords: string]>([
  [{ dailyLimitCents: 10_000 }, 'the limit for a day was set to 100.00 EUR; there was none'],
  [{ requireIntent: false }, 'an intent is required no longer'],
  [{ requireAttestation: true }, 'an attestation is required from now on'],
  [{ merchantAllowlist: ['A', 'B'] }, 'allowed merchants: A, B added'],
  [{ activeHoursStart: 8 }, 'the start of the active hours: 8:00 UTC, before open'],
  [{ maxUsageCount: 1 }, 'the number of payments with a card was set to 1 payment; there was none'],
  [{ name: 'Food' }, 'the name was changed from Groceries to Food'],
])('%j', (change, inWords) => {
  const [only, ...others] = policyDifference(before, { ...before, ...change });
  expect([only?.inWords, others]).toEqual([inWords, []]);
});

test('a limit is raised, lowered and removed; entries of a list are added and removed', () => {
  const words = (a: Partial<PolicyTerms>, b: Partial<PolicyTerms>) =>
    policyDifference({ ...before, ...a }, { ...before, ...b }).map((one) => one.inWords);
  expect([
    ...words({ dailyLimitCents: 100 }, { dailyLimitCents: 101 }),
    ...words({ dailyLimitCents: 100 }, { dailyLimitCents: 99 }),
    ...words({ dailyLimitCents: 100 }, { dailyLimitCents: null }),
    ...words({ allowedCountries: ['DE', 'FR'] }, { allowedCountries: ['FR', 'AT'] }),
    ...words({ allowedCountries: ['DE'] }, { allowedCountries: [] }),
  ]).toEqual([
    'the limit for a day was raised from 1.00 EUR to 1.01 EUR',
    'the limit for a day was lowered from 1.00 EUR to 0.99 EUR',
    'the limit for a day was removed; it was 1.00 EUR',
    'allowed countries: AT added, DE removed',
    'allowed countries: DE removed; the list is empty now',
  ]);
  expect(words({ allowedCountries: ['DE', 'FR'] }, { allowedCountries: ['FR', 'DE'] })).toEqual([]);
});

test('between any two versions exactly the fields that differ are named, with both values', () => {
  fc.assert(
    fc.property(anyPolicy, anyPolicy, (one, other) => {
      const [a, b] = [one, other].map(({ id: _id, version: _version, updatedAt: _at, ...terms }) => terms);
      if (a === undefined || b === undefined) return;
      const changes = policyDifference(a, b);
      const repaired = { ...a, ...Object.fromEntries(changes.map(({ field, after }) => [field, after])) };
      expect(policyDifference(repaired, b)).toEqual([]);
      for (const { field, before: was, after, inWords } of changes) {
        expect([was, after]).toEqual([a[field], b[field]]);
        expect(inWords).not.toMatch(/undefined|NaN|null/);
      }
    }),
  );
});
