/** What a checkout may become, which offers may be paid, and when its process acts. @module */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  checkoutStatuses,
  isFinalCheckout,
  isGivenUp,
  judgeOffer,
  moveCheckout,
  nextCheckoutStep,
  payGapMs,
} from '../../../src/domains/payments/checkout/checkout.rules.ts';
import { day, minute } from '../../../src/kernel/instant.ts';
import { cents } from '../../../src/kernel/money.ts';

const commands = ['offer', 'pay', 'refuse', 'fail'] as const;
const status = fc.constantFrom(...checkoutStatuses);

describe('moves', () => {
  test('a final checkout never moves', () => {
    fc.assert(
      fc.property(status, fc.constantFrom(...commands), (from, command) => {
        if (!isFinalCheckout(from)) return;
        expect(moveCheckout(from, command).outcome).not.toBe('moved');
      }),
    );
  });

  test('nothing is paid without a judged offer, and only paying can fail', () => {
    expect(moveCheckout('open', 'pay')).toEqual({ outcome: 'refused', why: 'cannot pay a checkout that is open' });
    expect(moveCheckout('open', 'fail').outcome).toBe('refused');
    expect(moveCheckout('offered', 'fail').outcome).toBe('refused');
    expect(moveCheckout('offered', 'pay')).toEqual({ outcome: 'moved', next: 'paying' });
    expect(moveCheckout('paying', 'pay')).toEqual({ outcome: 'moved', next: 'paying' });
  });
});

describe('offers', () => {
  const merchant = { id: 'm', name: 'Sandbox Shop', mcc: '5734', country: 'DE' };
  const intent = { id: 'int_aaaaaaaa', expectedAmountCents: 1_000, expectedMerchant: 'Sandbox Shop' };
  const judged = (amountCents: number, over: object = {}) =>
    judgeOffer(
      { amountCents: cents(amountCents), merchant },
      { intent, tolerancePercent: null, availableCents: 5_000, ...over },
    );

  test('what is accepted is within the ceiling, and the ceiling within the tolerance', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 3_000 }),
        fc.option(fc.integer({ min: 0, max: 100 })),
        (amountCents, tolerancePercent) => {
          const verdict = judged(amountCents, { tolerancePercent });
          const mostCents = 1_000 + Math.floor((1_000 * (tolerancePercent ?? 0)) / 100);
          expect(verdict.ok).toBe(amountCents <= mostCents);
          if (verdict.ok) expect(verdict.ceilingCents).toBe(mostCents);
        },
      ),
    );
  });

  test('dearer, another merchant, no money: refused with figures', () => {
    expect(judged(1_001)).toMatchObject({
      ok: false,
      code: 'offer_amount',
      reason: expect.stringContaining('expects 10.00, asked 10.01'),
    });
    expect(judged(1_000, { intent: { ...intent, expectedMerchant: 'Bakery' } })).toMatchObject({
      ok: false,
      code: 'offer_merchant',
    });
    expect(judged(1_000, { availableCents: 999 })).toMatchObject({
      ok: false,
      code: 'insufficient_funds',
      reason: expect.stringContaining('asks 10.00, available 9.99'),
    });
  });
});

describe('steps', () => {
  const now = new Date('2026-03-01T12:00:00.000Z');
  const inMs = (ms: number) => new Date(now.getTime() + ms);

  test('a final checkout is left alone; the others are offered, paid or waited for', () => {
    for (const one of checkoutStatuses) {
      const { kind } = nextCheckoutStep({ status: one, nextAttemptAt: inMs(5_000) }, now, day);
      expect(kind).toBe(
        isFinalCheckout(one) ? 'final' : ({ open: 'read_offer', offered: 'pay' }[one as string] ?? 'wait'),
      );
    }
    expect(nextCheckoutStep({ status: 'paying', nextAttemptAt: inMs(0) }, now, day)).toEqual({ kind: 'pay' });
    expect(nextCheckoutStep({ status: 'paying', nextAttemptAt: null }, now, day)).toEqual({ kind: 'pay' });
    expect(nextCheckoutStep({ status: 'paying', nextAttemptAt: inMs(3 * day) }, now, day)).toEqual({
      kind: 'wait',
      waitMs: day,
    });
  });

  test('gaps grow to an hour and stay there', () => {
    const gaps = Array.from({ length: 20 }, (_, index) => payGapMs(index));
    expect(gaps).toEqual([...gaps].sort((a, b) => a - b));
    expect([gaps[0], gaps.at(-1)]).toEqual([1_000, 60 * minute]);
  });

  test('silence is believed after the token and seven days', () => {
    const payingSince = now;
    expect(isGivenUp({ payingSince, now: inMs(7 * day) })).toBe(false);
    expect(isGivenUp({ payingSince, now: inMs(7 * day + 15 * minute) })).toBe(true);
  });
});
