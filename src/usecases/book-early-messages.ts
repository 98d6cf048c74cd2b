/**
 * Clearings and reversals that came before their authorization are booked the moment it is there, in the order in
 * which they came, in its transaction.
 * @module
 */
import type { Tx } from '../db/tx.ts';
import {
  bookClearing,
  bookReversal,
  type CloseUsedCard,
  clearingMessage,
  type EarlyMessage,
  lockPayment,
  messageBooked,
  reversalMessage,
} from '../domains/payments/index.ts';
import type { Cause } from '../platform/cause.ts';

type Booking = {
  readonly adapter: string;
  readonly cause: Cause;
  readonly early: readonly EarlyMessage[];
  readonly transactionId: string;
};

export async function bookEarlyMessages(
  tx: Tx,
  { adapter, cause, early, transactionId }: Booking,
  closeUsedCard: CloseUsedCard,
): Promise<void> {
  for (const { id, kind, body, requestId } of early) {
    const row = await lockPayment(tx, transactionId);
    const source = { adapter, id };
    const causedByIt = { ...cause, causeId: `network:${adapter}:${id}`, requestId: requestId ?? cause.requestId };
    if (kind === 'clearing') {
      const { amountCents, final: isFinal } = clearingMessage.parse(body);
      await bookClearing(tx, row, { source, amountCents, isFinal }, causedByIt, closeUsedCard);
    } else {
      await bookReversal(
        tx,
        row,
        { source, amountCents: reversalMessage.parse(body).amountCents },
        causedByIt,
        closeUsedCard,
      );
    }
    await messageBooked(tx, adapter, id, transactionId);
  }
}
