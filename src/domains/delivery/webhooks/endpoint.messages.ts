/**
 * The messages between the worker and the workflow run of one subscription's retries: names, ids, counts and states,
 * and the parser for the messages of an operator.
 * @module
 */
import { textsOf } from '../../../kernel/bounded.ts';
import type { Id } from '../../../kernel/ids.ts';
import { type Ignored, message } from '../../../kernel/message.ts';
import type { EndpointStep } from './endpoint.rules.ts';

export const endpointWorkflow = 'webhookEndpoint';
export const endpointWorkflowId = (webhookId: string): string => `webhook-endpoint/${webhookId}`;

/** The search attribute `BursarStage`. `dead_letters`: nothing waits any more, and the subscription lacks deliveries. */
export type EndpointStage = 'retrying' | 'probing' | 'paused' | 'ended' | 'dead_letters';

/** What an operator reads of the deliveries that failed and wait for another attempt. Instants: business time, ISO 8601. */
export type EndpointView = {
  readonly webhookId: string;
  readonly stage: EndpointStage;
  /** Deliveries that wait for another attempt, due or not. */
  readonly waiting: number;
  /** Repeated attempts that have no result yet. */
  readonly underWay: number;
  /** When the oldest waiting delivery was made. */
  readonly oldestAt: string | null;
  readonly nextAttemptAt: string | null;
  /** Of the latest attempt that failed: the HTTP status, or null where no answer came. */
  readonly lastStatus: number | null;
  readonly lastOutcome: 'failure' | 'timeout' | 'gone' | null;
};

export type EndpointNext = {
  readonly kind: EndpointStep['kind'];
  readonly waitMs: number;
  readonly view: EndpointView;
};

/** What one batch came to. `underWay`: attempts that were left to end by themselves. */
export type BatchOutcome = { readonly attempted: number; readonly underWay: number };

/** How many deliveries an operator's message has ended, or are due after it. */
export type EndpointChange = { readonly deliveries: number };

export const retryNow = 'retry-now';
export const giveUp = 'give-up';

/** The same as updates that the API asks for. */
export const retryWaiting = message<EndpointChange, 'all'>(retryNow);
export const giveUpWaiting = message<EndpointChange, 'all'>(giveUp);

/** Which waiting deliveries a message means; null is all of them. */
export type EndpointTarget = { readonly deliveryId: Id<'delivery'> | null };

const idForm = /^whd_[0-9a-z]{8,32}$/;

/**
 * Parses the argument of `retry-now` or `give-up`: nothing, `"all"`, `"whd_…"`, `{"delivery":"whd_…"}`. Never throws,
 * and quotes nothing of what was sent. An object without `delivery` is not taken for all: it may be a misspelling.
 */
export function parseEndpointTarget(name: string, sent: unknown): EndpointTarget | Ignored {
  const ignored = `${name} was ignored: send {"delivery":"whd_…"} for one delivery, or "all" or nothing for all`;
  if (sent === undefined || sent === null) return { deliveryId: null };
  const named = typeof sent === 'object' ? (textsOf(sent, ['delivery']).delivery ?? null) : sent;
  if (typeof named !== 'string') return { ignored };
  if (named === 'all') return { deliveryId: null };
  return idForm.test(named) ? { deliveryId: named as Id<'delivery'> } : { ignored };
}
