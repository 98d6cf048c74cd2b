/**
 * A person's approval of a bank transfer: with an owner's key, or with a passkey's assertion that is bound to amount and
 * payee. The transfer's workflow carries it out.
 * @module
 */
import type { Database } from '../../db/database.ts';
import type { ApproverChanges } from '../../domains/identity/approvals/decision.messages.ts';
import type { Matter } from '../../domains/identity/passkeys/challenge.service.ts';
import { bankTransferWorkflowId, decideBankTransfer } from '../../domains/treasury/transfers/bank-transfer.messages.ts';
import type { BankTransfer } from '../../domains/treasury/transfers/bank-transfer.queries.ts';
import { seenCauses } from '../../domains/treasury/transfers/bank-transfer.service.ts';
import type { AssertionEnvelope } from '../../http/webauthn.ts';
import { DomainError } from '../../kernel/errors.ts';
import type { Cause } from '../../platform/cause.ts';
import { type AskDeps, approverOf, askForApproval } from '../identity/ask-for-approval.ts';
import type { Attest } from '../identity/attest-subject.ts';
import { isOpenFor } from './decide-bank-transfer.ts';

export type ApproveBankTransferDeps = AskDeps & { readonly database: Database; readonly attest: Attest };

export type ApproveBankTransfer = (
  row: BankTransfer,
  envelope: AssertionEnvelope | undefined,
  cause: Cause,
) => Promise<void>;

export const approveBankTransfer =
  ({ database, attest, ...ask }: ApproveBankTransferDeps): ApproveBankTransfer =>
  async (row, envelope, cause) => {
    // The pure rule answers first: a refusal and a repeat need no Temporal and use no challenge.
    const seen = await seenCauses(database.read(), [{ id: row.id, cause: cause.causeId }]);
    if (!isOpenFor(row, 'approve', seen.size > 0, cause.at)) return;
    const subject = { ownerId: row.ownerId, matter: async () => matterOf(row) };
    const passkeyId =
      envelope === undefined
        ? undefined
        : await attest(subject, envelope, cause, async (_tx, { passkey }) => passkey.id);
    await askForApproval(ask, {
      subjectId: row.id,
      workflowId: bankTransferWorkflowId(row.id),
      message: decideBankTransfer,
      approver: approverOf(cause, passkeyId, 'a transfer'),
      cause,
      origin: { runId: row.runId },
    });
  };

/** The challenge is bound to the payee and to the amount. */
export function matterOf(row: BankTransfer, changes: ApproverChanges = {}): Matter {
  if (Object.keys(changes).length > 0) {
    throw new DomainError('invalid_request', 'an approver changes nothing of a transfer');
  }
  const terms = JSON.stringify([
    row.beneficiaryId,
    row.payeeName,
    row.payeeIbanMasked,
    row.amountCents,
    row.remittance,
  ]);
  return { ownerId: row.ownerId, purpose: 'approval', subjectId: row.id, terms };
}
