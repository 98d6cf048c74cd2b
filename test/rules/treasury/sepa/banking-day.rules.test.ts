/** Cut-off times in Berlin on days with and without a change of the clocks, and the days that follow from them. @module */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  batchDays,
  inBerlin,
  instantInBerlin,
  type LocalTime,
} from '../../../../src/domains/treasury/sepa/banking-day.rules.ts';
import { isBusinessDay } from '../../../../src/domains/treasury/sepa/target-calendar.rules.ts';
import { calendarDate } from '../../../../src/kernel/calendar-date.ts';

describe('the clock in Berlin', () => {
  test.each([
    ['winter', '2026-01-15', '15:00', '2026-01-15T14:00:00.000Z'],
    ['summer', '2026-07-15', '15:00', '2026-07-15T13:00:00.000Z'],
    ['the day on which summer time begins', '2026-03-29', '15:00', '2026-03-29T13:00:00.000Z'],
    ['before summer time begins', '2026-03-29', '01:59', '2026-03-29T00:59:00.000Z'],
    ['after the skipped hour', '2026-03-29', '03:00', '2026-03-29T01:00:00.000Z'],
    ['the day on which summer time ends', '2026-10-25', '15:00', '2026-10-25T14:00:00.000Z'],
    ['the repeated hour, its second time', '2026-10-25', '02:30', '2026-10-25T01:30:00.000Z'],
    ['midnight after summer time ended', '2026-10-26', '00:00', '2026-10-25T23:00:00.000Z'],
    ['midnight before summer time begins', '2026-03-29', '00:00', '2026-03-28T23:00:00.000Z'],
  ])('%s', (_what, date, time, instant) => {
    expect(instantInBerlin(calendarDate(date), time as LocalTime).toISOString()).toBe(instant);
  });

  test('the skipped hour is never shown', () => {
    expect(() => instantInBerlin(calendarDate('2026-03-29'), '02:30')).toThrow('never shows');
  });

  test.each(['24:00', '9:00', '09:60', '115:00', '09:000'])('%s is no time of the day', (time) => {
    expect(() => instantInBerlin(calendarDate('2026-03-29'), time as LocalTime)).toThrow('a time of the day');
  });

  test('what it shows leads back to the instant, but for the repeated hour', () => {
    const instants = fc
      .integer({ min: Date.UTC(2020, 0), max: Date.UTC(2040, 0) })
      .map((ms) => new Date(ms - (ms % 60_000)));
    fc.assert(
      fc.property(instants, (at) => {
        const { date, time } = inBerlin(at);
        const again = instantInBerlin(date, time).getTime();
        expect([0, 3_600_000]).toContain(again - at.getTime());
      }),
    );
  });
});

describe('a batch payment', () => {
  test.each([
    ['a minute before the cut-off', '2026-11-19T13:59:59Z', '2026-11-19', '2026-11-20'],
    ['at the cut-off', '2026-11-19T14:00:00Z', '2026-11-20', '2026-11-23'],
    ['on a Saturday', '2026-11-21T09:00:00Z', '2026-11-23', '2026-11-24'],
    ['after the cut-off before Easter', '2026-04-02T13:00:00Z', '2026-04-07', '2026-04-08'],
    ['in time before Easter', '2026-04-02T12:59:59Z', '2026-04-02', '2026-04-07'],
    ['on Good Friday', '2026-04-03T08:00:00Z', '2026-04-07', '2026-04-08'],
    ['at 17:59 in Berlin on 31 December', '2026-12-31T16:59:00Z', '2027-01-04', '2027-01-05'],
    ['after Christmas Eve’s cut-off', '2026-12-24T14:00:00Z', '2026-12-28', '2026-12-29'],
    ['on Sunday, while the clocks change', '2026-10-25T00:30:00Z', '2026-10-26', '2026-10-27'],
    ['on the Monday after, by winter time', '2026-10-26T13:59:00Z', '2026-10-26', '2026-10-27'],
    ['on the Friday before, by summer time', '2026-10-23T13:00:00Z', '2026-10-26', '2026-10-27'],
    ['after midnight in Berlin, before it in UTC', '2026-11-18T23:30:00Z', '2026-11-19', '2026-11-20'],
  ])('%s', (_what, at, executionDate, settlementDate) => {
    expect(batchDays(new Date(at))).toMatchObject({ executionDate, settlementDate });
  });

  test('of a bank that takes them until 18:00 is executed on 31 December at 17:59 in Berlin, and not a minute later', () => {
    const daysAt = (at: string) => batchDays(new Date(at), '18:00');
    expect(daysAt('2026-12-31T16:59:59Z')).toMatchObject({ executionDate: '2026-12-31', settlementDate: '2027-01-04' });
    expect(daysAt('2026-12-31T17:00:00Z')).toMatchObject({ executionDate: '2027-01-04', settlementDate: '2027-01-05' });
  });

  test('a return is in time on the third business day after settlement, until midnight in Berlin', () => {
    const { settlementDate, returnWindowEndsAt } = batchDays(new Date('2026-10-20T08:00:00Z'));
    expect([settlementDate, returnWindowEndsAt.toISOString()]).toEqual(['2026-10-21', '2026-10-26T23:00:00.000Z']);
  });

  test('at any instant: all days are business days in order, and the cut-off lies ahead', () => {
    const instants = fc.integer({ min: Date.UTC(2024, 0), max: Date.UTC(2034, 0) }).map((ms) => new Date(ms));
    const cutOffs = fc.integer({ min: 4 * 60, max: 23 * 60 }).map((minutes) => {
      const two = (value: number) => String(value).padStart(2, '0');
      return `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}` as LocalTime;
    });
    fc.assert(
      fc.property(instants, cutOffs, (at, cutOff) => {
        const days = batchDays(at, cutOff);
        expect([isBusinessDay(days.executionDate), isBusinessDay(days.settlementDate)]).toEqual([true, true]);
        expect(days.cutOffAt.getTime()).toBeGreaterThan(at.getTime());
        expect(inBerlin(days.cutOffAt)).toEqual({ date: days.executionDate, time: cutOff });
        expect(days.executionDate < days.settlementDate).toBe(true);
        expect(inBerlin(days.returnWindowEndsAt).date > days.settlementDate).toBe(true);
      }),
    );
  });
});
