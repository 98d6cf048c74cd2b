/**
 * Books a clearing. The state of card, limits and owner does not matter, because the money has moved: it is taken from
 * the hold, then from available money, and the rest is owed. A clearing before its authorization waits, one of an unknown
 * card goes to the operator's suspense account, and one that contradicts its authorization is stored and not booked.
 * @module
 */
import type { Database } from '../../db/database.ts';
import type { Tx } from '../../db/tx.ts';
import type { BookingAnswer, ClearingMessage } from '../../domains/payments/network/network.contract.ts';
import {
  claimMessage,
  isCardKnown,
  keepMessage,
  keepMisfit,
  misfitRefusal,
} from '../../domains/payments/network/network-message.service.ts';
import type { Misfit, Received } from '../../domains/payments/network/received-message.ts';
import { sourceOf } from '../../domains/payments/transactions/booking.posting.service.ts';
import { bookClearing } from '../../domains/payments/transactions/booking.service.ts';
import { lockPayment } from '../../domains/payments/transactions/payment-lock.service.ts';
import { findByAuthorization } from '../../domains/payments/transactions/transaction.queries.ts';
import type { Logger } from '../../platform/log.ts';
import { cardWasUsed } from '../cards/card-was-used.ts';
import { bookToSuspense } from './book-to-suspense.ts';
import { bookingWaitMs, writeBooking } from './within-lock-wait.ts';

export type ClearDeps = {
  readonly database: Database;
  readonly log: Pick<Logger, 'error'>;
  /** How long a statement may wait for a lock. */
  readonly mostWaitMs?: number;
};

type Clearing = Received<ClearingMessage>;

export const clearAuthorization =
  ({ database, log, mostWaitMs = bookingWaitMs }: ClearDeps) =>
  async (received: Clearing): Promise<BookingAnswer> => {
    const cleared = await writeBooking(database, mostWaitMs, (tx) => clear(tx, received));
    const { adapter, message } = received;
    const { id: clearingId, authorizationId, amountCents } = message;
    if ('misfit' in cleared) {
      const { misfit } = cleared;
      log.error({ adapter, clearingId, authorizationId, reason: misfit }, 'a clearing is kept and not booked');
      throw misfitRefusal(message, misfit);
    }
    if (cleared.isSuspended) {
      log.error({ adapter, clearingId, amountCents }, 'clearing of an unknown card: booked to suspense');
    }
    return cleared.answer;
  };

type Booked = { readonly answer: BookingAnswer; readonly isSuspended: boolean };
type Cleared = Booked | { readonly misfit: Misfit };

async function clear(tx: Tx, received: Clearing): Promise<Cleared> {
  const { known, misfit } = await claimMessage(tx, 'clearing', received);
  if (known !== undefined) return { answer: known, isSuspended: false };
  if (misfit !== undefined) {
    await keepMisfit(tx, 'clearing', received, misfit);
    return { misfit };
  }
  const { adapter, message, cause } = received;
  const found = await findByAuthorization(tx, adapter, message.authorizationId);
  if (found === null) return withoutAuthorization(tx, received);
  const row = await lockPayment(tx, found.id);
  const answer = { transactionId: row.id };
  await keepMessage(tx, received, { kind: 'clearing', transactionId: row.id, answer });
  const source = sourceOf(adapter, message);
  await bookClearing(tx, row, { source, amountCents: message.amountCents, isFinal: message.final }, cause, cardWasUsed);
  return { answer, isSuspended: false };
}

async function withoutAuthorization(tx: Tx, received: Clearing): Promise<Booked> {
  const answer = { transactionId: null };
  if (await isCardKnown(tx, received.message.cardRef)) {
    await keepMessage(tx, received, { kind: 'clearing', transactionId: null, answer, isWaiting: true });
    return { answer, isSuspended: false };
  }
  return { answer, isSuspended: await bookToSuspense(tx, received, 'clearing') };
}
