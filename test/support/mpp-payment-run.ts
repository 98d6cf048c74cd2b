/** A machine payment as its run sees it, for workflows whose activities are played by the test. @module */
import type { MppPaymentView } from '../../src/domains/payments/mpp-payments/mpp-payment.messages.ts';
import {
  type MppPaymentDue,
  type MppPaymentFact,
  type MppPaymentStatus,
  mppPaymentFacts,
} from '../../src/domains/payments/mpp-payments/mpp-payment.rules.ts';
import type { RowState } from '../../src/kernel/row-state.ts';

export function anMppPaymentRun(
  paymentId: string,
  status: MppPaymentStatus,
): RowState<MppPaymentView, MppPaymentFact, MppPaymentDue> {
  const now = new Date();
  const progress = { status, chargeOutcome: null, sendUntil: now, sentAt: now, presentedAt: now };
  return {
    version: 1,
    ...mppPaymentFacts(progress, { business: now, real: now }),
    view: {
      paymentId,
      intentId: 'int_aaaaaaaa',
      agentId: 'ag_aaaaaaaa',
      status,
      amountCents: 1_250,
      chargeOutcome: null,
      transactionId: null,
      merchantStatus: null,
      code: null,
      givenUpAt: '2026-03-08T12:05:00.000Z',
      isAnswered: false,
    },
  };
}
