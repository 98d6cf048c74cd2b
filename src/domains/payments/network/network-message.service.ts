/**
 * The network's messages as they are kept: one authorization's messages come one after the other, the same id gives
 * the same answer, and what comes before its authorization waits for it.
 * @module
 */
import { rows, type Tx } from '../../../db/tx.ts';
import { DomainError } from '../../../kernel/errors.ts';
import type { AuthorizationAnswer, BookingAnswer } from './network.contract.ts';
import type { Received } from './network.routes.ts';

export type MessageKind = 'authorization' | 'clearing' | 'reversal';
type Message = { readonly id: string; readonly cardRef: string; readonly authorizationId: string };

/** Takes the authorization's place in the queue; returns the answer that was given before, if there is one. */
export async function claimMessage(
  tx: Tx,
  { adapter, message, requestHash }: Received<Message>,
): Promise<BookingAnswer | undefined> {
  await rows(tx, 'select lock_authorization($1, $2)', [adapter, message.authorizationId]);
  const [known] = await rows<{ requestHash: string; answer: BookingAnswer }>(
    tx,
    'select request_hash as "requestHash", answer from network_messages where adapter = $1 and id = $2',
    [adapter, message.id],
  );
  return known === undefined ? undefined : sameAnswer(known, requestHash, message.id);
}

/** The answer, unless the id names another message. */
export function sameAnswer<Answer>(
  known: { requestHash: string; answer: Answer },
  requestHash: string,
  id: string,
): Answer {
  if (known.requestHash === requestHash) return known.answer;
  throw new DomainError('idempotency_conflict', `the message id ${id} was used for another message; send a new id`);
}

/** In place of a hash: nobody has asked yet, and the money was collected all the same. Whoever asks first fixes it. */
export const notAsked = '*';

type Unasked = { readonly adapter: string; readonly authorizationId: string; readonly cardRef: string };

/** An authorization that was declined as of an unknown card keeps that answer, and learns of its transaction. */
export async function keepUnasked(
  tx: Tx,
  { adapter, authorizationId, cardRef }: Unasked,
  { transactionId, answer, at }: { transactionId: string; answer: AuthorizationAnswer; at: Date },
): Promise<void> {
  await rows(
    tx,
    `insert into network_messages
       (adapter, id, kind, authorization_id, card_ref, request_hash, transaction_id, answer, received_at)
     values ($1, $2, 'authorization', $2, $3, $4, $5, $6::jsonb, $7)
     on conflict (adapter, id) do update set transaction_id = excluded.transaction_id`,
    [adapter, authorizationId, cardRef, notAsked, transactionId, JSON.stringify(answer), at],
  );
}

/** It is asked now, and this is the answer for good. The authorization's place in the queue is taken. */
export async function answerUnasked(
  tx: Tx,
  { adapter, message, requestHash }: Received<{ readonly id: string }>,
  answer: AuthorizationAnswer,
): Promise<void> {
  await rows(tx, 'update network_messages set request_hash = $3, answer = $4::jsonb where adapter = $1 and id = $2', [
    adapter,
    message.id,
    requestHash,
    JSON.stringify(answer),
  ]);
}

export type Kept = {
  readonly kind: MessageKind;
  readonly transactionId: string | null;
  readonly answer: Readonly<Record<string, unknown>>;
  /** It is about an authorization that has not come yet. */
  readonly isWaiting?: boolean;
};

export async function keepMessage(
  tx: Tx,
  { adapter, message, requestHash, cause }: Received<Message>,
  kept: Kept,
): Promise<void> {
  const isWaiting = kept.isWaiting === true;
  await rows(
    tx,
    `insert into network_messages
       (adapter, id, kind, authorization_id, card_ref, request_hash, transaction_id, answer, is_waiting, body, received_at,
        request_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8::jsonb, $9, $10::jsonb, $11, $12)`,
    [
      adapter,
      message.id,
      kept.kind,
      message.authorizationId,
      message.cardRef,
      requestHash,
      kept.transactionId,
      JSON.stringify(kept.answer),
      isWaiting,
      isWaiting ? JSON.stringify(message) : null,
      cause.at,
      cause.requestId,
    ],
  );
}

/** It has been booked: nothing waits any more, and its body is not needed. */
export async function messageBooked(tx: Tx, adapter: string, id: string, transactionId: string): Promise<void> {
  await rows(
    tx,
    'update network_messages set is_waiting = false, body = null, transaction_id = $3 where adapter = $1 and id = $2',
    [adapter, id, transactionId],
  );
}

export async function isCardKnown(tx: Tx, cardRef: string): Promise<boolean> {
  return (await rows(tx, 'select 1 from cards where card_ref = $1', [cardRef])).length > 0;
}
