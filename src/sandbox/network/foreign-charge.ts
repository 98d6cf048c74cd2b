/**
 * What a merchant abroad charges in its own currency by the messages after its authorization: at the rate of the
 * authorization, rounded to the smallest unit of the currency. A real network may use another rate each day.
 * @module
 */
import * as z from 'zod';
import type { AuthorizationOrder } from './authorization.ts';

export type ForeignCharge = { merchantAmount?: number | undefined; merchantCurrency?: string | undefined };

/** In an order for the network; Bursar takes at most 15 digits. */
export const foreignCharge = {
  merchantAmount: z
    .number()
    .refine(
      (amount) => /^\d{1,11}(\.\d{1,4})?$/.test(String(amount)),
      'must be an amount, not negative, of at most 11 digits and four decimals',
    )
    .optional(),
  merchantCurrency: z
    .string()
    .regex(/^[A-Z]{3}$/, 'must be an ISO 4217 code of three capital letters')
    .optional(),
};

/** Nothing where the shop charges in euros. */
export function chargedAbroad(
  { merchantAmount, merchantCurrency, amountCents: ofCents }: AuthorizationOrder,
  amountCents: number,
): ForeignCharge {
  if (merchantAmount === undefined || merchantCurrency === undefined || ofCents === 0) return {};
  const { maximumFractionDigits = 2 } = new Intl.NumberFormat('en', {
    style: 'currency',
    currency: merchantCurrency,
  }).resolvedOptions();
  return {
    merchantAmount: Number(((merchantAmount * amountCents) / ofCents).toFixed(maximumFractionDigits)),
    merchantCurrency,
  };
}
