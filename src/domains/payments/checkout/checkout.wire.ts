/** A checkout that has ended, as the caller sees it. @module */
import type { Output } from '../../../http/route.ts';
import { eurosFromCents, zero } from '../../../kernel/money.ts';
import type { MppPaymentRow } from '../mpp-payments/mpp-payment.entity.ts';
import { outcomeOf } from '../mpp-payments/mpp-payment.state.ts';
import type { checkoutArea } from './checkout.contract.ts';
import type { CheckoutRow } from './checkout.entity.ts';
import { answeredStatus, type CheckoutResult } from './checkout.rules.ts';

export type EndedCheckout =
  | {
      readonly row: CheckoutRow;
      readonly result: Extract<CheckoutResult, { readonly kind: 'ended' }>;
      readonly payment: null;
    }
  /** Passed on: the payment has an answer for its caller. */
  | { readonly row: CheckoutRow; readonly payment: Readonly<MppPaymentRow> };

type Executed = Output<(typeof checkoutArea)['operations']['executeCheckout']>;

export const checkoutWire = (ended: EndedCheckout): Executed => ({
  checkoutId: ended.row.id,
  intentId: ended.row.intentId,
  targetUrl: ended.row.targetUrl,
  cardId: ended.row.cardId,
  ...(ended.payment === null ? atShop(ended) : atMerchant(ended.payment)),
});

type Outcome = Pick<Executed, 'success' | 'status' | 'transactionId' | 'amountEuros' | 'reason' | 'paymentId'>;

const atShop = ({ row, result: { status, reason } }: Extract<EndedCheckout, { readonly payment: null }>): Outcome => ({
  success: status === 'paid',
  status,
  transactionId: row.transactionId ?? null,
  amountEuros: eurosFromCents(row.amountCents ?? zero),
  reason,
  paymentId: null,
});

function atMerchant(payment: Readonly<MppPaymentRow>): Outcome {
  const status = answeredStatus(outcomeOf(payment));
  return {
    success: status !== 'declined',
    status,
    transactionId: payment.transactionId ?? null,
    amountEuros: eurosFromCents(payment.amountCents ?? zero),
    reason: payment.outcomeReason ?? null,
    paymentId: payment.id,
  };
}
