/** Figures, times and ages as the page of a subscription says them. Pure. @module */
import { type Html, html } from '../../../http/html.ts';
import { day, hour, minute, second } from '../../../kernel/instant.ts';

const thousands = new Intl.NumberFormat('en-GB');
export const inThousands = (value: number): string => thousands.format(value);

/** `48 ms`, `1.2 s` */
export const tookInWords = (ms: number): string =>
  ms < second ? `${inThousands(ms)} ms` : `${(ms / second).toFixed(ms < 10 * second ? 1 : 0).replace(/\.0$/, '')} s`;

export const counted = (value: number, one: string, many: string): string =>
  `${inThousands(value)} ${value === 1 ? one : many}`;

/** How long ago, in its largest unit. */
export function ageInWords(iso: string, now: string): string {
  const ms = Math.max(0, Date.parse(now) - Date.parse(iso));
  if (ms < minute) return 'just now';
  if (ms < hour) return `${Math.floor(ms / minute)} min ago`;
  return ms < day ? `${Math.floor(ms / hour)} h ago` : `${counted(Math.floor(ms / day), 'day', 'days')} ago`;
}

/** In UTC; the script of the page replaces it by the reader's local time in the same form. */
export const shortInstant = (iso: string, form: 'hour' | 'day'): Html =>
  html`<time datetime="${iso}" data-form="${form}">${form === 'hour' ? iso.slice(11, 16) : iso.slice(5, 16).replace('T', ' ')}</time>`;
