/** Amounts, dates and reasons as the messages of ISO 20022 write them. @module */

import { type CalendarDate, calendarDateOf } from '../../kernel/calendar-date.ts';
import { type Cents, cents } from '../../kernel/money.ts';
import { RefusedFile } from './refused-file.ts';
import type { XmlNode } from './xml-records.ts';

/** Euros of at most two decimals. The schema allows five decimals and any currency. */
export function centsOf(amount: XmlNode): Cents {
  if (amount.attribute('Ccy') !== 'EUR') throw new RefusedFile('has an amount that is not in euros');
  const [, whole = '', fraction = ''] = /^\+?0*(\d*)(?:\.(\d*?)0*)?$/.exec(amount.text.trim()) ?? [];
  if (fraction.length > 2) throw new RefusedFile('has an amount with a part of a cent');
  const value = Number(`${whole}${fraction.padEnd(2, '0')}`);
  if (!Number.isSafeInteger(value)) throw new RefusedFile('has an amount that is too large');
  return cents(value);
}

/** The day as written, from a date or a date with time. */
export function dateOf(choice: XmlNode | undefined): CalendarDate | null {
  if (choice === undefined) return null;
  const written = choice.textAt('Dt') ?? choice.textAt('DtTm') ?? '';
  const date = calendarDateOf(written.slice(0, 10));
  if (date === undefined) throw new RefusedFile('has a day that Bursar cannot read');
  return date;
}
