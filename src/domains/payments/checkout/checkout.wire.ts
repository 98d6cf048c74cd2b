/** A checkout that has ended, as the caller sees it. @module */
import type { Output } from '../../../http/route.ts';
import { eurosFromCents, zero } from '../../../kernel/money.ts';
import type { checkoutArea } from './checkout.contract.ts';
import type { CheckoutRow } from './checkout.entity.ts';
import type { CheckoutResult } from './checkout.rules.ts';

export type EndedCheckout = {
  readonly row: CheckoutRow;
  readonly result: Extract<CheckoutResult, { readonly kind: 'ended' }>;
};

export const checkoutWire = ({
  row,
  result: { status, reason },
}: EndedCheckout): Output<(typeof checkoutArea)['operations']['executeCheckout']> => ({
  success: status === 'paid',
  checkoutId: row.id,
  status,
  transactionId: row.transactionId ?? null,
  intentId: row.intentId,
  amountEuros: eurosFromCents(row.amountCents ?? zero),
  targetUrl: row.targetUrl,
  cardId: row.cardId,
  reason,
});
