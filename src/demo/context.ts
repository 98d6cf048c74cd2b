/** What the demo's steps share: where everything is, who calls, and what was made on the way. @module */
import type { Ready } from '../main/start.ts';
import type { Caller } from './http.ts';
import type { Paper } from './reporter.ts';

export type Context = {
  readonly ready: Ready;
  readonly paper: Paper;
  /** With the dashboard secret: makes the demo's own owner, moves the clock. */
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
  readonly walletId: string;
  readonly webhookSecret: string;
};

export type Intent = {
  readonly id: string;
  readonly status: string;
  readonly expectedAmountEuros: number;
  readonly approvedBy: string | null;
  readonly attestedAt: string | null;
  /** Where a person decides it, while it waits; the owner alone is shown it. */
  readonly approvalUrl: string | null;
  readonly transactionId: string | null;
  readonly policyCheck: { readonly reason: string | null };
};

export const runLink = ({ ready }: Context, workflowId: string): string =>
  ready.temporalUiUrl === null
    ? `workflow ${workflowId}`
    : `${ready.temporalUiUrl}/namespaces/${ready.temporalNamespace}/workflows/${encodeURIComponent(workflowId)}`;
