/**
 * Books clearings, reversals and refunds that came before their authorization, in their order, in the authorization's
 * transaction. Those of another card are not booked, and stored for an operator.
 * @module
 */
import type { Tx } from '../../db/tx.ts';
import type { EarlyMessage } from '../../domains/payments/network/authorization-facts.ts';
import { clearingMessage, refundMessage, reversalMessage } from '../../domains/payments/network/network.contract.ts';
import { networkCauseId } from '../../domains/payments/network/network.routes.ts';
import { messageBooked, messageMisfits } from '../../domains/payments/network/network-message.service.ts';
import { sourceOf } from '../../domains/payments/transactions/booking.posting.service.ts';
import { bookClearing, bookReversal } from '../../domains/payments/transactions/booking.service.ts';
import { lockPayment } from '../../domains/payments/transactions/payment-lock.service.ts';
import { bookRefund } from '../../domains/payments/transactions/refund.service.ts';
import type { Cause } from '../../platform/cause.ts';
import { cardWasUsed } from '../cards/card-was-used.ts';

type Booking = {
  readonly adapter: string;
  readonly cause: Cause;
  readonly cardRef: string;
  readonly early: readonly EarlyMessage[];
  readonly transactionId: string;
};

export async function bookEarlyMessages(
  tx: Tx,
  { adapter, cause, cardRef, early, transactionId }: Booking,
): Promise<void> {
  for (const { id, kind, body, requestId, ...message } of early) {
    if (message.cardRef !== cardRef) {
      await messageMisfits(tx, { adapter, id, kind }, 'other_card');
      continue;
    }
    const row = await lockPayment(tx, transactionId);
    const causeId = networkCauseId(adapter, kind, id);
    const causedByIt = { ...cause, causeId, requestId: requestId ?? cause.requestId };
    if (kind === 'clearing') {
      const clearing = clearingMessage.parse(body);
      const { amountCents, final: isFinal } = clearing;
      const source = sourceOf(adapter, clearing);
      await bookClearing(tx, row, { source, amountCents, isFinal }, causedByIt, cardWasUsed);
    } else if (kind === 'refund') {
      const refund = refundMessage.parse(body);
      const { amountCents, merchant } = refund;
      const source = sourceOf(adapter, refund);
      const booked = await bookRefund(tx, { source, amountCents, merchant, of: row }, causedByIt);
      await messageBooked(tx, { adapter, id, kind }, booked.id);
      continue;
    } else {
      const reversal = reversalMessage.parse(body);
      const source = sourceOf(adapter, reversal);
      await bookReversal(tx, row, { source, amountCents: reversal.amountCents }, causedByIt, cardWasUsed);
    }
    await messageBooked(tx, { adapter, id, kind }, transactionId);
  }
}
