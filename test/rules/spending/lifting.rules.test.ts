/** Which rules an owner lifts for one charge, each by its name, and how a finding reads then. @module */
import { expect, test } from '@jest/globals';
import { lifted, mayBeAllowedOnce } from '../../../src/domains/spending/policies/lifting.rules.ts';

const liftable = [
  ...['merchant_blocklist', 'merchant_allowlist', 'first_merchant', 'mcc_blocklist', 'mcc_allowlist', 'country'],
  ...['card_merchant_blocklist', 'card_merchant_allowlist', 'card_mcc_blocklist', 'card_mcc_allowlist'],
  ...['card_country_blocklist', 'card_country_allowlist', 'active_hours', 'cooldown', 'usage_count'],
  ...['max_transaction', 'daily_limit', 'monthly_limit'],
  ...['card_max_transaction', 'card_daily_limit', 'card_monthly_limit'],
];
/** The permission is an intent that a person has approved. */
const satisfied = ['intent_required', 'require_intent', 'auto_approve_limit'];
const others = [
  'agent_status',
  'card_status',
  'no_policy',
  'policy_expiry',
  'attestation',
  'insufficient_funds',
  'single_use',
  '',
];

test.each(liftable)('an owner lifts the rule %s', (rule) => {
  expect([mayBeAllowedOnce(rule, 'deny'), mayBeAllowedOnce(rule, 'needs_approval')]).toEqual([true, true]);
  const finding = { rule, outcome: 'deny', reason: 'too much', figures: { limitCents: 5 } } as const;
  expect(lifted(finding, { allowedOnceOf: 'tx_1' })).toEqual({
    ...{ rule, outcome: 'lifted', reason: 'too much', figures: { limitCents: 5, allowedOnceOf: 'tx_1' } },
  });
  expect(lifted(finding, {})).toBe(finding);
  const passing = { ...finding, outcome: 'pass' } as const;
  expect(lifted(passing, { allowedOnceOf: 'tx_1' })).toBe(passing);
});

test.each([...satisfied, ...others])('an owner lifts nothing of the rule %j', (rule) => {
  expect(mayBeAllowedOnce(rule, 'deny')).toBe(satisfied.includes(rule));
  const finding = { rule, outcome: 'deny', reason: 'no', figures: {} } as const;
  expect(lifted(finding, { allowedOnceOf: 'tx_1' })).toBe(finding);
});

test('a permission helps where risk asks for a person, and not where it refuses', () => {
  expect([mayBeAllowedOnce('risk', 'needs_approval'), mayBeAllowedOnce('risk', 'deny')]).toEqual([true, false]);
  expect(mayBeAllowedOnce('agent_status', 'needs_approval')).toBe(false);
});
