/**
 * Goal: the windows of a recurring intent never overlap, none is lost, and their due days are those of a calendar.
 * Method: properties over every cadence, width and anchor; examples for the ends of months.
 * @module
 */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  cadences,
  closedBecause,
  lastInstantOf,
  type Recurring,
  type Schedule,
  type TakenWindow,
  windowAt,
  windowNotOver,
  windowNumbered,
} from '../../../src/domains/spending/intents/windows/recurrence.rules.ts';
import { day, later } from '../../../src/kernel/instant.ts';

const defaults: Recurring = {
  cadence: 'monthly',
  windowStartDaysBefore: 3,
  windowEndDaysAfter: 2,
  amountTolerancePercent: 10,
  merchantMatch: true,
};
const recurring: fc.Arbitrary<Recurring> = fc.record({
  cadence: fc.constantFrom(...cadences),
  windowStartDaysBefore: fc.oneof(fc.integer({ min: 0, max: 8 }), fc.integer({ min: 0, max: 182 })),
  windowEndDaysAfter: fc.oneof(fc.integer({ min: 0, max: 8 }), fc.integer({ min: 0, max: 182 })),
  amountTolerancePercent: fc.constant(10),
  merchantMatch: fc.boolean(),
});
const anchorAt = fc.date({ min: new Date('2024-01-01'), max: new Date('2029-12-31'), noInvalidDate: true });
const schedule: fc.Arbitrary<Schedule> = fc
  .record({ recurring, anchorAt, livesMs: fc.integer({ min: 60_000, max: 5 * 366 * day }) })
  .map(({ livesMs, ...rest }) => {
    // Two months of daily windows, and a year of weekly ones, are as many as there is something to learn from.
    const mostMs = { daily: 60 * day, weekly: 370 * day, monthly: livesMs, yearly: livesMs }[rest.recurring.cadence];
    return { ...rest, endsAt: later(rest.anchorAt, Math.min(livesMs, mostMs)) };
  });

const allOf = (of: Schedule) => {
  const found = [];
  for (let number = 1; found.length < 2_000; number++) {
    const window = windowNumbered(of, number);
    if (window === undefined) break;
    found.push(window);
  }
  return found;
};
const dueDays = (of: Partial<Recurring>, anchor: string, count: number) =>
  allOf({ recurring: { ...defaults, ...of }, anchorAt: new Date(anchor), endsAt: new Date('2032-01-01') })
    .slice(0, count)
    .map(({ dueAt }) => dueAt.toISOString().slice(0, 10));

describe('due days', () => {
  test.each<[string, Partial<Recurring>, string, string[]]>([
    [
      'the 31st is the last day of shorter months',
      {},
      '2027-01-31T10:00:00Z',
      ['2027-01-31', '2027-02-28', '2027-03-31', '2027-04-30', '2027-05-31'],
    ],
    ['the 30th comes back after February', {}, '2028-01-30T10:00:00Z', ['2028-01-30', '2028-02-29', '2028-03-30']],
    ['months go over the year', {}, '2026-11-20T23:59:59Z', ['2026-11-20', '2026-12-20', '2027-01-20']],
    [
      '29 February is 28 February in other years',
      { cadence: 'yearly' },
      '2028-02-29T00:00:00Z',
      ['2028-02-29', '2029-02-28', '2030-02-28', '2031-02-28'],
    ],
    ['weeks', { cadence: 'weekly' }, '2026-12-28T12:00:00Z', ['2026-12-28', '2027-01-04', '2027-01-11']],
    ['days over a leap day', { cadence: 'daily' }, '2028-02-28T12:00:00Z', ['2028-02-28', '2028-02-29', '2028-03-01']],
  ])('%s', (_what, of, anchor, expected) => {
    expect(dueDays(of, anchor, expected.length)).toEqual(expected);
  });

  test('monthly, as declared without more: from three days before until two days after, whole days', () => {
    const of = { recurring: defaults, anchorAt: new Date('2026-11-20T09:30:00Z'), endsAt: new Date('2027-11-21') };
    const spans = allOf(of)
      .slice(0, 2)
      .map(({ fromAt, toAt }) => [fromAt.toISOString(), toAt.toISOString()]);
    expect(spans).toEqual([
      ['2026-11-20T09:30:00.000Z', '2026-11-23T00:00:00.000Z'],
      ['2026-12-17T00:00:00.000Z', '2026-12-23T00:00:00.000Z'],
    ]);
  });

  test('daily windows of six days each are one day each', () => {
    const of = {
      recurring: { ...defaults, cadence: 'daily' as const },
      anchorAt: new Date('2026-11-20'),
      endsAt: new Date('2026-12-20'),
    };
    expect(allOf(of)).toHaveLength(30);
    for (const { fromAt, toAt } of allOf(of)) expect(+toAt - +fromAt).toBe(day);
  });
});

describe('a week between two due days', () => {
  const weekly = (windowStartDaysBefore: number, windowEndDaysAfter: number) => ({
    recurring: { ...defaults, cadence: 'weekly' as const, windowStartDaysBefore, windowEndDaysAfter },
    anchorAt: new Date('2026-11-02T10:00:00Z'),
    endsAt: new Date('2027-01-01'),
  });
  test.each<[before: number, after: number, last: string, first: string]>([
    [1, 2, '11-04', '11-08'],
    [3, 3, '11-05', '11-06'],
    [3, 4, '11-05', '11-06'],
    [4, 3, '11-05', '11-06'],
    [4, 2, '11-04', '11-05'],
    [2, 4, '11-06', '11-07'],
    [2, 6, '11-06', '11-07'],
    [6, 6, '11-05', '11-06'],
    [0, 6, '11-08', '11-09'],
    [6, 0, '11-02', '11-03'],
  ])(
    'with %i days before and %i after, the last day of one is %s, and the first of the next %s',
    (before, after, last, first) => {
      const [one, next] = allOf(weekly(before, after));
      const shown = [later(one?.toAt ?? new Date(0), -1), next?.fromAt].map((at) => at?.toISOString().slice(5, 10));
      expect(shown).toEqual([last, first]);
    },
  );
});

test('a window that would begin at the end is none, and one that ends there is whole', () => {
  const until = (endsAt: string) =>
    allOf({ recurring: defaults, anchorAt: new Date('2026-11-20T09:30:00Z'), endsAt: new Date(endsAt) });
  expect(until('2026-12-17T00:00:00.000Z')).toHaveLength(1);
  expect(until('2026-12-17T00:00:00.001Z')).toHaveLength(2);
  expect(until('2026-12-23T00:00:00.000Z').at(-1)?.toAt).toEqual(new Date('2026-12-23'));
});

test('a schedule that ends as it begins has no window and no last instant', () => {
  const anchorAt = new Date('2026-11-20T09:30:00Z');
  for (const cadence of cadences) {
    const of = { recurring: { ...defaults, cadence }, anchorAt, endsAt: anchorAt };
    expect([lastInstantOf(of), windowNotOver(of, anchorAt), windowAt(of, anchorAt)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  }
});

test('the reason why it cannot be charged contains the figures', () => {
  const of = { recurring: defaults, anchorAt: new Date('2026-11-20T09:30:00Z'), endsAt: new Date('2027-01-01') };
  const why = (at: string, taken: TakenWindow[] = []) =>
    closedBecause({ id: 'int_1', schedule: of }, taken, new Date(at));
  expect(why('2026-11-22')).toBeUndefined();
  expect(why('2026-11-22', [{ number: 1, status: 'open', transactionId: null }])).toBeUndefined();
  expect(why('2026-11-22', [{ number: 1, status: 'missed', transactionId: null }])).toBe(
    'intent int_1 may be charged from 2026-11-20T09:30:00.000Z until 2026-11-23T00:00:00.000Z, which went by unpaid',
  );
  expect(why('2026-11-22', [{ number: 1, status: 'matched', transactionId: 'tx_1' }])).toBe(
    'intent int_1 is charged once from 2026-11-20T09:30:00.000Z until 2026-11-23T00:00:00.000Z, and transaction tx_1 was that charge',
  );
  expect(why('2026-12-18', [{ number: 1, status: 'missed', transactionId: null }])).toBeUndefined();
  expect(why('2026-12-01')).toBe(
    'intent int_1 may be charged next from 2026-12-17T00:00:00.000Z until 2026-12-23T00:00:00.000Z, asked at 2026-12-01T00:00:00.000Z',
  );
  expect(why('2026-12-31')).toBe('intent int_1 has no window left, asked at 2026-12-31T00:00:00.000Z');
});

test('windows follow each other without overlapping, hold their due day, and keep to the days declared', () => {
  fc.assert(
    fc.property(schedule, (of) => {
      const windows = allOf(of);
      const { windowStartDaysBefore, windowEndDaysAfter } = of.recurring;
      for (const [index, { number, fromAt, toAt, dueAt }] of windows.entries()) {
        expect(number).toBe(index + 1);
        expect(+fromAt).toBeLessThan(+toAt);
        expect(+fromAt).toBeGreaterThanOrEqual(+(windows[index - 1]?.toAt ?? of.anchorAt));
        expect(+fromAt).toBeGreaterThanOrEqual(+dueAt - windowStartDaysBefore * day);
        expect(+toAt).toBeLessThanOrEqual(Math.min(+dueAt + (windowEndDaysAfter + 1) * day, +of.endsAt));
        if (+dueAt + day <= +of.endsAt) expect(+toAt).toBeGreaterThanOrEqual(+dueAt + day);
        if (number > 1) expect(+fromAt).toBeLessThanOrEqual(+dueAt);
      }
    }),
  );
});

test('the last instant of a charge is that of the last window, and no later one can be charged', () => {
  fc.assert(
    fc.property(schedule, (of) => {
      const last = lastInstantOf(of);
      const end = allOf(of).at(-1)?.toAt;
      expect(last).toEqual(end === undefined ? undefined : later(end, -1));
      if (last !== undefined)
        expect([windowAt(of, last) !== undefined, windowAt(of, later(last, 1))]).toEqual([true, undefined]);
    }),
  );
});

test('the last window may begin in the year before its due day', () => {
  const yearly: Recurring = { ...defaults, cadence: 'yearly', windowStartDaysBefore: 30 };
  const of = {
    recurring: yearly,
    anchorAt: new Date('2026-01-05T09:00:00Z'),
    endsAt: new Date('2027-12-20T12:00:00Z'),
  };
  expect(windowAt(of, new Date('2027-12-19'))?.number).toBe(3);
  expect(lastInstantOf(of)).toEqual(new Date('2027-12-20T11:59:59.999Z'));
});

test('an instant lies in at most one window, and between two windows in none', () => {
  fc.assert(
    fc.property(schedule, fc.double({ min: -0.1, max: 1.1, noNaN: true }), (of, where) => {
      const at = later(of.anchorAt, Math.floor((+of.endsAt - +of.anchorAt) * where));
      const windows = allOf(of);
      const holding = windows.filter(({ fromAt, toAt }) => fromAt <= at && at < toAt);
      expect(holding.length).toBeLessThanOrEqual(1);
      expect(windowAt(of, at)).toEqual(holding[0]);
      expect(windowNotOver(of, at)).toEqual(windows.find(({ toAt }) => at < toAt));
    }),
  );
});

test('a day in reach of several windows belongs to the nearest one', () => {
  fc.assert(
    fc.property(schedule, fc.nat(), (of, pick) => {
      const windows = allOf(of);
      const [one, next] = [windows[pick % windows.length], windows[(pick % windows.length) + 1]];
      if (one === undefined || next === undefined || +of.endsAt < +next.dueAt + 366 * day) return;
      for (let at = later(one.dueAt, day); at < next.dueAt; at = later(at, day)) {
        const [after, before] = [+at - +one.dueAt, +next.dueAt - +at];
        const ones = after <= of.recurring.windowEndDaysAfter * day;
        const nexts = before <= of.recurring.windowStartDaysBefore * day;
        const wanted = ones && (!nexts || after <= before) ? one.number : nexts ? next.number : undefined;
        expect(windowAt(of, at)?.number).toBe(wanted);
      }
    }),
  );
});

test('the first window begins at the approval, so an approved intent may be charged at once', () => {
  fc.assert(
    fc.property(schedule, (of) => {
      expect(windowAt(of, of.anchorAt)).toMatchObject({ number: 1, fromAt: of.anchorAt });
      expect(windowAt(of, later(of.anchorAt, -1))).toBeUndefined();
      expect(windowAt(of, of.endsAt)).toBeUndefined();
    }),
  );
});
