/** The messages between the API, the worker and the card request workflow: names, ids and JSON-safe shapes. @module */
import type { Id } from '../../../kernel/ids.ts';
import { type Message, message } from '../../../kernel/message.ts';
import type { Decision } from '../../identity/approvals/decision.messages.ts';
import type { CardRequestStatus, CardRequestType } from './card-request.rules.ts';

export type CardRequestView = {
  readonly cardRequestId: Id<'cardRequest'>;
  readonly type: CardRequestType;
  readonly agentId: string;
  readonly status: CardRequestStatus;
  /** The card to change; of a new card, the card that the approval reserved. */
  readonly cardId: string | null;
  /** An actor, such as `key:key_…`. */
  readonly decidedBy: string | null;
  /** ISO 8601, business time. */
  readonly expiresAt: string;
  readonly isReminded: boolean;
};

/** The request as its workflow follows it: with what an operator reads about the decision that is waited for. */
export type CardRequestRunView = CardRequestView & {
  /** The approver's page; null for a final request. */
  readonly approvalUrl: string | null;
  /** The policy in force demands a passkey, so a signal cannot approve. */
  readonly needsPasskey: boolean;
};

export const cardRequestWorkflow = 'cardRequest';
export const cardRequestWorkflowId = (id: Id<'cardRequest'>): string => `card-request/${id}`;

/** The same name as update (of the API) and as signal (of a person, from the Web UI or the CLI). */
export const decideCardRequest: Message<CardRequestView, Decision> = message('decide');
