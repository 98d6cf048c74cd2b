/** The data that the demo's steps share: addresses, callers and the records made so far. @module */
import type { Ready } from '../supervisor/ready-file.ts';
import type { Caller } from './http.ts';
import type { Reporter } from './reporter.ts';

export type Context = {
  readonly ready: Ready;
  readonly reporter: Reporter;
  /** Calls with the dashboard secret: creates the demo's owner and moves the clock. */
  readonly dashboard: Caller;
  readonly sandbox: Caller;
  /** The box of the sandbox's receiver that takes this demo's webhooks. */
  readonly box: string;
};

export type Actors = {
  readonly owner: Caller;
  readonly agent: Caller;
  readonly ownerId: string;
  readonly ownerKey: string;
  readonly agentId: string;
  readonly cardId: string;
  readonly walletId: string;
  readonly webhookId: string;
  readonly webhookSecret: string;
};

export type Intent = {
  readonly id: string;
  readonly status: string;
  readonly expectedAmountEuros: number;
  readonly approvedBy: string | null;
  readonly attestedAt: string | null;
  /** The approver's page while the intent waits for a person. Only the owner's key gets it. */
  readonly approvalUrl: string | null;
  readonly transactionId: string | null;
  readonly policyCheck: { readonly reason: string | null };
};

export const runLink = ({ ready }: Context, workflowId: string): string =>
  ready.temporalUiUrl === null
    ? `workflow ${workflowId}`
    : `${ready.temporalUiUrl}/namespaces/${ready.temporalNamespace}/workflows/${encodeURIComponent(workflowId)}`;
