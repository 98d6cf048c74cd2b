/** An MPP credential as its workflow follows it, for activities that tests give. @module */
import type { MppCredentialView } from '../../src/domains/payments/mpp-credentials/mpp-credential.messages.ts';
import {
  type CredentialDue,
  type CredentialFact,
  type CredentialStatus,
  credentialFacts,
} from '../../src/domains/payments/mpp-credentials/mpp-credential.rules.ts';
import type { RowState } from '../../src/kernel/row-state.ts';

type Options = { readonly status?: CredentialStatus; readonly version?: number; readonly expiresInMs: number };

export function aCredentialRun(
  credentialId: string,
  { status = 'minted', version = 1, expiresInMs }: Options,
): RowState<MppCredentialView, CredentialFact, CredentialDue> {
  const now = new Date();
  const expiresAt = new Date(now.getTime() + expiresInMs);
  return {
    version,
    ...credentialFacts({ status, expiresAt, paymentId: null }, now),
    view: {
      credentialId,
      intentId: 'int_01kc1v9m3se7ttw5v1x0h2q8ab',
      agentId: 'ag_01kc1v9m3se7ttw5v1x0h2q8ab',
      status,
      amountCents: 1_250,
      expiresAt: expiresAt.toISOString(),
      transactionId: null,
      code: null,
    },
  };
}
