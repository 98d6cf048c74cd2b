/** What changed between two versions of a policy: exactly the fields that differ, each in words. @module */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { PolicyTerms } from '../../../src/domains/spending/policies/policy.rules.ts';
import { policyDifference, versionCursor } from '../../../src/domains/spending/policies/policy-version.rules.ts';
import { defaultTerms } from '../../../src/domains/spending/policies/preset.rules.ts';
import { policy as anyPolicy } from './spending.arbitraries.ts';

const before: PolicyTerms = { ...defaultTerms, name: 'Groceries' };

test.each<[change: Partial<PolicyTerms>, inWords: string]>([
  [{ maxTransactionCents: 1 }, 'the limit for one payment was set to 0.01 EUR; there was none'],
  [{ dailyLimitCents: 10_000 }, 'the limit for a day was set to 100.00 EUR; there was none'],
  [{ monthlyLimitCents: 100 }, 'the limit for a month was set to 1.00 EUR; there was none'],
  [{ autoApproveLimitCents: 100 }, 'the amount up to which no person is asked was set to 1.00 EUR; there was none'],
  [{ requireIntent: false }, 'an intent is required no longer'],
  [{ requireAttestation: true }, 'an attestation is required from now on'],
  [{ merchantAllowlist: ['A', 'B'] }, 'allowed merchants: A, B added'],
  [{ merchantBlocklist: ['A'] }, 'blocked merchants: A added'],
  [{ mccCategories: ['fuel'] }, 'allowed groups of merchant categories: fuel added'],
  [{ allowedMccs: ['5734'] }, 'allowed merchant categories: 5734 added'],
  [{ blockedMccs: ['7995'] }, 'blocked merchant categories: 7995 added'],
  [{ lockToFirstMerchant: true }, 'locked to the first merchant from now on'],
  [{ cooldownMinutes: 5 }, 'the least time between two payments was set to 5 min; there was none'],
  [{ attestationWindowMinutes: 5 }, 'the age that an attestation may have was set to 5 min; there was none'],
  [{ expiresAfterMinutes: 5 }, 'the time after which the policy expires was set to 5 min; there was none'],
  [{ expirationAction: 'close' }, 'what is done when the policy expires was changed from freeze to close'],
  [{ activeHoursStart: 8 }, 'the start of the active hours: 8:00 UTC, before open'],
  [{ activeHoursEnd: 18 }, 'the end of the active hours: 18:00 UTC, before open'],
  [{ maxUsageCount: 2 }, 'the number of payments with a card was set to 2 payments; there was none'],
  [{ amountTolerancePercent: 5 }, 'the tolerance above an intent was set to 5 %; there was none'],
  [
    { payeeMismatch: 'refuse' },
    'what is done with a transfer whose payee is not confirmed was changed from ask to refuse',
  ],
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
    ...words({ allowedCountries: ['DE', 'FR'] }, { allowedCountries: [] }),
    ...words({ activeHoursStart: 8 }, { activeHoursStart: null }),
  ]).toEqual([
    'the limit for a day was raised from 1.00 EUR to 1.01 EUR',
    'the limit for a day was lowered from 1.00 EUR to 0.99 EUR',
    'the limit for a day was removed; it was 1.00 EUR',
    'allowed countries: AT added, DE removed',
    'allowed countries: DE, FR removed; the list is empty now',
    'the start of the active hours: open, before 8:00 UTC',
  ]);
  expect(words({ allowedCountries: ['DE', 'FR'] }, { allowedCountries: ['FR', 'DE'] })).toEqual([]);
});

test('a version is named by its revision in a cursor', () => {
  expect(versionCursor.idOf(12)).toBe('revision_12');
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
