/**
 * A person's approval of a card request: with an owner's key, or with a passkey's assertion that is bound to the limits
 * that are granted. The request's workflow carries it out; for a new card the answer waits for the processor.
 * @module
 */
import type { Database } from '../../db/database.ts';
import type { CardRequestRow } from '../../domains/cards/card-requests/card-request.entity.ts';
import { cardRequestWorkflowId, decideCardRequest } from '../../domains/cards/card-requests/card-request.messages.ts';
import { grantedLimits, whyNoChanges } from '../../domains/cards/card-requests/card-request.rules.ts';
import { nextStatus } from '../../domains/cards/card-requests/card-request.service.ts';
import { requestedOf } from '../../domains/cards/card-requests/card-request.wire.ts';
import { cardWorkflowId, issueCard } from '../../domains/cards/cards/card.messages.ts';
import { findCard } from '../../domains/cards/cards/card.queries.ts';
import type { ApproverChanges } from '../../domains/identity/approvals/decision.messages.ts';
import type { Matter } from '../../domains/identity/passkeys/challenge.service.ts';
import type { AssertionEnvelope } from '../../http/webauthn.ts';
import { DomainError } from '../../kernel/errors.ts';
import type { Cause } from '../../platform/cause.ts';
import { hasMoved } from '../../platform/transitions.ts';
import { type AskDeps, approverOf, askForApproval } from '../identity/ask-for-approval.ts';
import type { Attest } from '../identity/attest-subject.ts';

export type ApproveCardRequestDeps = AskDeps & { readonly database: Database; readonly attest: Attest };

type Approval = { readonly changes: ApproverChanges; readonly envelope?: AssertionEnvelope };

export type ApproveCardRequest = (row: Readonly<CardRequestRow>, approval: Approval, cause: Cause) => Promise<void>;

export const approveCardRequest =
  ({ database, attest, ...ask }: ApproveCardRequestDeps): ApproveCardRequest =>
  async (row, { changes, envelope }, cause) => {
    refuseOtherChanges(changes);
    // The pure rule answers first: a refusal and a repeat need no Temporal and use no challenge.
    const seen = await hasMoved(database.read(), 'card_request', row.id, cause.causeId);
    const isOpen = nextStatus(row, 'approve', seen, cause.at) !== undefined;
    const cardId = isOpen ? await decided(row) : row.cardId;
    if (row.type === 'new_card' && cardId != null) await issued(cardId);

    async function decided({ id, ownerId }: Readonly<CardRequestRow>): Promise<string | null> {
      const subject = { ownerId, matter: async () => matterOf(row, changes) };
      const passkeyId =
        envelope === undefined
          ? undefined
          : await attest(subject, envelope, cause, async (_tx, { passkey }) => passkey.id);
      const view = await askForApproval(ask, {
        subjectId: id,
        workflowId: cardRequestWorkflowId(id),
        message: decideCardRequest,
        approver: approverOf(cause, passkeyId, 'a card request'),
        ...(Object.keys(changes).length === 0 ? {} : { changes }),
        cause,
        origin: { runId: row.runId },
      });
      return view.cardId;
    }

    async function issued(id: string): Promise<void> {
      const card = await findCard(database.read(), id);
      if (card?.isProvisioning === true) await ask.gateway.ask(cardWorkflowId(id), issueCard, {}, cause.causeId);
    }
  };

/** The challenge is bound to the request and to the limits that the approval grants. */
export function matterOf(row: Readonly<CardRequestRow>, changes: ApproverChanges = {}): Matter {
  refuseOtherChanges(changes);
  const { maxTransactionCents, dailyLimitCents, monthlyLimitCents } = grantedLimits(requestedOf(row), changes);
  const limits = [maxTransactionCents, dailyLimitCents, monthlyLimitCents];
  const terms = JSON.stringify([row.type, row.usage ?? null, row.type === 'new_card' ? null : row.cardId, limits]);
  return { ownerId: row.ownerId, purpose: 'approval', subjectId: row.id, terms };
}

export function refuseOtherChanges(changes: ApproverChanges): void {
  const why = whyNoChanges(changes);
  if (why !== undefined) throw new DomainError('invalid_request', why);
}
