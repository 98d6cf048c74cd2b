/** The messages between the API, the worker and the intent workflow: names, ids and JSON-safe shapes. @module */
import type { Id } from '../../../kernel/ids.ts';
import { type Message, message } from '../../../kernel/message.ts';
import type { Decision } from '../../identity/approvals/decision.messages.ts';
import type { IntentStatus } from './intent.rules.ts';

export type IntentView = {
  readonly intentId: Id<'intent'>;
  readonly status: IntentStatus;
  readonly isMatched: boolean;
  /** The transfer, or the split of transfers, that pays for it. Histories of earlier versions do not name it. */
  readonly transferId?: string | null;
  /** The machine payment that has not ended; the deadline waits for it. */
  readonly openPaymentId: string | null;
  /** ISO 8601, business time. */
  readonly expiresAt: string;
  readonly amountCents: number;
  readonly agentId: string;
  /** Set by the approver; an actor in words. */
  readonly approvedBy: string | null;
  /** How often a recurring intent is charged; null for an intent of one payment. */
  readonly recurring: string | null;
  /** The window that is current or next; ISO 8601, business time. */
  readonly window: { readonly dueAt: string; readonly from: string; readonly to: string } | null;
};

export type DeclinedView = {
  readonly transactionId: string;
  readonly merchantId: string;
  readonly mcc: string;
  readonly country: string;
  readonly rule: string;
  readonly limitCents: number | null;
  readonly spentCents: number | null;
  /** It may pass once, and the intent pays for nothing else. */
  readonly isAllowed: boolean;
};

/** The intent as its workflow follows it: with what an operator reads about a decision that is waited for. */
export type IntentRunView = IntentView & {
  /** The approver's page; null unless the intent waits for a person. */
  readonly approvalUrl: string | null;
  /** The policy in force demands a passkey, so a signal cannot approve. */
  readonly needsPasskey: boolean;
  /** The declined charge that a person is asked about, or has allowed; codes and amounts only. Absent in older histories. */
  readonly declined?: DeclinedView | null;
  /** The most that one charge may take after an approval, tolerance included; null unless a person decides. */
  readonly maxChargeCents: number | null;
};

export const intentWorkflowId = (id: Id<'intent'>): string => `intent/${id}`;
export const intentWorkflow = 'intentLifecycle';

/** The same name as update (the API's) and as signal (an approver's, from the Web UI or the CLI). */
export const decideIntent: Message<IntentView, Decision> = message('decide');
