/**
 * Books a refund of the network. The state of card, limits and owner does not matter, because the money has moved. A
 * refund before its authorization waits for it, a day at most; one of an unknown card goes to the operator's suspense
 * account, and one that contradicts its authorization is stored and not booked.
 * @module
 */
import type { Database } from '../../db/database.ts';
import { runSql } from '../../db/statement.ts';
import type { Tx } from '../../db/tx.ts';
import type { BookingAnswer, RefundMessage } from '../../domains/payments/network/network.contract.ts';
import {
  claimMessage,
  keepMessage,
  keepMisfit,
  misfitRefusal,
} from '../../domains/payments/network/network-message.service.ts';
import type { Misfit, Received } from '../../domains/payments/network/received-message.ts';
import { sourceOf } from '../../domains/payments/transactions/booking.posting.service.ts';
import { lockPayment, lockSpending } from '../../domains/payments/transactions/payment-lock.service.ts';
import { bookRefund, type CardHolder } from '../../domains/payments/transactions/refund.service.ts';
import type { TransactionRow } from '../../domains/payments/transactions/transaction.entity.ts';
import { findByAuthorization } from '../../domains/payments/transactions/transaction.queries.ts';
import type { Logger } from '../../platform/log.ts';
import { bookToSuspense } from './book-to-suspense.ts';
import { holderOf } from './holder-of-card.ts';
import { bookingWaitMs, writeBooking } from './within-lock-wait.ts';

export type RefundDeps = {
  readonly database: Database;
  readonly log: Pick<Logger, 'error'>;
  /** How long a statement may wait for a lock. */
  readonly mostWaitMs?: number;
};

type Refund = Received<RefundMessage>;

export const refundCardPayment =
  ({ database, log, mostWaitMs = bookingWaitMs }: RefundDeps) =>
  async (received: Refund): Promise<BookingAnswer> => {
    const refunded = await writeBooking(database, mostWaitMs, (tx) => refund(tx, received));
    const { adapter, message } = received;
    const { id: refundId, authorizationId, amountCents } = message;
    if ('misfit' in refunded) {
      const { misfit } = refunded;
      log.error({ adapter, refundId, authorizationId, reason: misfit }, 'a refund is kept and not booked');
      throw misfitRefusal(message, misfit);
    }
    if (refunded.isSuspended) {
      log.error({ adapter, refundId, amountCents }, 'refund of an unknown card: booked to suspense');
    }
    return refunded.answer;
  };

type Refunded = { readonly answer: BookingAnswer; readonly isSuspended: boolean } | { readonly misfit: Misfit };

async function refund(tx: Tx, received: Refund): Promise<Refunded> {
  const { known, misfit } = await claimMessage(tx, 'refund', received);
  if (known !== undefined) return { answer: known, isSuspended: false };
  if (misfit !== undefined) {
    await keepMisfit(tx, 'refund', received, misfit);
    return { misfit };
  }
  const { adapter, message } = received;
  const { authorizationId, cardRef } = message;
  const found = authorizationId === undefined ? null : await findByAuthorization(tx, adapter, authorizationId);
  if (found !== null) return book(tx, received, await lockPayment(tx, found.id));
  const holder = await holderOf.first(tx, { cardRef });
  const answer = { transactionId: null };
  if (holder === null) return { answer, isSuspended: await bookToSuspense(tx, received, 'refund') };
  if (authorizationId === undefined) return book(tx, received, await lockedHolder(tx, holder));
  await keepMessage(tx, received, { kind: 'refund', transactionId: null, answer, isWaiting: true });
  return { answer, isSuspended: false };
}

async function book(tx: Tx, received: Refund, of: TransactionRow | CardHolder): Promise<Refunded> {
  const { adapter, message, cause } = received;
  const { amountCents, merchant } = message;
  const row = await bookRefund(tx, { source: sourceOf(adapter, message), amountCents, merchant, of }, cause);
  const answer = { transactionId: row.id };
  await keepMessage(tx, received, { kind: 'refund', transactionId: row.id, answer });
  return { answer, isSuspended: false };
}

/** The agent stands still, so that it is known whether it is closed and keeps no budget. */
export async function lockedHolder(tx: Tx, holder: CardHolder): Promise<CardHolder> {
  await lockSpending(tx, holder.agentId);
  await runSql(tx, 'select 1 from agents where id = $1 for share', [holder.agentId]);
  return holder;
}
