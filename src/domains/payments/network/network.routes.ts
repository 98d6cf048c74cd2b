/**
 * Receives the network's messages: first verifies the signature over request line and body as sent, then the shape,
 * then calls the use case. No decision is made here.
 * @module
 */
import { createHash } from 'node:crypto';
import type * as z from 'zod';
import { parseJson } from '../../../http/body.ts';
import type { Call } from '../../../http/caller.ts';
import type { Handlers } from '../../../http/route.ts';
import { validated, validatedQuery } from '../../../http/validate.ts';
import type { Cause } from '../../../platform/cause.ts';
import {
  type AdviceMessage,
  type AuthorizationAnswer,
  type AuthorizationMessage,
  adviceMessage,
  authorizationMessage,
  type BookingAnswer,
  type ClearingMessage,
  clearingMessage,
  type IncrementMessage,
  incrementMessage,
  type networkArea,
  type RefundMessage,
  type ReversalMessage,
  refundMessage,
  reversalMessage,
} from './network.contract.ts';
import type { MessageKind, Received } from './received-message.ts';
import type { SignedBy } from './signed-by.ts';

export type NetworkDeps = {
  readonly signedBy: SignedBy;
  readonly authorize: (received: Received<AuthorizationMessage>) => Promise<AuthorizationAnswer>;
  /** Throws where an authorization that comes now could not be decided in time. */
  readonly admit: () => void;
  readonly increment: (received: Received<IncrementMessage>) => Promise<AuthorizationAnswer>;
  readonly clear: (received: Received<ClearingMessage>) => Promise<BookingAnswer>;
  readonly reverse: (received: Received<ReversalMessage>) => Promise<BookingAnswer>;
  readonly advise: (received: ReceivedAdvice) => Promise<BookingAnswer>;
  readonly refund: (received: Received<RefundMessage>) => Promise<BookingAnswer>;
};

/** `authorization`: as if the network had sent it alone, so that it gets the advice's answer when it comes. */
export type ReceivedAdvice = Received<
  AdviceMessage & { readonly authorizationId: string; readonly cardRef: string }
> & {
  readonly authorization: Received<AuthorizationMessage>;
};

type Input = Parameters<SignedBy>[0];

export function networkHandlers(deps: NetworkDeps): Handlers<typeof networkArea> {
  const received = async <S extends z.ZodType<{ id: string }>>(
    kind: MessageKind,
    schema: S,
    { requestLine, rawBody, headers }: Input,
    call: Call,
  ): Promise<Received<z.output<S>>> => {
    const adapter = await deps.signedBy({ requestLine, rawBody, headers }, call);
    validatedQuery(undefined, requestLine);
    const message = validated(schema, 'body', parseJson(rawBody, 'application/json'));
    const causeId = networkCauseId(adapter, kind, message.id);
    const cause: Cause = { ...call.cause, causeId, actor: { kind: 'network' } };
    const requestHash = hashOf(kind, message);
    return { adapter, message, requestHash, cause };
  };

  return {
    authorizeCardPayment: async (input, call) => {
      // Before anything is verified: under too much load, what is refused must cost little beside what is decided.
      deps.admit();
      return deps.authorize(await received('authorization', authorizationMessage, input, call));
    },
    incrementCardPayment: async (input, call) =>
      deps.increment(await received('increment', incrementMessage, input, call)),
    clearCardPayment: async (input, call) => deps.clear(await received('clearing', clearingMessage, input, call)),
    reverseCardPayment: async (input, call) => deps.reverse(await received('reversal', reversalMessage, input, call)),
    adviseCardPayment: async (input, call) => {
      const advice = await received('advice', adviceMessage, input, call);
      const { adapter, message, cause } = advice;
      const { id: authorizationId, cardRef } = message.authorization;
      const causeId = networkCauseId(adapter, 'authorization', authorizationId);
      const authorization = {
        ...{ adapter, message: message.authorization, cause: { ...cause, causeId } },
        requestHash: hashOf('authorization', message.authorization),
      };
      return deps.advise({ ...advice, message: { ...message, authorizationId, cardRef }, authorization });
    },
    refundCardPayment: async (input, call) => deps.refund(await received('refund', refundMessage, input, call)),
  };
}

/** Ids are unique per kind of message, and causes with them. */
export const networkCauseId = (adapter: string, kind: MessageKind, id: string): string =>
  `network:${adapter}:${kind}:${id}`;

/** The schema's own field order makes it canonical. A network that sends again may stamp the message anew. */
const hashOf = (kind: string, message: object): string =>
  createHash('sha256')
    .update(`${kind}\n${JSON.stringify(message, withoutStamps)}`)
    .digest('hex');

/** Also those of the authorization that an advice carries. */
const withoutStamps = (name: string, value: unknown): unknown => (stamps.has(name) ? undefined : value);
const stamps: ReadonlySet<string> = new Set(['sentAt', 'clearedAt', 'refundedAt']);
