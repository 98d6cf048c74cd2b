/** Answers the checkout operations: ask the use case, shape the reply. No decision is made here. @module */
import type { Call } from '../../../http/caller.ts';
import type { Handlers } from '../../../http/route.ts';
import { DomainError, unavailable } from '../../../kernel/errors.ts';
import { eurosFromCents, zero } from '../../../kernel/money.ts';
import type { checkoutArea } from './checkout.contract.ts';
import type { CheckoutRow } from './checkout.entity.ts';
import { errorCodeOfRefusal } from './checkout.rules.ts';

export type CheckoutDeps = {
  /** The checkout as it stands when the time to answer is up. */
  readonly execute: (order: { intentId: string; targetUrl: string }, call: Call) => Promise<CheckoutRow>;
  readonly confirm: (order: { intentId: string }, call: Call) => Promise<{ intentId: string; transactionId: string }>;
};

export const checkoutHandlers = ({ execute, confirm }: CheckoutDeps): Handlers<typeof checkoutArea> => ({
  executeCheckout: async ({ body }, call) => {
    const row = await execute(body, call);
    if (row.status === 'refused') {
      throw new DomainError(errorCodeOfRefusal(row.outcomeCode ?? null), row.outcomeReason ?? 'nothing was held');
    }
    if (row.status !== 'paid' && row.status !== 'declined' && row.status !== 'failed') {
      throw unavailable(`the outcome of checkout ${row.id} is not known yet`);
    }
    return {
      success: row.status === 'paid',
      checkoutId: row.id,
      status: row.status,
      transactionId: row.transactionId ?? null,
      intentId: row.intentId,
      amountEuros: eurosFromCents(row.amountCents ?? zero),
      targetUrl: row.targetUrl,
      cardId: row.cardId,
      reason: row.status === 'paid' ? null : (row.outcomeReason ?? null),
    };
  },

  confirmCheckout: async ({ body }, call) => ({ status: 'completed', ...(await confirm(body, call)) }),
});
