/**
 * Asks a record's workflow to carry out an approval that the API has checked. The decision is signed, so that the
 * worker knows that the API sent it. The same for every approval subject.
 * @module
 */
import type { ApproverChanges, Decision } from '../../domains/identity/approvals/decision.messages.ts';
import { askedAs, signDecision } from '../../domains/identity/approvals/decision-signature.ts';
import { DomainError } from '../../kernel/errors.ts';
import type { Message } from '../../kernel/message.ts';
import { type Cause, inRunOf, type OriginatingCall } from '../../platform/cause.ts';
import type { WorkflowGateway } from '../../temporal/gateway.ts';
import type { Vault } from '../../vault/vault.ts';

export type AskDeps = { readonly gateway: Pick<WorkflowGateway, 'ask'>; readonly vault: Vault };

type Approver = Pick<Decision, 'actor' | 'by'>;

type ApprovalOrder<View> = {
  readonly subjectId: string;
  readonly workflowId: string;
  readonly message: Message<View, Decision>;
  readonly approver: Approver;
  readonly changes?: ApproverChanges | undefined;
  readonly cause: Cause;
  /** The call that made the record: an approval without a run belongs to its run. */
  readonly origin: Pick<OriginatingCall, 'runId'>;
};

/** Answers with the workflow's view of the decided record; 503 while Temporal is unavailable. */
export async function askForApproval<View>(
  { gateway, vault }: AskDeps,
  { subjectId, workflowId, message, approver, changes, cause, origin }: ApprovalOrder<View>,
): Promise<View> {
  const { causeId, requestId, runId } = inRunOf(cause, origin);
  const decision: Decision = {
    decision: 'approve',
    ...approver,
    causeId,
    requestId,
    ...(runId === undefined ? {} : { runId }),
    ...(changes === undefined ? {} : { changes }),
  };
  const sealedAt = new Date();
  const signed = await signDecision(vault, subjectId, decision, sealedAt);
  return gateway.ask(workflowId, message, signed, askedAs(causeId, sealedAt));
}

/** Without a passkey only an owner's key approves. */
export function approverOf({ actor }: Cause, passkeyId: string | undefined, noun: string): Approver {
  if (passkeyId !== undefined) return { actor: 'passkey', by: passkeyId };
  if (actor.kind === 'key') return { actor: 'key', by: actor.id };
  throw new DomainError('forbidden', `only an owner's key or a passkey approves ${noun}`);
}
