/** How a split divides an amount: nothing is lost, nothing is made, and what cannot be divided is refused. @module */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  divide,
  intentMoveOf,
  largestTransferCents,
  mostLines,
  type TransferStatus,
  transferStatuses,
} from '../../../src/domains/treasury/transfers/transfer.rules.ts';
import { type Cents, cents, share } from '../../../src/kernel/money.ts';

const totals = fc.integer({ min: 1, max: largestTransferCents }).map(cents);

/** Basis points that sum to 100 percent, each at least 0.01 percent. */
const percentages = fc
  .uniqueArray(fc.integer({ min: 1, max: 9_999 }), { minLength: 1, maxLength: mostLines - 1 })
  .map((cuts) => [0, ...cuts.toSorted((a, b) => a - b), 10_000])
  .map((cuts) => cuts.slice(1).map((cut, index) => (cut - (cuts[index] ?? 0)) / 100));

const sum = (amounts: readonly number[]): number => amounts.reduce((total, amount) => total + amount, 0);
const byPercent = (percents: readonly number[], totalCents: Cents | undefined) =>
  divide(
    percents.map((percent) => ({ percent })),
    totalCents,
  );

describe('by percentages', () => {
  test('the lines sum to the total, each is rounded down, and the last one takes the rest', () => {
    fc.assert(
      fc.property(totals, percentages, (totalCents, percents) => {
        const division = byPercent(percents, totalCents);
        const exact = percents.map((percent) => (BigInt(totalCents) * BigInt(Math.round(percent * 100))) / 10_000n);
        if (!division.ok) {
          expect(division.why).toMatch(/^body\.splits\.\d+\.percent: is less than 0\.01 of /);
          expect(exact.some((amount) => amount === 0n)).toBe(true);
          return;
        }
        expect(sum(division.amountsCents)).toBe(totalCents);
        expect(division.totalCents).toBe(totalCents);
        expect(division.amountsCents.every((amount) => amount > 0)).toBe(true);
        expect(division.amountsCents.slice(0, -1).map(BigInt)).toEqual(exact.slice(0, -1));
        const rest = (division.amountsCents.at(-1) ?? 0) - Number(exact.at(-1));
        expect(rest).toBeGreaterThanOrEqual(0);
        expect(rest).toBeLessThan(percents.length);
      }),
    );
  });

  test('a third three times: the last line has the cent that is left', () => {
    expect(byPercent([33.33, 33.33, 33.34], cents(1_000))).toEqual({
      ok: true,
      totalCents: 1_000,
      amountsCents: [333, 333, 334],
    });
    expect(byPercent([50, 50], cents(101))).toMatchObject({ amountsCents: [50, 51] });
    expect(byPercent([99.99, 0.01], cents(2))).toMatchObject({ amountsCents: [1, 1] });
  });

  test('percentages that do not sum to 100, and a missing total, are refused', () => {
    fc.assert(
      fc.property(totals, percentages, fc.integer({ min: 1, max: 500 }), (totalCents, percents, more) => {
        const off = percents.map((percent, index) => (index === 0 ? percent + more / 100 : percent));
        expect(byPercent(off, totalCents)).toMatchObject({ ok: false, why: expect.stringMatching(/not to 100$/) });
        expect(byPercent(percents, undefined)).toMatchObject({ ok: false, why: expect.stringMatching(/is missing/) });
      }),
    );
  });
});

describe('by amounts', () => {
  const amounts = fc.array(fc.integer({ min: 1, max: largestTransferCents / mostLines }).map(cents), {
    minLength: 2,
    maxLength: mostLines,
  });

  test('every line gets its amount, and a total must be the sum', () => {
    fc.assert(
      fc.property(amounts, fc.integer({ min: 1, max: 100 }), (amountsCents, more) => {
        const lines = amountsCents.map((amountCents) => ({ amountCents }));
        const total = cents(sum(amountsCents));
        expect(divide(lines, undefined)).toEqual({ ok: true, totalCents: total, amountsCents });
        expect(divide(lines, total)).toEqual({ ok: true, totalCents: total, amountsCents });
        expect(divide(lines, cents(total + more))).toMatchObject({ ok: false, why: expect.stringMatching(/sum to/) });
      }),
    );
  });

  test('the limit in all is allowed, and more is refused', () => {
    const half = { amountCents: cents(largestTransferCents / 2) };
    expect(divide([half, half], undefined)).toMatchObject({ ok: true, totalCents: largestTransferCents });
    const lines = [{ amountCents: cents(largestTransferCents) }, { amountCents: cents(1) }];
    expect(divide(lines, undefined)).toEqual({
      ok: false,
      why: 'body.splits: the lines sum to 100000.01; 100000.00 is the limit',
    });
  });
});

test('amounts and percentages in one split, in one line or in none are refused', () => {
  const amountCents = cents(50);
  for (const lines of [
    [{ amountCents }, { percent: 50 }],
    [{ amountCents, percent: 50 }, { percent: 50 }],
    [
      { amountCents, percent: 50 },
      { amountCents, percent: 50 },
    ],
    [{}, { amountCents }],
    [{}, {}],
  ]) {
    expect(divide(lines, cents(100))).toMatchObject({ ok: false, why: expect.stringMatching(/^body\.splits: every/) });
  }
});

describe('the intent that transfers pay for', () => {
  const underWay: readonly TransferStatus[] = ['pending_approval', 'pending', 'submitted'];
  const spent: readonly TransferStatus[] = ['completed', 'returned'];

  test.each(transferStatuses.map((status) => [status]))('and one transfer that is %s', (status) => {
    const ended = spent.includes(status) ? 'complete' : 'unmatch';
    expect(intentMoveOf([status])).toBe(underWay.includes(status) ? undefined : ended);
  });

  test('stays matched while one line of a split is under way', () => {
    for (const status of underWay) expect(intentMoveOf(['completed', status, 'failed'])).toBeUndefined();
  });

  test('is completed by one line whose money left, also where it came back', () => {
    for (const status of spent) expect(intentMoveOf(['failed', status, 'cancelled'])).toBe('complete');
    expect(intentMoveOf(['failed', 'cancelled'])).toBe('unmatch');
  });
});

test('a share is exact up to the largest amount that a request can carry', () => {
  const amounts = fc.integer({ min: 0, max: 99_999_999_999 });
  fc.assert(
    fc.property(amounts, fc.integer({ min: 0, max: 10_000 }), (amount, points) => {
      expect(BigInt(share(amount, points))).toBe((BigInt(amount) * BigInt(points)) / 10_000n);
    }),
  );
});
