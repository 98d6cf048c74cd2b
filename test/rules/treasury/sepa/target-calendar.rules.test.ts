/** The business days of the euro against an independent list, and Easter against published dates. @module */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  businessDayFrom,
  businessDaysAfter,
  closingDays,
  easterSunday,
  isBusinessDay,
} from '../../../../src/domains/treasury/sepa/target-calendar.rules.ts';
import { addDays, calendarDate, calendarDateOf } from '../../../../src/kernel/calendar-date.ts';
import { ecbClosingDays } from './ecb-closing-days.ts';

const years = Object.entries(ecbClosingDays);

test('the closing days are those of the independent list, for ten years', () => {
  expect(years.length).toBe(10);
  for (const [year, expected] of years) expect(closingDays(Number(year))).toEqual(expected);
});

test('a day of these years is a business day unless it is a weekend or on the list', () => {
  for (const [year, expected] of years) {
    let date = calendarDate(`${year}-01-01`);
    while (date.startsWith(year)) {
      const isWeekend = ['Sat', 'Sun'].includes(new Date(`${date}T12:00:00Z`).toUTCString().slice(0, 3));
      expect([date, isBusinessDay(date)]).toEqual([date, !isWeekend && !expected.includes(date)]);
      date = addDays(date, 1);
    }
  }
});

/** The earliest and the latest Easter, and the two exceptions of the Gregorian tables: years with and without them. */
test.each([
  ['1734-04-25'],
  ['1791-04-24'],
  ['1818-03-22'],
  ['1943-04-25'],
  ['1954-04-18'],
  ['1981-04-19'],
  ['2000-04-23'],
  ['2008-03-23'],
  ['2019-04-21'],
  ['2038-04-25'],
  ['2049-04-18'],
  ['2285-03-22'],
])('Easter is on %s', (date) => {
  expect(easterSunday(Number(date.slice(0, 4)))).toBe(date);
});

describe('counting business days', () => {
  const dates = fc.integer({ min: 0, max: 20_000 }).map((days) => addDays(calendarDate('2020-01-01'), days));
  const counts = fc.integer({ min: 1, max: 20 });

  test('a result is a business day, and exactly the counted ones lie before it', () => {
    fc.assert(
      fc.property(dates, counts, (date, count) => {
        const last = businessDaysAfter(date, count);
        let passed = 0;
        for (let each = addDays(date, 1); each <= last; each = addDays(each, 1)) if (isBusinessDay(each)) passed++;
        expect([isBusinessDay(last), passed]).toEqual([true, count]);
        expect(isBusinessDay(businessDayFrom(date))).toBe(true);
      }),
    );
  });

  test.each([
    ['over Easter', '2026-04-02', 1, '2026-04-07'],
    ['over Christmas', '2026-12-24', 1, '2026-12-28'],
    ['over the year', '2026-12-31', 1, '2027-01-04'],
    ['over 1 May', '2026-04-30', 3, '2026-05-06'],
    ['from a Sunday', '2026-11-22', 1, '2026-11-23'],
  ])('%s', (_what, from, count, to) => {
    expect(businessDaysAfter(calendarDate(from), count)).toBe(to);
  });

  test.each([0, -1, 1.5])('%d business days are refused', (count) => {
    expect(() => businessDaysAfter(calendarDate('2026-11-20'), count)).toThrow('business days');
  });
});

test.each(['2026-02-29', '2026-13-01', '2026-1-1', '1582-12-31', '', '2026-11-21T00:00:00Z', '02026-11-21'])(
  '%j is no day',
  (text) => {
    expect(calendarDateOf(text)).toBeUndefined();
    expect(() => calendarDate(text)).toThrow('no day of the calendar');
  },
);
