/** Which intent a charge belongs to. @module */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  matchIntent,
  maxChargeCentsFor,
  misfitsOf,
} from '../../../src/domains/spending/policies/intent-match.rules.ts';
import { intent as anyIntent, merchant as anyMerchant } from './spending.arbitraries.ts';

const shop = { id: 'sandbox-shop', name: 'Sandbox Shop' };
const intent = (id: string, expectedAmountCents: number, expectedMerchant: string | null = 'Sandbox Shop') => ({
  id,
  expectedAmountCents,
  expectedMerchant,
});

test('an amount at or below the intent fits, above it only within the tolerance', () => {
  const of1000 = [intent('int_a', 1000)];
  expect(matchIntent(of1000, { amountCents: 1000, merchant: shop }, null).outcome).toBe('matched');
  expect(matchIntent(of1000, { amountCents: 1, merchant: shop }, null).outcome).toBe('matched');
  expect(matchIntent(of1000, { amountCents: 1001, merchant: shop }, null).outcome).toBe('mismatched');
  expect(matchIntent(of1000, { amountCents: 1100, merchant: shop }, 10).outcome).toBe('matched');
  expect(matchIntent(of1000, { amountCents: 1101, merchant: shop }, 10).outcome).toBe('mismatched');
  expect(maxChargeCentsFor(intent('int_a', 99), 10)).toBe(108);
});

test('the surer merchant is preferred, then the nearer amount, then the first given', () => {
  const charge = { amountCents: 900, merchant: shop };
  expect(matchIntent([intent('int_a', 900, null), intent('int_b', 2000)], charge, 0)).toMatchObject({
    intent: { id: 'int_b' },
  });
  expect(matchIntent([intent('int_a', 2000), intent('int_b', 1000)], charge, 0)).toMatchObject({
    intent: { id: 'int_b' },
  });
  expect(matchIntent([intent('int_a', 1000), intent('int_b', 1000)], charge, 0)).toMatchObject({
    intent: { id: 'int_a' },
  });
});

test('a near miss names the intent and what does not fit', () => {
  expect(matchIntent([intent('int_a', 1000)], { amountCents: 1200, merchant: shop }, 0)).toEqual({
    outcome: 'mismatched',
    intent: intent('int_a', 1000),
    misfits: [{ field: 'amount', reason: 'intent int_a expects 10.00, asked 12.00' }],
    reason: 'intent int_a expects 10.00, asked 12.00',
  });
  const elsewhere = matchIntent([intent('int_a', 1000)], { amountCents: 800, merchant: { name: 'Casino Royal' } }, 5);
  expect(elsewhere).toMatchObject({
    outcome: 'mismatched',
    reason: 'intent int_a expects Sandbox Shop, asked by Casino Royal',
  });
  expect(matchIntent([intent('int_a', 100)], { amountCents: 800, merchant: { name: 'Casino Royal' } }, 0).outcome).toBe(
    'none',
  );
  expect(matchIntent([], { amountCents: 1 }, 0).outcome).toBe('none');
});

test('a matched intent has no misfit, and an open intent without a misfit is matched', () => {
  fc.assert(
    fc.property(
      fc.array(anyIntent, { maxLength: 4 }),
      fc.nat(600),
      fc.option(anyMerchant, { nil: undefined }),
      fc.option(fc.nat(50)),
      (intents, amountCents, merchant, tolerance) => {
        const charge = { amountCents, merchant };
        const match = matchIntent(intents, charge, tolerance);
        const fitting = intents.filter((one) => misfitsOf(one, charge, tolerance).length === 0);
        expect(match.outcome === 'matched').toBe(fitting.length > 0);
        if (match.outcome === 'matched') expect(fitting).toContain(match.intent);
        if (match.outcome === 'mismatched') expect(match.misfits.length).toBeGreaterThan(0);
        expect(match.reason).not.toBe('');
      },
    ),
    { numRuns: 500 },
  );
});
