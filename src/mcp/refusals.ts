/**
 * Makes a tool's refusal of an operation's: the code as published, the rule and figures that decided, and what the
 * agent does next. Decides nothing.
 * @module
 */
import type { RefusedBy } from '../kernel/errors.ts';
import type { Next, Refusal } from './answer.ts';
import type { Decided } from './tool.ts';

export type Refused = {
  readonly code: string;
  readonly message: string;
  readonly retryAfterSeconds?: number | undefined;
  readonly refusedBy?: RefusedBy | undefined;
};

/** The same call, which is safe to repeat. */
export type Asked = { readonly tool: string; readonly arguments: Readonly<Record<string, unknown>> };

/** `decided`: what the rules say about it now, where the refusal itself has no figures. */
export function refusal(refused: Refused, asked: Asked, decided?: Decided): Refusal {
  const { code, message, retryAfterSeconds, refusedBy } = refused;
  const rule = refusedBy?.rule ?? decided?.rule ?? null;
  const figures = refusedBy?.figures ?? (decided?.rule === rule ? decided?.figures : undefined);
  return {
    kind: 'refusal',
    code,
    message,
    rule,
    figures: {
      ...figures,
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    },
    next: nextOf(code, asked, retryAfterSeconds),
  };
}

const intentIn = ({ arguments: { intentId } }: Asked): Readonly<Record<string, unknown>> | undefined =>
  typeof intentId === 'string' ? { intentId } : undefined;

function nextOf(code: string, asked: Asked, retryAfterSeconds = 5): Next {
  if (code === 'unavailable' || code === 'rate_limited')
    return { do: `Wait ${retryAfterSeconds} s, then make the same call again, with the same purchaseRef.`, ...asked };
  if (code === 'invalid_state') {
    const intent = intentIn(asked);
    const sentence = 'The state of the record forbids it: read it, and do not repeat the call unchanged.';
    return intent === undefined ? { do: sentence } : { do: sentence, tool: 'intents_get', arguments: intent };
  }
  if (code === 'policy_denied')
    return {
      do: 'Do not repeat it unchanged, and do not split the payment. See what is allowed, and tell the person.',
      tool: 'allowance_get',
      arguments: {},
    };
  return { do: sentences[code] ?? sentences.internal ?? '' };
}

const sentences: Readonly<Record<string, string>> = {
  invalid_request: 'Correct the arguments as the message says, and call again.',
  insufficient_funds: 'Nothing was taken. Ask the owner to add money; the intent stays approved.',
  unauthenticated: 'The token is unknown, expired or revoked. Ask the owner for a new one.',
  forbidden: 'Only the owner may do this. Ask the person.',
  insufficient_scope: 'The token lacks this right. Ask the owner.',
  E_AGENT_ISOLATION: 'This record is another agent’s. Use an id that you were given here.',
  not_found: 'No such record is visible to you. Use an id that you were given here.',
  conflict: 'The purchaseRef belongs to another purchase: go on with that one, or use a new purchaseRef for a new one.',
  idempotency_conflict:
    'This purchaseRef was used with other arguments, or its first call still runs. Repeat the first call unchanged; for a new purchase use a new purchaseRef.',
  gone: 'It was used before, or its time is over. Begin anew with a new purchaseRef.',
  too_large: 'Send less.',
  internal: 'Something broke on the service’s side. Read the state before you try again.',
};
