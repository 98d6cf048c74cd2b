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
  type AuthorizationAnswer,
  type AuthorizationMessage,
  authorizationMessage,
  type BookingAnswer,
  type ClearingMessage,
  clearingMessage,
  type networkArea,
  type ReversalMessage,
  reversalMessage,
} from './network.contract.ts';
import type { MessageKind, Received } from './received-message.ts';
import type { SignedBy } from './signed-by.ts';

export type NetworkDeps = {
  readonly signedBy: SignedBy;
  readonly authorize: (received: Received<AuthorizationMessage>) => Promise<AuthorizationAnswer>;
  readonly clear: (received: Received<ClearingMessage>) => Promise<BookingAnswer>;
  readonly reverse: (received: Received<ReversalMessage>) => Promise<BookingAnswer>;
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
    authorizeCardPayment: async (input, call) =>
      deps.authorize(await received('authorization', authorizationMessage, input, call)),
    clearCardPayment: async (input, call) => deps.clear(await received('clearing', clearingMessage, input, call)),
    reverseCardPayment: async (input, call) => deps.reverse(await received('reversal', reversalMessage, input, call)),
  };
}

/** Ids are unique per kind of message, and causes with them. */
export const networkCauseId = (adapter: string, kind: MessageKind, id: string): string =>
  `network:${adapter}:${kind}:${id}`;

/** The schema's own field order makes it canonical. A network that sends again may stamp the message anew. */
const hashOf = (kind: string, message: object): string => {
  const { sentAt: _sent, clearedAt: _cleared, ...content } = message as { sentAt?: unknown; clearedAt?: unknown };
  return createHash('sha256')
    .update(`${kind}\n${JSON.stringify(content)}`)
    .digest('hex');
};
