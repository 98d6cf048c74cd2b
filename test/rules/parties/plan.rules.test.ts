/** Plan ceilings and who may change a plan. @module */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  changedFields,
  isCardholderChange,
  seesPersonalData,
} from '../../../src/domains/parties/customers/customer.rules.ts';
import {
  firstPlan,
  mayChangePlan,
  planLimits,
  planNamed,
  plans,
  whyFull,
} from '../../../src/domains/parties/customers/plan.rules.ts';

const noun = fc.constantFrom('agents' as const, 'cards' as const);

test('adding one at a time ends exactly at the ceiling', () => {
  fc.assert(
    fc.property(fc.constantFrom('free' as const, 'starter' as const, 'business' as const), noun, (plan, what) => {
      let used = 0;
      while (whyFull(plan, what, used) === undefined) used++;
      expect(used).toBe(planLimits[plan][what]);
      expect(whyFull(plan, what, used)).toContain(String(used));
    }),
  );
});

test('enterprise has no ceiling', () => {
  fc.assert(fc.property(noun, fc.nat(), (what, used) => expect(whyFull('enterprise', what, used)).toBeUndefined()));
});

test('an owner above a lowered ceiling creates no further record', () => {
  expect(whyFull('free', 'agents', 7)).toMatch(/the free plan allows 1 agent and 7 exist/);
});

test('sandbox customers begin without ceilings and set any plan; live ones begin free and do not', () => {
  expect(firstPlan('sandbox')).toBe('enterprise');
  expect(firstPlan('live')).toBe('free');
  expect(mayChangePlan('sandbox', false)).toBe(true);
  expect(mayChangePlan('live', false)).toBe(false);
  expect(mayChangePlan('live', true)).toBe(true);
});

test('personal is the former name of starter', () => {
  expect([...plans, 'personal' as const].map(planNamed)).toEqual([...plans, 'starter']);
});

test('only fields that differ count as changed, and only name and address concern the cardholder', () => {
  const row = { email: 'a@example.org', firstName: null, plan: 'free' };
  expect(changedFields(row, { email: 'a@example.org', firstName: null, plan: undefined })).toEqual([]);
  expect(changedFields(row, { email: null, firstName: 'Ada' })).toEqual(['email', 'firstName']);
  expect(isCardholderChange(['email', 'plan'])).toBe(false);
  expect(isCardholderChange(['email', 'addressCity'])).toBe(true);
});

test('each plan has the ceilings that the documents name', () => {
  const figures = plans.map((plan) => Object.values(planLimits[plan]));
  expect(figures).toEqual([
    [1, 1, 1, 15_000, 10_000, 30],
    [5, 10, 3, 200_000, 100_000, 90],
    [10, 25, 10, 500_000, 500_000, 365],
    [null, null, null, null, null, 1_826],
  ]);
});

test('a full plan says how many it allows and how many there are', () => {
  expect(whyFull('free', 'cards', 1)).toBe('the free plan allows 1 card and 1 exist; close one or change the plan');
  expect(whyFull('starter', 'cards', 11)).toBe(
    'the starter plan allows 10 cards and 11 exist; close one or change the plan',
  );
});

test('each field of name and address concerns the cardholder, and only the owner sees personal data', () => {
  const fields = ['firstName', 'lastName', 'companyName', 'dateOfBirth'];
  const address = ['addressLine1', 'addressCity', 'addressPostcode', 'addressCountry'];
  for (const field of [...fields, ...address]) expect([field, isCardholderChange([field])]).toEqual([field, true]);
  expect([isCardholderChange([]), isCardholderChange(['plan', 'lastName'])]).toEqual([false, true]);
  expect(['key', 'agent', 'dashboard'].map(seesPersonalData)).toEqual([true, false, false]);
});
