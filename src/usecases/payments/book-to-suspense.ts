/**
 * Books what the network moved for an unknown card: in the operator's book, between the cards and suspense, until
 * an operator gives it to the holder of a card or writes it off. Each message enters and leaves suspense once.
 * @module
 */
import type { Tx } from '../../db/tx.ts';
import { keepMessage } from '../../domains/payments/network/network-message.service.ts';
import type { Received } from '../../domains/payments/network/received-message.ts';
import { operatorOwnerId } from '../../domains/treasury/bank-files/bank-entry.rules.ts';
import {
  cardSuspense,
  leaveCardSuspense,
  type Posting,
  writeOffSuspense,
} from '../../domains/treasury/ledger/ledger.rules.ts';
import { postNew } from '../../domains/treasury/ledger/ledger.service.ts';
import { newId } from '../../kernel/ids.ts';
import type { Cause } from '../../platform/cause.ts';

type Kind = 'clearing' | 'refund';
type Moving = { readonly id: string; readonly cardRef: string; readonly authorizationId?: string | undefined };

/** Keeps the message as well. False: a clearing of 0 has moved nothing, so nobody has to look at it. */
export async function bookToSuspense(
  tx: Tx,
  received: Received<Moving & { readonly amountCents: number }>,
  kind: Kind,
): Promise<boolean> {
  const { adapter, message, cause } = received;
  const { id, amountCents } = message;
  const kept = { kind, transactionId: null, answer: { transactionId: null } };
  if (amountCents === 0) {
    await keepMessage(tx, received, kept);
    return false;
  }
  await keepMessage(tx, received, { ...kept, unsettled: 'unknown_card' });
  await post(tx, { adapter, kind, id }, cardSuspense(inOperatorsBook(kind, amountCents)), cause);
  return true;
}

type Suspended = { readonly adapter: string; readonly kind: Kind; readonly id: string; readonly amountCents: number };

/** `assigned`: it is booked on a payment instead. `dismissed`: the operator bears it. */
export async function leaveSuspense(
  tx: Tx,
  { amountCents, ...message }: Suspended,
  as: 'assigned' | 'dismissed',
  cause: Cause,
): Promise<void> {
  const left = inOperatorsBook(message.kind, amountCents);
  await post(tx, { ...message, as }, as === 'assigned' ? leaveCardSuspense(left) : writeOffSuspense(left), cause);
}

const inOperatorsBook = (kind: Kind, amountCents: number) => ({
  ownerId: operatorOwnerId,
  amountCents: kind === 'clearing' ? amountCents : -amountCents,
});

type Journal = Omit<Suspended, 'amountCents'> & { readonly as?: 'assigned' | 'dismissed' };

async function post(
  tx: Tx,
  { adapter, kind, id, as }: Journal,
  postings: readonly Posting[],
  cause: Cause,
): Promise<void> {
  await postNew(tx, cause, [
    {
      id: newId('journal'),
      ownerId: operatorOwnerId,
      kind,
      referenceType: 'adjustment',
      referenceId: id,
      // A slash is in no id of the network.
      cause: `${kind}:${adapter}:${id}${as === undefined ? '' : `/${as}`}`,
      postings,
    },
  ]);
}
