/** A day of the calendar, without a time and without a zone. Pure. @module */
import { assert } from './assert.ts';
import { day } from './instant.ts';

declare const calendarDateBrand: unique symbol;
/** `2026-11-21`. Two of them compare as texts. */
export type CalendarDate = string & { readonly [calendarDateBrand]: true };

const form = /^[1-9]\d{3}-\d{2}-\d{2}$/;

/** A day that exists, of the years 1583 (the first whole year of the Gregorian calendar) to 9999; otherwise undefined. */
export function calendarDateOf(text: string): CalendarDate | undefined {
  const exists = form.test(text) && text >= '1583' && textOf(Date.parse(`${text}T00:00:00Z`)) === text;
  return exists ? (text as CalendarDate) : undefined;
}

export function calendarDate(text: string): CalendarDate {
  const date = calendarDateOf(text);
  assert(date !== undefined, `no day of the calendar: ${text}`);
  return date;
}

export const addDays = (date: CalendarDate, days: number): CalendarDate =>
  calendarDate(textOf(midnight(date) + days * day));

/** 0 is Sunday, 6 is Saturday. */
export const weekdayOf = (date: CalendarDate): number => new Date(midnight(date)).getUTCDay();

const midnight = (date: CalendarDate): number => Date.parse(`${date}T00:00:00Z`);
const textOf = (ms: number): string => (Number.isNaN(ms) ? '' : new Date(ms).toISOString().slice(0, 10));
