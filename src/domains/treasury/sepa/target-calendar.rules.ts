/**
 * The days on which the settlement system of the euro (T2, formerly TARGET2) is open: not on Saturdays and Sundays, and
 * not on six closing days. Pure; no table of years, because each closing day follows from a rule.
 * @module
 */
import { assert } from '../../../kernel/assert.ts';
import { addDays, type CalendarDate, calendarDate, weekdayOf } from '../../../kernel/calendar-date.ts';

/** In ascending order. */
export function closingDays(year: number): readonly CalendarDate[] {
  const easter = easterSunday(year);
  return [
    calendarDate(`${year}-01-01`),
    addDays(easter, -2),
    addDays(easter, 1),
    calendarDate(`${year}-05-01`),
    calendarDate(`${year}-12-25`),
    calendarDate(`${year}-12-26`),
  ];
}

export function isBusinessDay(date: CalendarDate): boolean {
  const weekday = weekdayOf(date);
  return weekday !== 0 && weekday !== 6 && !closingDays(Number(date.slice(0, 4))).includes(date);
}

/** The day itself when it is a business day. */
export function businessDayFrom(date: CalendarDate): CalendarDate {
  let candidate = date;
  while (!isBusinessDay(candidate)) candidate = addDays(candidate, 1);
  return candidate;
}

/** The business day `count` business days after `date`; `count` is at least 1. */
export function businessDaysAfter(date: CalendarDate, count: number): CalendarDate {
  assert(Number.isSafeInteger(count) && count >= 1, `${count} business days`);
  let last = date;
  for (let passed = 0; passed < count; passed++) last = businessDayFrom(addDays(last, 1));
  return last;
}

/** The Sunday after the full moon of spring, by the tables of the Gregorian calendar. */
export function easterSunday(year: number): CalendarDate {
  const goldenNumber = year % 19;
  const century = Math.floor(year / 100);
  const leapYearsOmitted = century - Math.floor(century / 4);
  const moonCorrection = Math.floor((8 * century + 13) / 25);
  const moonAge = (leapYearsOmitted - moonCorrection + 19 * goldenNumber + 15) % 30;
  // The moon of spring is never later than 18 April, and two years of one cycle never have the same one.
  const isTooLate = moonAge === 29 || (moonAge === 28 && goldenNumber > 10);
  const fullMoon = moonAge - (isTooLate ? 1 : 0); // Days after 21 March.
  const weekday = (year + Math.floor(year / 4) + fullMoon + 2 - leapYearsOmitted) % 7;
  return addDays(calendarDate(`${year}-03-21`), fullMoon + 7 - weekday);
}
