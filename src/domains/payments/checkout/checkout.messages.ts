/** Messages between the API, the worker and the checkout workflow: ids, codes, amounts and instants only. @module */
import { type Message, message } from '../../../kernel/message.ts';
import type { CheckoutStatus } from './checkout.rules.ts';

export type CheckoutView = {
  readonly checkoutId: string;
  readonly intentId: string;
  readonly agentId: string;
  readonly status: CheckoutStatus;
  /** Null until there is an offer. */
  readonly amountCents: number | null;
  readonly transactionId: string | null;
  /** The machine payment that pays instead; null where the shop speaks the checkout protocol. */
  readonly mppPaymentId: string | null;
  /** Why it is refused, declined or failed. */
  readonly code: string | null;
  /** When the shop is asked again, in business time; null where it is not. */
  readonly nextAttemptAt: string | null;
};

export const checkoutWorkflowId = (checkoutId: string): string => `checkout/${checkoutId}`;
export const checkoutWorkflow = 'checkout';

/** Waits for the outcome. Answers with the state of the checkout when the time to answer is up. */
export const payCheckout: Message<CheckoutView, Record<string, never>> = message('pay');
