/** A checkout as its run sees it, for workflows whose activities are played by the test. @module */
import type { CheckoutView } from '../../src/domains/payments/checkout/checkout.messages.ts';
import {
  type CheckoutDue,
  type CheckoutFact,
  type CheckoutStatus,
  checkoutFacts,
} from '../../src/domains/payments/checkout/checkout.rules.ts';
import type { RowState } from '../../src/kernel/row-state.ts';

/** `askedAgainInMs` counts from now, for a checkout that is being paid. */
export function aCheckoutRun(
  checkoutId: string,
  status: CheckoutStatus,
  { askedAgainInMs = 3_600_000, version = 1 }: { readonly askedAgainInMs?: number; readonly version?: number } = {},
): RowState<CheckoutView, CheckoutFact, CheckoutDue> {
  const now = new Date();
  const isPaying = status === 'paying';
  const nextAttemptAt = isPaying ? new Date(now.getTime() + askedAgainInMs) : null;
  return {
    version,
    ...checkoutFacts({ status, payAttempts: isPaying ? 1 : 0, nextAttemptAt }, now),
    view: {
      checkoutId,
      intentId: 'int_aaaaaaaa',
      agentId: 'ag_aaaaaaaa',
      status,
      amountCents: 1_250,
      transactionId: null,
      mppPaymentId: status === 'handed_over' ? 'mpay_aaaaaaaa' : null,
      code: null,
      nextAttemptAt: isPaying ? '2026-03-01T12:00:00.000Z' : null,
    },
  };
}
