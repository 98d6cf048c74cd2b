/** Which charge a permission lets pass: the declined one again, compared exactly. @module */
import { expect, test } from '@jest/globals';
import {
  allowedOnceMinutes,
  allowOnceWithinMs,
  isAllowed,
} from '../../../src/domains/spending/intents/allow-once.rules.ts';
import { day } from '../../../src/kernel/instant.ts';

const merchant = { id: 'm_1', name: 'Sandbox Shop', mcc: '5734', country: 'DE' };
const permission = { transactionId: 'tx_1', merchant };
const charge = {
  ...{ amountCents: 500, merchant: { id: 'm_1', name: 'Sandbox Shop' }, mcc: '5734', country: 'DE' },
  kind: 'purchase' as const,
};

test('the same charge passes up to its amount', () => {
  expect(isAllowed(permission, 500, charge)).toBe(true);
  expect(isAllowed(permission, 501, charge)).toBe(true);
  expect(isAllowed(permission, 499, charge)).toBe(false);
});

test('an account check, and a charge by another merchant, do not pass', () => {
  expect(isAllowed(permission, 500, { ...charge, kind: 'verification' })).toBe(false);
  for (const over of [
    ...[{ mcc: '5735' }, { mcc: undefined }, { country: 'FR' }, { country: undefined }, { merchant: undefined }],
    ...[{ merchant: { id: 'm_2', name: 'Sandbox Shop' } }, { merchant: { name: 'Sandbox Shop' } }],
    ...[{ merchant: { id: 'm_1', name: 'Sandbox Shops' } }, { merchant: { id: 'm_1' } }],
  ])
    expect([over, isAllowed(permission, 500, { ...charge, ...over })]).toEqual([over, false]);
});

test('a name is the same in another spelling, and one of signs only as it is', () => {
  const named = (allowed: string, asked: string) =>
    isAllowed({ ...permission, merchant: { ...merchant, name: allowed } }, 500, {
      ...{ ...charge, merchant: { id: 'm_1', name: asked } },
    });
  expect([named('Sandbox Shop', 'SANDBOX-SHOP'), named('!!', '!!'), named('!!', '??')]).toEqual([true, true, false]);
});

test('a permission lasts for 15 minutes, for a decline of the last seven days', () => {
  expect([allowedOnceMinutes, allowOnceWithinMs]).toEqual([15, 7 * day]);
});
