/** Messages between the API, the worker and the workflow of an MPP credential: ids, codes, amounts and instants only. @module */
import { type Message, message } from '../../../kernel/message.ts';
import type { CredentialStatus } from './mpp-credential.rules.ts';

export type MppCredentialView = {
  readonly credentialId: string;
  readonly intentId: string;
  readonly agentId: string;
  readonly status: CredentialStatus;
  readonly amountCents: number;
  /** Real time. */
  readonly expiresAt: string;
  readonly transactionId: string | null;
  /** Why it is refused or declined. */
  readonly code: string | null;
};

export const mppCredentialWorkflowId = (credentialId: string): string => `mpp-credential/${credentialId}`;
export const mppCredentialWorkflow = 'mppCredential';

/** Waits until the credential is minted or refused. The credential itself stays in the row. */
export const mintMppCredential: Message<MppCredentialView, Record<string, never>> = message('mint');
