/** The messages between the API, the worker and the workflow of a bank transfer: names, ids and JSON-safe shapes. @module */
import type { Id } from '../../../kernel/ids.ts';
import { type Message, message } from '../../../kernel/message.ts';
import type { Decision } from '../../identity/approvals/decision.messages.ts';
import type { BankTransferStage, PayeeCheckResult, RecallOutcome } from '../sepa/bank-transfer.rules.ts';
import type { Scheme } from '../sepa/scheme.rules.ts';

export type BankTransferRunView = {
  readonly transferId: Id<'transfer'>;
  readonly amountCents: number;
  readonly agentId: string | null;
  readonly scheme: Scheme;
  readonly stage: BankTransferStage;
  readonly payeeCheck: PayeeCheckResult | null;
  /** The rule of the policy that asks for a person. */
  readonly approvalRule: string | null;
  readonly failureReason: string | null;
  readonly recallOutcome: RecallOutcome | null;
  readonly reminders: number;
  /** ISO 8601, business time. */
  readonly expiresAt: string | null;
  readonly returnWindowEndsAt: string | null;
  /** The approver's page; null where no person is waited for. */
  readonly approvalUrl: string | null;
  /** The policy in force demands a passkey, so a signal cannot approve. */
  readonly needsPasskey: boolean;
};

export const bankTransferWorkflow = 'bankTransfer';
export const bankTransferWorkflowId = (id: Id<'transfer'>): string => `transfer/${id}`;

/** The same name as update (of the API) and as signal (of a person, from the Web UI or the CLI). */
export const decideBankTransfer: Message<BankTransferRunView, Decision> = message('decide');
