/**
 * Compares an actual payment with its declaration. Pure; unlike for a charge, less than the declared amount is a
 * mismatch.
 * @module
 */
import { inWords, percentOf } from '../../../kernel/money.ts';
import { isSameMerchant } from '../policies/policy.rules.ts';

export type Expected = {
  readonly amountCents: number;
  readonly merchant: string | null;
  readonly tolerancePercent: number;
};
export type Actual = { readonly amountCents?: number | undefined; readonly merchant?: string | undefined };

/**
 * In words, with figures; empty when everything fits. A field that is missing in the request or in the declaration
 * fits.
 */
export function mismatchesOf(expected: Expected, actual: Actual): string[] {
  return [amountMismatch(expected, actual), merchantMismatch(expected, actual)].filter((found) => found !== undefined);
}

/** The code of a mismatch: the field that it begins with. */
export const mismatchedField = (mismatch: string): string => mismatch.slice(0, mismatch.indexOf(':'));

function amountMismatch(
  { amountCents: declared, tolerancePercent }: Expected,
  { amountCents: paid }: Actual,
): string | undefined {
  if (paid === undefined) return undefined;
  const allowedCents = percentOf(declared, tolerancePercent);
  if (Math.abs(paid - declared) <= allowedCents) return undefined;
  const around = allowedCents === 0 ? '' : ` (within ${inWords(allowedCents)} of it)`;
  return `amount: expected ${inWords(declared)}${around}, actual ${inWords(paid)}`;
}

function merchantMismatch({ merchant: declared }: Expected, { merchant: paid }: Actual): string | undefined {
  if (paid === undefined || declared === null || isSameMerchant(declared, { name: paid })) return undefined;
  return `merchant: expected ${declared}, actual ${paid}`;
}
