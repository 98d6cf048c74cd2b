/**
 * Settles a machine payment whose outcome is unknown, by the word of an operator: paid, which completes its intent with
 * a transaction that the network's charge is linked to, or not paid. Posts nothing.
 * @module
 */
import type { Tx } from '../../db/tx.ts';
import type { MppPaymentRow } from '../../domains/payments/mpp-payments/mpp-payment.entity.ts';
import type { Resolution } from '../../domains/payments/mpp-payments/mpp-payment.messages.ts';
import { statusShown } from '../../domains/payments/mpp-payments/mpp-payment.outcome.rules.ts';
import { mppPaymentOf } from '../../domains/payments/mpp-payments/mpp-payment.queries.ts';
import { changeMppPayment, lockMppPaymentWithIntent } from '../../domains/payments/mpp-payments/mpp-payment.service.ts';
import { outcomeOf } from '../../domains/payments/mpp-payments/mpp-payment.state.ts';
import { lockSpending } from '../../domains/payments/transactions/payment-lock.service.ts';
import { lockIntent } from '../../domains/spending/intents/intent.lock.service.ts';
import { DomainError, notFound } from '../../kernel/errors.ts';
import type { Id } from '../../kernel/ids.ts';
import type { Cause } from '../../platform/cause.ts';
import { hasMoved } from '../../platform/transitions.ts';
import { completePaidIntent } from './complete-paid-intent.ts';

export type ResolveOrder = {
  readonly paymentId: string;
  /** Given by a caller; a signal names none. */
  readonly ownerId?: string;
  readonly outcome: Resolution;
  /** For the transaction, where one is written. */
  readonly transactionId: Id<'transaction'>;
  readonly reason?: string | undefined;
  /** The workflow's own step needs no wake. */
  readonly isOwnStep?: boolean;
};

/** A repeat by the same cause finds what the first one did. `real` is real time; `cause.at` is business time. */
export async function resolveMppPayment(
  tx: Tx,
  order: ResolveOrder,
  cause: Cause,
  real: Date,
): Promise<Readonly<MppPaymentRow>> {
  const { paymentId, ownerId, outcome, reason } = order;
  const found = await mppPaymentOf(tx, paymentId);
  if (ownerId !== undefined && found.ownerId !== ownerId) throw notFound('mpp payment', paymentId);
  await lockSpending(tx, found.agentId); // From here on nothing of this agent's payments moves.
  const row = await lockMppPaymentWithIntent(tx, found);
  const intent = await lockIntent(tx, found.intentId);
  if (await hasMoved(tx, 'mpp_payment', paymentId, cause.causeId)) return row;
  refuseSettled(row);
  const options = {
    real,
    event: 'mpp.payment.resolved',
    ...(order.isOwnStep === true ? {} : { wakes: true as const }),
    ...(reason === undefined ? {} : { note: reason }),
  } as const;
  if (outcome === 'not-paid') {
    const change = { outcomeCode: 'resolved_not_paid', outcomeReason: 'an operator found that it was not paid' };
    return changeMppPayment(tx, row, 'giveUp', change, cause, options);
  }
  const { amountCents = null, credentialId } = row;
  const paid = { id: order.transactionId, credentialId, amountCents };
  const transactionId = await completePaidIntent(tx, intent, paid, cause);
  const change = {
    ...({ chargeOutcome: 'approved', chargeSource: 'operator', transactionId } as const),
    ...{ outcomeCode: null, outcomeReason: null },
  };
  return changeMppPayment(tx, row, 'pay', change, cause, options);
}

function refuseSettled(row: MppPaymentRow): void {
  const status = statusShown(outcomeOf(row));
  if (status === 'accepted' || status === 'unknown') return;
  throw new DomainError(
    'invalid_state',
    `payment ${row.id} is ${status}; only an accepted or unknown one can be resolved`,
  );
}
