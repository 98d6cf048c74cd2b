/**
 * An operator settles a message of the network that contradicts its authorization: it is booked on that authorization
 * after all, or dismissed. Once; the same again changes nothing. Booked like the message itself, so money, intent and
 * events follow in the same way.
 * @module
 */
import type { Database } from '../../db/database.ts';
import type { Tx } from '../../db/tx.ts';
import { clearingMessage, refundMessage, reversalMessage } from '../../domains/payments/network/network.contract.ts';
import { networkCauseId } from '../../domains/payments/network/network.routes.ts';
import { cardRefOfAuthorization } from '../../domains/payments/network/network-message.service.ts';
import {
  lockMisfit,
  type MessageName,
  type MisfitMessage,
  settleMisfit,
} from '../../domains/payments/network/unbooked-message.service.ts';
import { sourceOf } from '../../domains/payments/transactions/booking.posting.service.ts';
import { bookClearing, bookReversal } from '../../domains/payments/transactions/booking.service.ts';
import { lockPayment } from '../../domains/payments/transactions/payment-lock.service.ts';
import { bookRefund } from '../../domains/payments/transactions/refund.service.ts';
import type { TransactionRow } from '../../domains/payments/transactions/transaction.entity.ts';
import { findByAuthorization } from '../../domains/payments/transactions/transaction.queries.ts';
import { recordAudit } from '../../events/record.ts';
import { assert } from '../../kernel/assert.ts';
import { DomainError } from '../../kernel/errors.ts';
import type { Cause } from '../../platform/cause.ts';
import { cardWasUsed } from '../cards/card-was-used.ts';
import { holderOf } from './holder-of-card.ts';
import { lockedHolder } from './refund-card-payment.ts';

export type Assignment = {
  readonly message: MessageName;
  /** How the operator found out. */
  readonly reason: string;
  /** In EUR; only of a message in another currency, whose own amount says nothing. */
  readonly amountCents?: number | undefined;
};

/** `isNew` false: it was assigned before. `transactionId`: what it was booked on, or the refund that it became. */
export type Assigned = { readonly transactionId: string; readonly isNew: boolean };

export const assignMessage =
  ({ database }: { readonly database: Database }) =>
  (assignment: Assignment, cause: Cause): Promise<Assigned> =>
    database.write((tx) => assign(tx, assignment, cause));

async function assign(tx: Tx, { message: name, reason, amountCents }: Assignment, own: Cause): Promise<Assigned> {
  const message = await lockMisfit(tx, name);
  const { adapter, kind, id, authorizationId, unbookedReason } = message;
  if (message.settledAs === 'dismissed') throw new DomainError('invalid_state', `the ${kind} ${id} was dismissed`);
  if (message.settledAs === 'assigned') {
    assert(message.transactionId !== null, 'what was assigned has its transaction');
    return { transactionId: message.transactionId, isNew: false };
  }
  if (kind === 'advice') {
    const why = 'it says what the network approved for another card, so only the clearing will show whose money it was';
    throw new DomainError('invalid_state', `the advice ${id} cannot be assigned: ${why}; dismiss it`);
  }
  const bookedCents = centsOf(message, amountCents);
  const found = authorizationId === null ? null : await findByAuthorization(tx, adapter, authorizationId);
  if (found === null && authorizationId !== null) {
    const why = `its authorization ${authorizationId} has not come`;
    throw new DomainError('invalid_state', `the ${kind} ${id} cannot be assigned: ${why}`);
  }
  if (unbookedReason === 'other_currency') await assertSameCard(tx, message);
  const cause: Cause = { ...own, causeId: `${networkCauseId(adapter, kind, id)}:assigned` };
  const row = found === null ? undefined : await lockPayment(tx, found.id);
  const booked = await book(tx, message, { row, amountCents: bookedCents }, cause);
  await settleMisfit(tx, message, { as: 'assigned', reason, transactionId: booked.id }, cause);
  const details = { kind, networkId: id, misfit: unbookedReason, amountCents: bookedCents ?? null, reason };
  const { ownerId, agentId } = booked;
  await recordAudit(tx, cause, { action: 'network_message.assigned', ownerId, agentId, subjectId: booked.id, details });
  return { transactionId: booked.id, isNew: true };
}

/** Its currency is what it was kept for, so nobody has looked at its card yet. */
async function assertSameCard(tx: Tx, { adapter, kind, id, authorizationId, cardRef }: MisfitMessage): Promise<void> {
  const authorized = authorizationId === null ? undefined : await cardRefOfAuthorization(tx, adapter, authorizationId);
  if (authorized === undefined || authorized === cardRef) return;
  const why = `its card ${cardRef} is not that of authorization ${authorizationId}, ${authorized}`;
  throw new DomainError('invalid_state', `the ${kind} ${id} cannot be assigned: ${why}`);
}

/** Undefined: a reversal of all that is left. */
function centsOf(
  { kind, id, body, unbookedReason }: MisfitMessage,
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

type Booking = { readonly row: TransactionRow | undefined; readonly amountCents: number | undefined };

async function book(
  tx: Tx,
  { adapter, kind, id, cardRef, body }: MisfitMessage,
  { row, amountCents }: Booking,
  cause: Cause,
): Promise<Pick<TransactionRow, 'id' | 'ownerId' | 'agentId'>> {
  if (kind === 'refund') {
    const refund = refundMessage.parse(body);
    const holder = row === undefined ? await holderOf.first(tx, { cardRef }) : null;
    if (row === undefined && holder === null)
      throw new DomainError('invalid_state', `the refund ${id} cannot be assigned: its card is not known`);
    const of = row ?? (await lockedHolder(tx, holder as NonNullable<typeof holder>));
    const { merchant } = refund;
    return bookRefund(tx, { source: sourceOf(adapter, refund), amountCents: amountCents ?? 0, merchant, of }, cause);
  }
  assert(row !== undefined, 'clearings and reversals name their authorization');
  if (kind === 'clearing') {
    const clearing = clearingMessage.parse(body);
    const booked = { source: sourceOf(adapter, clearing), amountCents: amountCents ?? 0, isFinal: clearing.final };
    await bookClearing(tx, row, booked, cause, cardWasUsed);
  } else {
    const source = sourceOf(adapter, reversalMessage.parse(body));
    await bookReversal(tx, row, { source, amountCents }, cause, cardWasUsed);
  }
  return row;
}

/** Nothing is booked for it, now or later. Answers whether this call dismissed it. */
export const dismissMessage =
  ({ database }: { readonly database: Database }) =>
  ({ message: name, reason }: Omit<Assignment, 'amountCents'>, own: Cause): Promise<boolean> =>
    database.write(async (tx) => {
      const message = await lockMisfit(tx, name);
      const { adapter, kind, id, authorizationId, unbookedReason, settledAs } = message;
      if (settledAs === 'assigned')
        throw new DomainError('invalid_state', `the ${kind} ${id} is booked on ${message.transactionId}`);
      if (settledAs === 'dismissed') return false;
      const row = authorizationId === null ? null : await findByAuthorization(tx, adapter, authorizationId);
      await settleMisfit(tx, message, { as: 'dismissed', reason, transactionId: null }, own);
      const details = { kind, networkId: id, misfit: unbookedReason, reason };
      const owner = row === null ? {} : { ownerId: row.ownerId, agentId: row.agentId };
      await recordAudit(tx, own, {
        ...{ action: 'network_message.dismissed', ...owner, subjectId: row?.id ?? `${kind}/${id}`, details },
      });
      return true;
    });
