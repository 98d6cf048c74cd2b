/** What travels between the API, the worker and the checkout workflow: ids, codes and amounts only. @module */
import { textsOf } from '../../../kernel/bounded.ts';
import { isId } from '../../../kernel/ids.ts';
import { type Ignored, type Message, message } from '../../../kernel/message.ts';
import type { CheckoutStatus } from './checkout.rules.ts';

export type CheckoutView = {
  readonly checkoutId: string;
  readonly intentId: string;
  readonly agentId: string;
  readonly status: CheckoutStatus;
  /** Null until there is an offer. */
  readonly amountCents: number | null;
  readonly transactionId: string | null;
  /** Why it is refused, declined or failed. */
  readonly code: string | null;
};

export type PayAsk = { readonly checkoutId: string };

export const checkoutWorkflowId = (intentId: string): string => `checkout/${intentId}`;
export const checkoutWorkflow = 'checkout';

/** Whatever was sent: a well-formed id, or why it was ignored. */
export function payAsked(asked: unknown): PayAsk | Ignored {
  const { checkoutId } = textsOf(asked, ['checkoutId']);
  if (checkoutId === undefined || !isId('checkout', checkoutId)) return { ignored: 'it has to name a checkout: chk_…' };
  return { checkoutId };
}

/** Asks for the outcome; answers with what is known when the time to answer is up. */
export const payCheckout: Message<CheckoutView, PayAsk> = message('pay');
