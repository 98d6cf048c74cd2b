/** The reference of a top-up by bank transfer: a creditor reference by ISO 11649, which every bank passes on. Pure. @module */
import { assert } from '../../../kernel/assert.ts';
import { remainder97 } from '../../../kernel/iban.ts';
import type { Id } from '../../../kernel/ids.ts';

/** The standard's maximum, without `RF` and the check digits. */
const length = 21;

/** Computed from the end of the id, which holds all its random bits. An id itself has a character that banks refuse. */
export function creditorReference(fundingId: Id<'funding'>): string {
  const text = fundingId
    .slice(fundingId.indexOf('_') + 1)
    .toUpperCase()
    .slice(-length);
  assert(/^[0-9A-Z]{1,21}$/.test(text), `a creditor reference of ${fundingId}`);
  return `RF${String(98 - remainder97(`${text}RF00`)).padStart(2, '0')}${text}`;
}

export const isCreditorReference = (text: string): boolean =>
  /^RF\d{2}[0-9A-Z]{1,21}$/.test(text) && remainder97(text.slice(4) + text.slice(0, 4)) === 1;
