/**
 * Messages between the API, the worker and the workflow of a machine payment: ids, codes, amounts and instants only.
 * Challenge, credential, receipt and body never enter a workflow.
 * @module
 */
import { textsOf } from '../../../kernel/bounded.ts';
import { type Ignored, type Message, message } from '../../../kernel/message.ts';
import { nameOf } from '../../identity/approvals/decision.messages.ts';
import type { ChargeOutcome, MppPaymentStatus } from './mpp-payment.rules.ts';

export type MppPaymentView = {
  readonly paymentId: string;
  readonly intentId: string;
  readonly agentId: string;
  readonly status: MppPaymentStatus;
  /** Null until there is a challenge. */
  readonly amountCents: number | null;
  readonly chargeOutcome: ChargeOutcome | null;
  readonly transactionId: string | null;
  readonly merchantStatus: number | null;
  /** Why it is refused or declined. */
  readonly code: string | null;
  /** When silence counts as not paid, in business time; null where that cannot happen. */
  readonly givenUpAt: string | null;
  /** There is an answer for the caller of `pay`. */
  readonly isAnswered: boolean;
};

export const mppPaymentWorkflowId = (paymentId: string): string => `mpp-payment/${paymentId}`;
export const mppPaymentWorkflow = 'mppPayment';

/** Waits for an outcome. Answers with the state of the payment when the time to answer is up. */
export const payAtMerchant: Message<MppPaymentView, Record<string, never>> = message('pay');

export const resolutions = ['paid', 'not-paid'] as const;
export type Resolution = (typeof resolutions)[number];

/** What an operator types into the signal `resolve`. */
export type TypedResolution = { readonly outcome: Resolution; readonly by: string };

/** Reads `"paid"`, or `{"outcome":"not-paid","by":"anna"}`. Anything else is named in the answer, never thrown. */
export function parseResolution(typed: unknown): TypedResolution | Ignored {
  const { outcome, by } = textsOf(typeof typed === 'string' ? { outcome: typed } : typed, ['outcome', 'by']);
  const word = outcome
    ?.trim()
    .toLowerCase()
    .replace(/[\s_]+/g, '-');
  const known = resolutions.find((candidate) => candidate === word);
  if (known === undefined) return { ignored: 'a signal that is not "paid" or "not-paid" was ignored' };
  return { outcome: known, by: nameOf(by) };
}
