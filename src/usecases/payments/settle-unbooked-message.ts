/**
 * An operator settles a message of the network that contradicts its authorization or names an unknown card: it is booked
 * on its payment, booked for the holder of a card, or dismissed. Once; the same again changes nothing. It is booked like
 * any such message, so money, intent and events follow in the same way.
 * @module
 */
import type { Database } from '../../db/database.ts';
import type { Tx } from '../../db/tx.ts';
import { clearingMessage, refundMessage, reversalMessage } from '../../domains/payments/network/network.contract.ts';
import { networkCauseId } from '../../domains/payments/network/network.routes.ts';
import { cardRefOfAuthorization } from '../../domains/payments/network/network-message.service.ts';
import {
  lockUnsettled,
  type MessageName,
  settleMessage,
  type UnsettledMessage,
} from '../../domains/payments/network/unbooked-message.service.ts';
import { sourceOf } from '../../domains/payments/transactions/booking.posting.service.ts';
import { bookClearing, bookReversal } from '../../domains/payments/transactions/booking.service.ts';
import { lockPayment } from '../../domains/payments/transactions/payment-lock.service.ts';
import { bookRefund, type CardHolder } from '../../domains/payments/transactions/refund.service.ts';
import { TransactionRow } from '../../domains/payments/transactions/transaction.entity.ts';
import { findByAuthorization } from '../../domains/payments/transactions/transaction.queries.ts';
import { recordAudit } from '../../events/record.ts';
import { assert } from '../../kernel/assert.ts';
import { DomainError } from '../../kernel/errors.ts';
import type { Cause } from '../../platform/cause.ts';
import { cardWasUsed } from '../cards/card-was-used.ts';
import { bookEarlyMessages } from './book-early-messages.ts';
import { leaveSuspense } from './book-to-suspense.ts';
import { paymentOfUnbooked } from './payment-of-unbooked.ts';

export type Assignment = {
  readonly message: MessageName;
  /** How the operator found out. */
  readonly reason: string;
  /** In EUR; only of a message in another currency, whose own amount says nothing. */
  readonly amountCents?: number | undefined;
  /** Only of a message whose own card is not known: whose holder it is booked for. */
  readonly cardId?: string | undefined;
};

/** `isNew` false: it was assigned before. `transactionId`: what it was booked on, or the refund that it became. */
export type Assigned = { readonly transactionId: string; readonly isNew: boolean };

export const assignMessage =
  ({ database }: { readonly database: Database }) =>
  (assignment: Assignment, cause: Cause): Promise<Assigned> =>
    database.write((tx) => assign(tx, assignment, cause));

async function assign(tx: Tx, assignment: Assignment, own: Cause): Promise<Assigned> {
  const message = await lockUnsettled(tx, assignment.message);
  const { reason } = assignment;
  const { adapter, kind, id, unbookedReason } = message;
  if (message.settledAs === 'dismissed') throw new DomainError('invalid_state', `the ${kind} ${id} was dismissed`);
  if (message.settledAs === 'assigned') {
    assert(message.transactionId !== null, 'what was assigned has its transaction');
    return { transactionId: message.transactionId, isNew: false };
  }
  const why = whyUnassignable(message);
  if (why !== undefined) throw new DomainError('invalid_state', `the ${kind} ${id} cannot be assigned: ${why}`);
  const amountCents = centsOf(message, assignment.amountCents);
  const cause: Cause = { ...own, causeId: `${networkCauseId(adapter, kind, id)}:assigned` };
  const booked =
    unbookedReason === 'unknown_card'
      ? await bookFromSuspense(tx, message, assignment.cardId, cause)
      : await bookMisfit(tx, message, { ...assignment, amountCents }, cause);
  await settleMessage(tx, message, { as: 'assigned', reason, transactionId: booked.id }, cause);
  const details = { kind, networkId: id, misfit: unbookedReason, amountCents: amountCents ?? null, reason };
  const { ownerId, agentId } = booked;
  await recordAudit(tx, cause, { action: 'network_message.assigned', ownerId, agentId, subjectId: booked.id, details });
  return { transactionId: booked.id, isNew: true };
}

/** Of what moved no money, so that nothing can be booked for anybody. */
function whyUnassignable({ kind, unbookedReason, authorizationId }: UnsettledMessage): string | undefined {
  if (kind === 'advice')
    return 'it says what the network approved for another card, so only the clearing will show whose money it was; dismiss it';
  if (kind !== 'reversal' || unbookedReason !== 'unknown_card') return undefined;
  return `nothing is held for ${authorizationId}; assign a clearing of it, which takes this along, or dismiss it`;
}

type Booked = Pick<TransactionRow, 'id' | 'ownerId' | 'agentId'>;

async function bookMisfit(
  tx: Tx,
  message: UnsettledMessage,
  { amountCents, cardId }: Pick<Assignment, 'amountCents' | 'cardId'>,
  cause: Cause,
): Promise<Booked> {
  const { adapter, kind, id, authorizationId, unbookedReason } = message;
  const found = authorizationId === null ? null : await findByAuthorization(tx, adapter, authorizationId);
  if (found !== null && cardId !== undefined)
    throw new DomainError('invalid_request', `the ${kind} ${id} does not wait for a card: name none`);
  if (unbookedReason === 'other_currency') await assertSameCard(tx, message);
  if (found !== null) return book(tx, message, { of: await lockPayment(tx, found.id), amountCents }, cause);
  if (kind !== 'reversal') return bookWithoutPayment(tx, message, { amountCents, cardId }, cause);
  const why = `no payment of its authorization ${authorizationId} is known, so there is nothing to give back`;
  throw new DomainError('invalid_state', `the ${kind} ${id} cannot be assigned: ${why}`);
}

/** For the holder of its card or, where that is unknown, of the card that is named. */
async function bookWithoutPayment(
  tx: Tx,
  message: UnsettledMessage,
  { amountCents, cardId }: Pick<Assignment, 'amountCents' | 'cardId'>,
  cause: Cause,
): Promise<Booked> {
  const { adapter, cardRef } = message;
  const { of, early } = await paymentOfUnbooked(tx, message, cardId, cause);
  const booked = await book(tx, message, { of, amountCents }, cause);
  await bookEarlyMessages(tx, { adapter, cause, cardRef, early, transactionId: booked.id });
  return booked;
}

async function bookFromSuspense(
  tx: Tx,
  message: UnsettledMessage,
  cardId: string | undefined,
  cause: Cause,
): Promise<Booked> {
  const suspended = suspendedOf(message);
  const booked = await bookWithoutPayment(tx, message, { amountCents: suspended.amountCents, cardId }, cause);
  await leaveSuspense(tx, suspended, 'assigned', cause);
  return booked;
}

/** Only what moved money is in suspense. */
function suspendedOf({ adapter, kind, id, body }: UnsettledMessage) {
  assert(kind === 'clearing' || kind === 'refund', 'only clearings and refunds move money of an unknown card');
  assert(typeof body.amountCents === 'number', 'clearings and refunds name their amount');
  return { adapter, kind, id, amountCents: body.amountCents };
}

/** It was kept because of its currency, so its card was not compared yet. */
async function assertSameCard(
  tx: Tx,
  { adapter, kind, id, authorizationId, cardRef }: UnsettledMessage,
): Promise<void> {
  const authorized = authorizationId === null ? undefined : await cardRefOfAuthorization(tx, adapter, authorizationId);
  if (authorized === undefined || authorized === cardRef) return;
  const why = `its card ${cardRef} is not that of authorization ${authorizationId}, ${authorized}`;
  throw new DomainError('invalid_state', `the ${kind} ${id} cannot be assigned: ${why}`);
}

/** Undefined: a reversal of all that is left. */
function centsOf(
  { kind, id, body, unbookedReason }: UnsettledMessage,
  amountCents: number | undefined,
): number | undefined {
  const isForeign = unbookedReason === 'other_currency';
  if (!isForeign && amountCents !== undefined)
    throw new DomainError('invalid_request', `the ${kind} ${id} is in EUR and names its amount: name none`);
  if (!isForeign) return typeof body.amountCents === 'number' ? body.amountCents : undefined;
  if (amountCents === undefined && (kind !== 'reversal' || body.amountCents !== undefined))
    throw new DomainError('invalid_request', `the ${kind} ${id} is in ${body.currency}: name its amount in euros`);
  if (amountCents === 0 && body.amountCents !== 0)
    throw new DomainError(
      'invalid_request',
      `the ${kind} ${id} moved ${body.currency}: its amount in euros is not 0.00`,
    );
  return amountCents;
}

type Booking = { readonly of: TransactionRow | CardHolder; readonly amountCents: number | undefined };

async function book(
  tx: Tx,
  { adapter, kind, body }: UnsettledMessage,
  { of, amountCents }: Booking,
  cause: Cause,
): Promise<Booked> {
  if (kind === 'refund') {
    const refund = refundMessage.parse(body);
    const { merchant } = refund;
    return bookRefund(tx, { source: sourceOf(adapter, refund), amountCents: amountCents ?? 0, merchant, of }, cause);
  }
  assert(of instanceof TransactionRow, 'clearings and reversals name their authorization');
  if (kind === 'clearing') {
    const clearing = clearingMessage.parse(body);
    const booked = { source: sourceOf(adapter, clearing), amountCents: amountCents ?? 0, isFinal: clearing.final };
    await bookClearing(tx, of, booked, cause, cardWasUsed);
  } else {
    const source = sourceOf(adapter, reversalMessage.parse(body));
    await bookReversal(tx, of, { source, amountCents }, cause, cardWasUsed);
  }
  return of;
}

/** Nothing is booked on a payment, now or later; what is in suspense is written off. Answers whether this call did it. */
export const dismissMessage =
  ({ database }: { readonly database: Database }) =>
  ({ message: name, reason }: Pick<Assignment, 'message' | 'reason'>, own: Cause): Promise<boolean> =>
    database.write(async (tx) => {
      const message = await lockUnsettled(tx, name);
      const { adapter, kind, id, authorizationId, unbookedReason, settledAs } = message;
      if (settledAs === 'assigned')
        throw new DomainError('invalid_state', `the ${kind} ${id} is booked on ${message.transactionId}`);
      if (settledAs === 'dismissed') return false;
      const row = authorizationId === null ? null : await findByAuthorization(tx, adapter, authorizationId);
      await settleMessage(tx, message, { as: 'dismissed', reason, transactionId: null }, own);
      const isSuspended = unbookedReason === 'unknown_card' && (kind === 'clearing' || kind === 'refund');
      if (isSuspended) await leaveSuspense(tx, suspendedOf(message), 'dismissed', own);
      const writtenOff = isSuspended ? { writtenOffCents: suspendedOf(message).amountCents } : {};
      const details = { kind, networkId: id, misfit: unbookedReason, ...writtenOff, reason };
      const owner = row === null ? {} : { ownerId: row.ownerId, agentId: row.agentId };
      await recordAudit(tx, own, {
        ...{ action: 'network_message.dismissed', ...owner, subjectId: row?.id ?? `${kind}/${id}`, details },
      });
      return true;
    });
