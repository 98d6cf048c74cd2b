/**
 * What a merchant abroad charges in its own currency by the messages after its authorization: at the rate of the
 * authorization, rounded to the smallest unit of the currency. A real network may use another rate each day.
 * @module
 */
import * as z from 'zod';
import type { MerchantCharge } from '../../domains/payments/network/merchant-charge.rules.ts';

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

type Authorized = MerchantCharge & { readonly amountCents: number };

/** `part`: the cents that a message is about. Nothing where the shop charges in euros. */
export function chargedAbroad(
  { merchantAmount, merchantCurrency, amountCents: whole }: Authorized,
  part: number,
): MerchantCharge {
  if (merchantAmount === undefined || merchantCurrency === undefined || whole === 0) return {};
  const format = new Intl.NumberFormat('en', { style: 'currency', currency: merchantCurrency });
  const { maximumFractionDigits = 2 } = format.resolvedOptions();
  return { merchantAmount: Number(((merchantAmount * part) / whole).toFixed(maximumFractionDigits)), merchantCurrency };
}
