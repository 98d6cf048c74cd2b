/**
 * A person's approval of the lines of a split that wait: with an owner's key, or with a passkey's assertion that is bound
 * to their amounts and payees. The split's workflow carries it out.
 * @module
 */
import { createHash } from 'node:crypto';
import type { Database } from '../../db/database.ts';
import type { ApproverChanges } from '../../domains/identity/approvals/decision.messages.ts';
import type { Matter } from '../../domains/identity/passkeys/challenge.service.ts';
import type { SplitView } from '../../domains/treasury/transfers/transfer.queries.ts';
import {
  decideTransferSplit,
  transferSplitWorkflowId,
} from '../../domains/treasury/transfers/transfer-split.messages.ts';
import { isMovedBy } from '../../domains/treasury/transfers/transfer-split.rules.ts';
import type { AssertionEnvelope } from '../../http/webauthn.ts';
import { DomainError } from '../../kernel/errors.ts';
import type { Cause } from '../../platform/cause.ts';
import { hasMoved } from '../../platform/transitions.ts';
import { type AskDeps, approverOf, askForApproval } from '../identity/ask-for-approval.ts';
import type { Attest } from '../identity/attest-subject.ts';
import { isSplitOpenFor, splitNoun } from './decide-transfer-split.ts';

export type ApproveTransferSplitDeps = AskDeps & { readonly database: Database; readonly attest: Attest };

export type ApproveTransferSplit = (
  split: SplitView,
  envelope: AssertionEnvelope | undefined,
  cause: Cause,
) => Promise<void>;

export const approveTransferSplit =
  ({ database, attest, ...ask }: ApproveTransferSplitDeps): ApproveTransferSplit =>
  async (split, envelope, cause) => {
    // The pure rule answers first: a refusal and a repeat need no Temporal and use no challenge.
    const seen = await hasMoved(database.read(), splitNoun, split.id, cause.causeId);
    if (!isSplitOpenFor(split, 'approve', seen, cause.at)) return;
    const subject = { ownerId: split.ownerId, matter: async () => matterOfSplit(split) };
    const passkeyId =
      envelope === undefined
        ? undefined
        : await attest(subject, envelope, cause, async (_tx, { passkey }) => passkey.id);
    await askForApproval(ask, {
      subjectId: split.id,
      workflowId: transferSplitWorkflowId(split.id),
      message: decideTransferSplit,
      approver: approverOf(cause, passkeyId, 'a split'),
      cause,
      origin: { runId: split.runId },
    });
  };

/** The challenge is bound to payee, amount and text of each line that waits: to their digest, because there may be many. */
export function matterOfSplit({ id, ownerId, transfers }: SplitView, changes: ApproverChanges = {}): Matter {
  if (Object.keys(changes).length > 0) {
    throw new DomainError('invalid_request', 'an approver changes nothing of a split');
  }
  const lines = transfers
    .filter(isMovedBy.approve)
    .map((line) => [
      ...[line.id, line.beneficiaryId, line.payeeName, line.payeeIbanMasked, line.amountCents, line.remittance],
    ]);
  return { ownerId, purpose: 'approval', subjectId: id, terms: digestOf(lines) };
}

const digestOf = (lines: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(lines)).digest('hex');
