/** Shapes that several of the sandbox's endpoints accept, and how its references are made. @module */
import { createHash, randomBytes } from 'node:crypto';
import * as z from 'zod';

/** The largest amount a message may carry: what nine digits of euros and two decimals can say. */
export const largestAmountCents = 99_999_999_999;

export const positiveCents = z.number().int().positive().max(largestAmountCents);
export const reference = z
  .string()
  .regex(/^[A-Za-z0-9_.:-]{1,128}$/, 'must have 1 to 128 characters of A-Z a-z 0-9 _ . : -');
export const instant = z.iso.datetime({ offset: true });

export const merchantFields = {
  name: z.string().trim().min(1).max(140),
  mcc: z.string().regex(/^\d{4}$/, 'must be four digits'),
  country: z.string().regex(/^[A-Z]{2}$/, 'must be an ISO 3166-1 country code of two capital letters'),
};
export type Merchant = { id: string; name: string; mcc: string; country: string };

export const newReference = (prefix: string): string => `${prefix}_${randomBytes(12).toString('hex')}`;
export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Undefined for what is not JSON: the schema that reads it says so. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
