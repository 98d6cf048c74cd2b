/** An intent as matching sees it: once, recurring, of a declined charge, and kept for a payment that has not ended. @module */
import { describe, expect, test } from '@jest/globals';
import {
  matchableIntent,
  scheduleOf,
  whyKeptForPayment,
} from '../../../src/domains/spending/intents/matchable-intent.rules.ts';
import type { Recurring } from '../../../src/domains/spending/intents/windows/recurrence.rules.ts';

const anchorAt = new Date('2026-11-20T00:00:00Z');
const expiresAt = new Date('2027-11-20T00:00:00Z');
const recurring: Recurring = {
  ...{ cadence: 'monthly', windowStartDaysBefore: 0, windowEndDaysAfter: 2, amountTolerancePercent: 10 },
  merchantMatch: true,
};
const once = { id: 'int_1', expectedAmountCents: 500, expiresAt };
const shop = { id: 'm_1', name: 'Shop', mcc: '5734', country: 'DE' };

test('an intent for one payment has its amount and its merchant, where it names one', () => {
  const plain = { id: 'int_1', expectedAmountCents: 500, expectedMerchant: null };
  for (const none of [null, undefined])
    expect(
      matchableIntent({ ...once, recurring: none, expectedMerchant: none, declinedCharge: none }, [], anchorAt),
    ).toStrictEqual(plain);
  expect(matchableIntent({ ...once, expectedMerchant: 'Shop' }, [], anchorAt)).toStrictEqual({
    ...{ ...plain, expectedMerchant: 'Shop' },
  });
});

test('an intent for a declined charge is for its category and its country', () => {
  expect(matchableIntent({ ...once, declinedCharge: { merchant: shop } }, [], anchorAt)).toMatchObject({
    ...{ expectedMcc: '5734', expectedCountry: 'DE' },
  });
});

test('a recurring intent has its own tolerance, and its merchant where it insists on it', () => {
  const planned = { ...once, expectedMerchant: 'Shop', recurring, anchorAt };
  expect(matchableIntent(planned, [], anchorAt)).toStrictEqual({
    ...{ id: 'int_1', expectedAmountCents: 500, expectedMerchant: 'Shop', tolerancePercent: 10, isRecurring: true },
    closedBecause: undefined,
  });
  const anywhere = { ...planned, recurring: { ...recurring, merchantMatch: false } };
  expect(matchableIntent(anywhere, [], anchorAt)).toMatchObject({ expectedMerchant: null });
});

test('a recurring intent is closed before a person approves it, and between its windows', () => {
  const unapproved = { ...once, recurring, anchorAt: null };
  expect(matchableIntent(unapproved, [], anchorAt)).toMatchObject({ closedBecause: 'intent int_1 is not approved' });
  const between = new Date('2026-12-01T00:00:00Z');
  expect(matchableIntent({ ...once, recurring, anchorAt }, [], between)).toMatchObject({
    closedBecause: expect.stringMatching(/^intent int_1 may be charged next from 2026-12-20/),
  });
});

test('a schedule is that of a recurring intent which a person has approved', () => {
  expect(scheduleOf({ recurring, anchorAt, expiresAt })).toStrictEqual({ recurring, anchorAt, endsAt: expiresAt });
  for (const none of [null, undefined]) {
    expect(scheduleOf({ recurring: none, anchorAt, expiresAt })).toBeUndefined();
    expect(scheduleOf({ recurring, anchorAt: none, expiresAt })).toBeUndefined();
  }
});

describe('while a payment for it has not ended', () => {
  const open = { ...once, openPaymentId: 'mpp_1', openPaymentAt: anchorAt };
  const why = 'intent int_1 is kept for payment mpp_1, which has not ended';
  const nextWindow = new Date('2026-12-21T00:00:00Z');

  test('an intent pays for no other charge', () => {
    expect(whyKeptForPayment(open, nextWindow)).toBe(why);
    for (const none of [null, undefined]) {
      expect(whyKeptForPayment({ ...open, openPaymentId: none }, anchorAt)).toBeUndefined();
      expect(whyKeptForPayment({ ...open, openPaymentAt: none }, anchorAt)).toBeUndefined();
    }
  });

  test('a recurring intent pays for no other charge of the same window, and for one of the next', () => {
    const planned = { ...open, recurring, anchorAt };
    expect(whyKeptForPayment(planned, new Date('2026-11-21T00:00:00Z'))).toBe(why);
    expect(whyKeptForPayment(planned, nextWindow)).toBeUndefined();
  });

  test('between two windows a recurring intent is kept by a payment that came between two as well', () => {
    const between = new Date('2026-12-01T00:00:00Z');
    const planned = { ...open, recurring, anchorAt, openPaymentAt: between };
    expect(whyKeptForPayment(planned, between)).toBe(why);
    expect(whyKeptForPayment(planned, nextWindow)).toBeUndefined();
    expect(whyKeptForPayment({ ...planned, openPaymentAt: nextWindow }, between)).toBeUndefined();
  });
});
