/**
 * When a payment is executed, settled and can be returned, by the bank's cut-off time in Europe/Berlin and by the
 * business days of the euro. Pure: the instant is an argument.
 * @module
 */
import { assert } from '../../../kernel/assert.ts';
import { addDays, type CalendarDate, calendarDate } from '../../../kernel/calendar-date.ts';
import { minute } from '../../../kernel/instant.ts';
import { businessDayFrom, businessDaysAfter } from './target-calendar.rules.ts';

/** Of the day in Berlin, `HH:MM`. */
export type LocalTime = `${number}:${number}`;

/**
 * An order that the bank has by then is executed on the same business day. Each bank sets its own; a bank's cut-off is
 * never in the night hour that a change of the clocks repeats or skips.
 */
export const defaultCutOff: LocalTime = '15:00';

/** Days after settlement within which the bank of the payee returns what it cannot credit. */
const returnWithinBusinessDays = 3;

const formatter = new Intl.DateTimeFormat('en-CA', {
  timeZone: 'Europe/Berlin',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});

type LocalClock = { readonly date: CalendarDate; readonly time: LocalTime };

/** What calendar and clock in Berlin show. */
export function inBerlin(at: Date): LocalClock {
  const shown = partsIn(at);
  return {
    date: calendarDate(`${shown.year}-${shown.month}-${shown.day}`),
    time: `${shown.hour}:${shown.minute}` as LocalTime,
  };
}

/** The instant at which the clock in Berlin shows this time. A time that is shown twice is its second showing. */
export function instantInBerlin(date: CalendarDate, time: LocalTime): Date {
  assert(/^([01]\d|2[0-3]):[0-5]\d$/.test(time), `a time of the day: ${time}`);
  const asUtc = Date.parse(`${date}T${time}:00Z`);
  // Winter time is one hour and summer time two hours ahead of UTC: the first guess that shows the time is right.
  const instant = [60, 120].map((ahead) => new Date(asUtc - ahead * minute)).find((guess) => shows(guess, date, time));
  assert(instant !== undefined, `the clock in Berlin never shows ${date} ${time}`);
  return instant;
}

function shows(at: Date, date: CalendarDate, time: LocalTime): boolean {
  const shown = inBerlin(at);
  return shown.date === date && shown.time === time;
}

function partsIn(at: Date): Record<string, string> {
  return Object.fromEntries(formatter.formatToParts(at).map(({ type, value }) => [type, value]));
}

export type BatchDays = {
  /** The bank executes the order. */
  readonly executionDate: CalendarDate;
  /** The bank has to have the order before this instant. */
  readonly cutOffAt: Date;
  /** The bank of the payee has the money. */
  readonly settlementDate: CalendarDate;
  /** From this instant on no return in time can come; a late one is still booked. */
  readonly returnWindowEndsAt: Date;
};

/** Of an order that is given to the bank at `at`. An order at the cut-off itself is late. */
export function batchDays(at: Date, cutOff: LocalTime = defaultCutOff): BatchDays {
  const today = inBerlin(at).date;
  const first = businessDayFrom(today);
  const isInTime = at < instantInBerlin(first, cutOff);
  const executionDate = isInTime ? first : businessDaysAfter(first, 1);
  const settlementDate = businessDaysAfter(executionDate, 1);
  return {
    executionDate,
    cutOffAt: instantInBerlin(executionDate, cutOff),
    settlementDate,
    returnWindowEndsAt: returnWindowEnd(settlementDate),
  };
}

/** The end of the last day on which a return is in time. */
export const returnWindowEnd = (settlementDate: CalendarDate): Date =>
  instantInBerlin(addDays(businessDaysAfter(settlementDate, returnWithinBusinessDays), 1), '00:00');
