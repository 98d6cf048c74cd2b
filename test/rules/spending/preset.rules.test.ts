/** The built-in policies: what each allows, and what a policy has where its author says nothing. @module */
import { expect, test } from '@jest/globals';
import {
  defaultTerms,
  fallbackPreset,
  isPresetId,
  presetIds,
  presets,
  toggleableFields,
} from '../../../src/domains/spending/policies/preset.rules.ts';

const unlimited = {
  ...{ maxTransactionCents: null, dailyLimitCents: null, monthlyLimitCents: null, autoApproveLimitCents: null },
  ...{ merchantAllowlist: [], merchantBlocklist: [], mccCategories: [], allowedMccs: [], blockedMccs: [] },
  ...{ allowedCountries: [], lockToFirstMerchant: false, cooldownMinutes: null, requireIntent: true },
  ...{ requireAttestation: false, attestationWindowMinutes: null, expiresAfterMinutes: null },
  ...{ expirationAction: 'freeze', activeHoursStart: null, activeHoursEnd: null, maxUsageCount: null },
  ...{ amountTolerancePercent: null, payeeMismatch: 'ask' },
};
const limits = (maxTransactionCents: number, dailyLimitCents: number, monthlyLimitCents: number, auto: number) => ({
  ...{ maxTransactionCents, dailyLimitCents, monthlyLimitCents, autoApproveLimitCents: auto },
});

test('a policy whose author says nothing has no limit, asks for an intent, and freezes when it expires', () => {
  expect(defaultTerms).toEqual(unlimited);
});

test('there are five presets, and an agent gets the balanced one where nobody chose', () => {
  expect(presetIds).toEqual(['strict', 'balanced', 'open', 'subscriptions', 'one_time']);
  expect(Object.keys(presets)).toEqual(presetIds);
  expect(presetIds.filter(isPresetId)).toEqual(presetIds);
  expect([isPresetId('lavish'), isPresetId('')]).toEqual([false, false]);
  expect(fallbackPreset).toBe('balanced');
});

test.each([
  ['strict', 'Strict', { ...limits(2_500, 5_000, 30_000, 1_000), requireAttestation: true }],
  ['balanced', 'Balanced', limits(10_000, 25_000, 150_000, 5_000)],
  ['open', 'Open', limits(100_000, 250_000, 1_000_000, 50_000)],
  ['subscriptions', 'Subscriptions', { ...limits(10_000, 20_000, 50_000, 10_000), lockToFirstMerchant: true }],
  [
    ...(['one_time', 'One time'] as const),
    {
      ...limits(25_000, 25_000, 25_000, 10_000),
      ...{ maxUsageCount: 1, expiresAfterMinutes: 1_440, expirationAction: 'close' },
    },
  ],
] as const)('the preset %s is called %s and has its figures', (id, name, terms) => {
  expect(presets[id]).toMatchObject({ id, name, terms: { ...unlimited, ...terms, name } });
});

test('each preset says in a sentence what it is for', () => {
  expect(Object.values(presets).map(({ description }) => description)).toEqual([
    'Small amounts, and a signed attestation for each charge.',
    'Everyday purchases alone, larger ones with a person.',
    'High limits for trusted agents.',
    'One merchant, the first one it pays.',
    'One payment within a day; then the card closes.',
  ]);
});

test('three terms are switched on and off', () => {
  expect(toggleableFields).toEqual(['lockToFirstMerchant', 'requireIntent', 'requireAttestation']);
});
