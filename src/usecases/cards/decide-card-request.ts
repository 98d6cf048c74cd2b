/**
 * Carries out a decision on a card request in one transaction. An approval is a grant: plan, agent and card are checked
 * again under lock, then the card is reserved for its workflow to issue, or the limits of the card are changed.
 * @module
 */
import type { Tx } from '../../db/tx.ts';
import type { CardRequestRow } from '../../domains/cards/card-requests/card-request.entity.ts';
import { grantedLimits } from '../../domains/cards/card-requests/card-request.rules.ts';
import {
  applyToCardRequest,
  lockCardRequest,
  nextStatus,
} from '../../domains/cards/card-requests/card-request.service.ts';
import { requestedOf } from '../../domains/cards/card-requests/card-request.wire.ts';
import { grantCardLimits } from '../../domains/cards/cards/card.change.service.ts';
import { prepareGrantedCard } from '../../domains/cards/cards/card.further.service.ts';
import type { ApproverChanges, Decision } from '../../domains/identity/approvals/decision.messages.ts';
import { policyOfAgent } from '../../domains/spending/policies/policy.queries.ts';
import { DomainError } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import type { Cause } from '../../platform/cause.ts';
import { demandsPasskey } from '../spending/refuse-unattested.ts';
import { refuseOtherChanges } from './approve-card-request.ts';

type Decided = Pick<Decision, 'decision' | 'changes'>;

export async function decideCardRequest(
  tx: Tx,
  id: string,
  { decision, changes = {} }: Decided,
  cause: Cause,
): Promise<CardRequestRow> {
  const locked = await lockCardRequest(tx, id, cause);
  const options = { isOwnWorkflow: true };
  if (decision !== 'approve') return applyToCardRequest(tx, locked, { kind: decision }, cause, options);
  refuseOtherChanges(changes);
  const { row, seen } = locked;
  if (nextStatus(row, 'approve', seen, cause.at) === undefined) return row;
  await refuseSignalWherePasskeyNeeded(tx, row, cause);
  const granted = grantedLimits(requestedOf(row), changes);
  const cardId = await grant(tx, row, changes, cause);
  return applyToCardRequest(tx, locked, { kind: 'approve', granted, cardId }, cause, options);
}

/** Returns the id of the card. */
async function grant(tx: Tx, row: CardRequestRow, changes: ApproverChanges, cause: Cause): Promise<string> {
  const limits = grantedLimits(requestedOf(row), changes);
  if (row.type === 'limit_change' && row.cardId != null) {
    // A limit that was not requested and that the approver does not set stays as it is.
    const given = Object.fromEntries(Object.entries(limits).filter(([, amount]) => amount !== null));
    await grantCardLimits(tx, cause, { cardId: row.cardId, ownerId: row.ownerId }, given);
    return row.cardId;
  }
  const { ownerId, agentId, usage, purpose, displayName } = row;
  const wish = { cardId: newId('card'), ownerId, agentId, usage: usage ?? 'multi', purpose, displayName, limits };
  const { cardId } = await prepareGrantedCard(tx, cause, wish);
  return cardId;
}

async function refuseSignalWherePasskeyNeeded(tx: Tx, { agentId }: CardRequestRow, { actor }: Cause): Promise<void> {
  if (actor.kind !== 'signal' || !demandsPasskey(await policyOfAgent(tx, agentId))) return;
  throw new DomainError('invalid_state', "the agent's policy demands a passkey; a signal cannot approve it");
}
