/**
 * Finds whose money an assigned message moves that belonged to no payment: the payment of its authorization, where there
 * is one by now, or else the holder of its card or of the card that the operator names. A clearing opens a payment.
 * @module
 */
import type { Tx } from '../../db/tx.ts';
import { type EarlyMessage, waitingMessages } from '../../domains/payments/network/authorization-facts.ts';
import { clearingMessage } from '../../domains/payments/network/network.contract.ts';
import type { UnsettledMessage } from '../../domains/payments/network/unbooked-message.service.ts';
import { lockForEarly } from '../../domains/payments/transactions/booking.posting.service.ts';
import { lockPayment } from '../../domains/payments/transactions/payment-lock.service.ts';
import type { CardHolder } from '../../domains/payments/transactions/refund.service.ts';
import type { TransactionRow } from '../../domains/payments/transactions/transaction.entity.ts';
import { findByAuthorization } from '../../domains/payments/transactions/transaction.queries.ts';
import { DomainError } from '../../kernel/errors.ts';
import type { Cause } from '../../platform/cause.ts';
import { holderOf, holderOfCard } from './holder-of-card.ts';
import { openForcePost } from './open-force-post.ts';
import { lockedHolder } from './refund-card-payment.ts';

/** `early`: messages that waited for the payment, and are booked after this one. */
export type PaymentOfUnbooked = {
  readonly of: TransactionRow | CardHolder;
  readonly early: readonly EarlyMessage[];
};

export async function paymentOfUnbooked(
  tx: Tx,
  message: UnsettledMessage,
  cardId: string | undefined,
  cause: Cause,
): Promise<PaymentOfUnbooked> {
  const { adapter, kind, authorizationId, cardRef, body } = message;
  const found = authorizationId === null ? null : await findByAuthorization(tx, adapter, authorizationId);
  if (found !== null) {
    assertSame(message, found.cardId ?? null, cardId);
    return { of: await lockPayment(tx, found.id), early: [] };
  }
  const holder = await holderNamed(tx, message, cardId);
  if (kind === 'refund' || authorizationId === null) return { of: await lockedHolder(tx, holder), early: [] };
  const early = await waitingMessages(tx, adapter, authorizationId);
  const { merchant } = clearingMessage.parse(body);
  const opening = { ...cause, causeId: `${cause.causeId}:opened` };
  const row = await openForcePost(tx, { adapter, authorizationId, cardRef, holder, merchant }, opening);
  await lockForEarly(tx, row, early, cause);
  return { of: row, early };
}

/** Of the message's own card, where it is known by now. */
async function holderNamed(tx: Tx, message: UnsettledMessage, cardId: string | undefined): Promise<CardHolder> {
  const own = await holderOf.first(tx, { cardRef: message.cardRef });
  if (own !== null) {
    assertSame(message, own.cardId, cardId);
    return own;
  }
  const { kind, id, cardRef } = message;
  if (cardId === undefined)
    throw new DomainError('invalid_request', `the ${kind} ${id} is of ${cardRef}, which is not known: name a card`);
  const named = await holderOfCard.first(tx, { cardId });
  if (named === null) throw new DomainError('not_found', `no card ${cardId}`);
  return named;
}

function assertSame({ kind, id }: UnsettledMessage, known: string | null, named: string | undefined): void {
  if (named === undefined || named === known) return;
  throw new DomainError('invalid_request', `the ${kind} ${id} is of card ${known}, not of ${named}`);
}
