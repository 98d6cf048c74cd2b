/** The messages between the API, the worker and the workflow of a split: names, ids and JSON-safe shapes. @module */
import type { Id } from '../../../kernel/ids.ts';
import { type Message, message } from '../../../kernel/message.ts';
import type { Decision } from '../../identity/approvals/decision.messages.ts';
import type { Openness, SplitCommand, SplitStage } from './transfer-split.rules.ts';

export type SplitRunView = {
  readonly splitId: Id<'transferSplit'>;
  readonly amountCents: number;
  readonly agentId: string | null;
  readonly stage: SplitStage;
  readonly lines: number;
  /** Between wallets, at once. */
  readonly walletLines: number;
  readonly waitingLines: number;
  readonly completedLines: number;
  readonly completedCents: number;
  /** What each decision would find. */
  readonly openness: Readonly<Record<SplitCommand, Openness>>;
  /** ISO 8601, business time. */
  readonly expiresAt: string | null;
  readonly returnWindowsEndAt: string | null;
  /** The approver's page; null where no person is waited for. */
  readonly approvalUrl: string | null;
  /** The policy in force demands a passkey, so a signal cannot approve. */
  readonly needsPasskey: boolean;
};

export const transferSplitWorkflow = 'transferSplit';
export const transferSplitWorkflowId = (id: Id<'transferSplit'>): string => `split/${id}`;

/** The same name as update (of the API) and as signal (of a person, from the Web UI or the CLI). */
export const decideTransferSplit: Message<SplitRunView, Decision> = message('decide');
