/**
 * Gives back a part of a hold, or all of it, for the network. Never refused; money that is no longer held is not given
 * back again. A reversal before its authorization waits for it; one that contradicts it is stored and not booked.
 * @module
 */
import type { Database } from '../../db/database.ts';
import type { Tx } from '../../db/tx.ts';
import type { BookingAnswer, ReversalMessage } from '../../domains/payments/network/network.contract.ts';
import {
  claimMessage,
  isCardKnown,
  keepMessage,
  keepMisfit,
  misfitRefusal,
} from '../../domains/payments/network/network-message.service.ts';
import type { Misfit, Received } from '../../domains/payments/network/received-message.ts';
import { sourceOf } from '../../domains/payments/transactions/booking.posting.service.ts';
import { bookReversal } from '../../domains/payments/transactions/booking.service.ts';
import { lockPayment } from '../../domains/payments/transactions/payment-lock.service.ts';
import { findByAuthorization } from '../../domains/payments/transactions/transaction.queries.ts';
import type { Logger } from '../../platform/log.ts';
import { cardWasUsed } from '../cards/card-was-used.ts';
import { bookingWaitMs, writeBooking } from './within-lock-wait.ts';

export type ReverseDeps = {
  readonly database: Database;
  readonly log: Pick<Logger, 'error'>;
  /** How long a statement may wait for a lock. */
  readonly mostWaitMs?: number;
};

type Reversal = Received<ReversalMessage>;

export const reverseAuthorization =
  ({ database, log, mostWaitMs = bookingWaitMs }: ReverseDeps) =>
  async (received: Reversal): Promise<BookingAnswer> => {
    const reversed = await writeBooking(database, mostWaitMs, (tx) => reverse(tx, received));
    const { adapter, message } = received;
    const { id: reversalId, authorizationId } = message;
    if ('misfit' in reversed) {
      log.error({ adapter, reversalId, authorizationId, reason: reversed.misfit }, 'a reversal is kept and not booked');
      throw misfitRefusal(message, reversed.misfit);
    }
    if (reversed.isUnknownCard) {
      log.error({ adapter, reversalId, authorizationId }, 'the network reversed for an unknown card');
    }
    return reversed.answer;
  };

type Reversed = { readonly answer: BookingAnswer; readonly isUnknownCard?: boolean } | { readonly misfit: Misfit };

async function reverse(tx: Tx, received: Reversal): Promise<Reversed> {
  const { known, misfit } = await claimMessage(tx, 'reversal', received);
  if (known !== undefined) return { answer: known };
  if (misfit !== undefined) {
    await keepMisfit(tx, 'reversal', received, misfit);
    return { misfit };
  }
  const { adapter, message, cause } = received;
  const found = await findByAuthorization(tx, adapter, message.authorizationId);
  if (found === null) {
    const answer = { transactionId: null };
    const waiting = { kind: 'reversal', transactionId: null, answer, isWaiting: true } as const;
    // Of a card that is not known as well: an operator may find out whose it is, and it may be about to be known.
    const isUnknownCard = !(await isCardKnown(tx, message.cardRef));
    await keepMessage(tx, received, isUnknownCard ? { ...waiting, unsettled: 'unknown_card' } : waiting);
    return { answer, isUnknownCard };
  }
  const row = await lockPayment(tx, found.id);
  const answer = { transactionId: row.id };
  await keepMessage(tx, received, { kind: 'reversal', transactionId: row.id, answer });
  const source = sourceOf(adapter, message);
  await bookReversal(tx, row, { source, amountCents: message.amountCents }, cause, cardWasUsed);
  return { answer };
}
