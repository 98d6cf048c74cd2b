/**
 * Stores the network's messages: those of one authorization run one after the other, the same id gets the same answer,
 * and a message that comes before its authorization waits for it.
 * @module
 */
import { sql } from 'kysely';
import type * as z from 'zod';
import { type Given, query } from '../../../db/db.ts';
import { runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { DomainError } from '../../../kernel/errors.ts';
import { type AuthorizationAnswer, type BookingAnswer, bookingAnswer } from './network.contract.ts';
import type { MessageKind, Misfit, Received, Unsettled } from './received-message.ts';

/** `authorizationId` absent: a refund that names none. */
type Message = { readonly id: string; readonly cardRef: string; readonly authorizationId?: string | undefined };
/** `currency` absent: EUR. */
type Booking = Message & { readonly currency?: string | undefined };

export type Claimed<Answer = BookingAnswer> = {
  /** The answer that was given before. */
  readonly known?: Answer;
  /** The message is new, and does not fit its authorization: keep it, and refuse it with `misfitRefusal`. */
  readonly misfit?: Misfit;
};

type Asked = {
  readonly adapter: string;
  readonly id: string;
  readonly kind: MessageKind;
  readonly authorizationId: string | null;
};

/** The message itself, and its authorization. */
const storedMessages = query((from, given: Given<Asked>) =>
  from
    .selectFrom('network_messages')
    .select(['kind', 'id', 'cardRef', 'requestHash', 'answer', 'unbookedReason'])
    .where('adapter', '=', given('adapter'))
    .where(
      sql<boolean>`(id, kind) in ((${given('id')}, ${given('kind')}), (${given('authorizationId')}, 'authorization'))`,
    ),
);

/** Takes the authorization's place in the queue, and compares the message with what is known. */
export const claimMessage = (tx: Tx, kind: MessageKind, received: Received<Booking>): Promise<Claimed> =>
  claimAnswered(tx, kind, received, bookingAnswer.strip());

/** The same for a message with another answer, in which `answers` reads it. */
export async function claimAnswered<Answer>(
  tx: Tx,
  kind: MessageKind,
  { adapter, message, requestHash }: Received<Booking>,
  answers: z.ZodType<Answer>,
): Promise<Claimed<Answer>> {
  const { id, authorizationId } = message;
  // A slash is in no id of the network, so a refund without an authorization waits for itself alone.
  await runSql(tx, 'select lock_authorization($1, $2)', [adapter, authorizationId ?? `${kind}/${id}`]);
  const stored = await storedMessages.all(tx, { adapter, id, kind, authorizationId: authorizationId ?? null });
  const same = stored.find((one) => one.kind === kind && one.id === message.id);
  if (same !== undefined) {
    const answer = sameAnswer(same, requestHash, message.id);
    const { unbookedReason: why } = same;
    if (why !== null && why !== 'unknown_card' && isRefused(answer)) throw misfitRefusal(message, why);
    return { known: answers.parse(answer) };
  }
  const authorization = stored.find((one) => one.kind === 'authorization' && one.id === authorizationId);
  if (message.currency !== undefined && message.currency !== 'EUR') return { misfit: 'other_currency' };
  if (authorization !== undefined && authorization.cardRef !== message.cardRef) return { misfit: 'other_card' };
  return {};
}

/** A message that waited was answered 200 before it was found not to fit; its answer stays. */
const refusedAnswer = { refused: true };
const isRefused = (answer: unknown): boolean => typeof answer === 'object' && answer !== null && 'refused' in answer;

/** The 409 of a message that does not fit its authorization: the same again for each repeat. */
export function misfitRefusal({ id, authorizationId, currency }: Booking, misfit: Misfit): DomainError {
  const why =
    misfit === 'other_card'
      ? `its cardRef is not that of authorization ${authorizationId}`
      : `its currency is ${currency}, and cards here are charged in EUR`;
  return new DomainError('conflict', `the message ${id} is kept and not booked: ${why}`);
}

/** Keeps a message that does not fit, with its body; `unbooked_network_messages` lists it. */
export const keepMisfit = (tx: Tx, kind: MessageKind, received: Received<Booking>, misfit: Misfit): Promise<void> =>
  keepMessage(tx, received, { kind, transactionId: null, answer: refusedAnswer, unsettled: misfit });

/** The answer, unless the id names another message. */
export function sameAnswer<Answer>(
  known: { requestHash: string; answer: Answer },
  requestHash: string,
  id: string,
): Answer {
  if (known.requestHash === requestHash) return known.answer;
  throw new DomainError('idempotency_conflict', `the message id ${id} was used for another message; send a new id`);
}

/** In place of a hash: the money was collected, and its authorization has not come. The first one to come fixes it. */
export const missingAuthorization = '*';

type AuthorizationKey = { readonly adapter: string; readonly authorizationId: string; readonly cardRef: string };

/** An authorization that was declined as of an unknown card keeps that answer, and learns of its transaction. */
export async function storeMissingAuthorization(
  tx: Tx,
  { adapter, authorizationId, cardRef }: AuthorizationKey,
  { transactionId, answer, at }: { transactionId: string; answer: AuthorizationAnswer; at: Date },
): Promise<void> {
  await runSql(
    tx,
    `insert into network_messages
       (adapter, id, kind, authorization_id, card_ref, request_hash, transaction_id, answer, received_at)
     values ($1, $2, 'authorization', $2, $3, $4, $5, $6::jsonb, $7)
     on conflict (adapter, id, kind) do update set transaction_id = excluded.transaction_id`,
    [adapter, authorizationId, cardRef, missingAuthorization, transactionId, JSON.stringify(answer), at],
  );
}

export type StoredMessage = {
  readonly kind: MessageKind;
  readonly transactionId: string | null;
  readonly answer: Readonly<Record<string, unknown>>;
  /** It is about an authorization that has not come yet. */
  readonly isWaiting?: boolean;
  /** It waits for an operator. */
  readonly unsettled?: Unsettled;
};

export async function keepMessage(
  tx: Tx,
  { adapter, message, requestHash, cause }: Received<Message>,
  stored: StoredMessage,
): Promise<void> {
  const isWaiting = stored.isWaiting === true;
  await runSql(
    tx,
    `insert into network_messages
       (adapter, id, kind, authorization_id, card_ref, request_hash, transaction_id, answer, is_waiting, body,
        unbooked_reason, received_at, request_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8::jsonb, $9, $10::jsonb, $11, $12, $13)`,
    [
      adapter,
      message.id,
      stored.kind,
      message.authorizationId ?? null,
      message.cardRef,
      requestHash,
      stored.transactionId,
      JSON.stringify(stored.answer),
      isWaiting,
      isWaiting || stored.unsettled !== undefined ? JSON.stringify(message, withoutToken) : null,
      stored.unsettled ?? null,
      cause.at,
      cause.requestId,
    ],
  );
}

/**
 * The answer to an authorization of an unknown card. Where an operator has booked what was collected for it, it is
 * known already, and this fixes its answer.
 */
export async function keepUnknownCard(tx: Tx, received: Received<Message>, answer: AuthorizationAnswer): Promise<void> {
  const { adapter, message, requestHash, cause } = received;
  const fixed = await runSql(
    tx,
    `update network_messages set request_hash = $3, answer = $4::jsonb, request_id = $5
     where adapter = $1 and id = $2 and kind = 'authorization' and request_hash = $6`,
    [adapter, message.id, requestHash, JSON.stringify(answer), cause.requestId, missingAuthorization],
  );
  if (fixed === 0) await keepMessage(tx, received, { kind: 'authorization', transactionId: null, answer });
}

/** A payment token is a secret: only its hash is stored, with what it was minted for. */
const withoutToken = (name: string, value: unknown): unknown => (name === 'token' ? undefined : value);

type Waiting = { readonly adapter: string; readonly id: string; readonly kind: MessageKind };

/** It has been booked: nothing waits any more, nor for an operator, and its body is not needed. */
export async function messageBooked(tx: Tx, { adapter, id, kind }: Waiting, transactionId: string): Promise<void> {
  await runSql(
    tx,
    `update network_messages set is_waiting = false, body = null, unbooked_reason = null, transaction_id = $4
     where adapter = $1 and id = $2 and kind = $3`,
    [adapter, id, kind, transactionId],
  );
}

/** It waited for an authorization that has come for another card: it is not booked, and waits for an operator. */
export async function messageMisfits(tx: Tx, { adapter, id, kind }: Waiting, misfit: Misfit): Promise<void> {
  await runSql(
    tx,
    `update network_messages set is_waiting = false, unbooked_reason = $4
     where adapter = $1 and id = $2 and kind = $3`,
    [adapter, id, kind, misfit],
  );
}

const authorization = query((from, given: Given<{ adapter: string; id: string }>) =>
  from
    .selectFrom('network_messages')
    .select('cardRef')
    .where('adapter', '=', given('adapter'))
    .where('id', '=', given('id'))
    .where('kind', '=', sql.lit('authorization')),
);

/** The card that an authorization names; undefined where none has come. */
export async function cardRefOfAuthorization(tx: Tx, adapter: string, id: string): Promise<string | undefined> {
  return (await authorization.first(tx, { adapter, id }))?.cardRef;
}

const answered = query((from, given: Given<{ adapter: string; id: string }>) =>
  from
    .selectFrom('network_messages')
    .select('id')
    .where('adapter', '=', given('adapter'))
    .where('id', '=', given('id'))
    .where('kind', '=', sql.lit('authorization'))
    .where('requestHash', '<>', sql.lit(missingAuthorization)),
);

/** The authorization itself has come, and was answered. */
export async function isAuthorizationAnswered(tx: Tx, adapter: string, id: string): Promise<boolean> {
  return (await answered.first(tx, { adapter, id })) !== null;
}

export async function isCardKnown(tx: Tx, cardRef: string): Promise<boolean> {
  return (await runSql(tx, 'select 1 from cards where card_ref = $1', [cardRef])) > 0;
}
