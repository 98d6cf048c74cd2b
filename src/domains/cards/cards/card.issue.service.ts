/**
 * Stores the answers of the card processor: the issued card, and the states that it has confirmed since. Makes no
 * outbound call: the worker calls the processor between these transactions.
 * @module
 */
import type { Tx } from '../../../db/tx.ts';
import { notFound } from '../../../kernel/errors.ts';
import type { Cause } from '../../../platform/cause.ts';
import { recordTransition } from '../../../platform/transitions.ts';
import { closeWorkflowRun, setWorkflowRunDue } from '../../../platform/workflow-runs.ts';
import type { CardRow } from './card.entity.ts';
import { lockAgentOf } from './card.holder.service.ts';
import { cardWorkflowId } from './card.messages.ts';
import type { CardStateOutcome, IssuedCard } from './card.port.ts';
import { findCard } from './card.queries.ts';
import { recordRotation, takeOver } from './card.rotate.service.ts';
import type { CardStatus } from './card.rules.ts';
import { applyToCard, lockCard, recordCardEvents } from './card.service.ts';

/**
 * What must happen before the card is heard of: its agent becomes visible, if this is its first card; what was to be
 * paid with the card that it replaces is its own from now on.
 */
export type OnActivated = (
  tx: Tx,
  cause: Cause,
  card: { cardId: string; agentId: string; ownerId: string; previousCardId: string | undefined },
) => Promise<unknown>;

/** Stores the processor's answer: from here on the card is visible, unless it was closed meanwhile. */
export async function storeIssuedCard(
  tx: Tx,
  cardId: string,
  issued: IssuedCard,
  at: Date,
  onActivated: OnActivated,
): Promise<CardRow> {
  const reserved = await findCard(tx, cardId);
  if (reserved === null) throw notFound('card', cardId);
  await lockAgentOf(tx, { cardId, ownerId: reserved.ownerId });
  const previousId = reserved.replacesCardId ?? undefined;
  // In the order of ids, as every statement that locks all cards of an agent.
  if (previousId !== undefined && previousId < cardId) await lockCard(tx, previousId);
  const row = await lockCard(tx, cardId);
  if ((row.syncedState ?? null) !== null) return row;
  const previous = previousId === undefined ? undefined : await lockCard(tx, previousId);
  // Closed while its new number was made: no card comes back to life by a rotation.
  if (previous?.status === 'closed')
    Object.assign(row, { status: 'closed', frozenBy: null, closedAt: row.closedAt ?? at });
  const isWanted = row.status !== 'closed';
  const { requestId, runId, actor } = row.origin;
  const cause: Cause = { causeId: `issue/${cardId}`, requestId, runId: runId ?? undefined, actor, at };
  if (isWanted && previous !== undefined) await takeOver(tx, cause, previous, row);
  Object.assign(row, issued, { syncedState: 'active', isProvisioning: !isWanted, updatedAt: at });
  await tx.flush();
  if (row.status === 'active') await setWorkflowRunDue(tx, cardWorkflowId(cardId), null);
  if (!isWanted) return row;
  await recordTransition(tx, 'card', cardId, { from: null, to: row.status }, cause);
  await onActivated(tx, cause, { cardId, agentId: row.agentId, ownerId: row.ownerId, previousCardId: previous?.id });
  await recordCardEvents(tx, cause, [cardId], 'card.issued');
  await recordCardEvents(tx, cause, [cardId], row.status === 'active' ? 'card.activated' : 'card.frozen', {}, false);
  if (previous !== undefined) await recordRotation(tx, cause, cardId, previous.id);
  return row;
}

/** Notes what the processor knows now. A card that the processor has closed is closed here too. */
export async function markSynced(
  tx: Tx,
  cardId: string,
  confirmed: CardStatus,
  outcome: CardStateOutcome,
  at: Date,
): Promise<CardRow> {
  const isClosedThere = outcome.outcome === 'refused' && outcome.reason === 'closed';
  const cause: Cause = { causeId: 'processor', requestId: cardWorkflowId(cardId), actor: { kind: 'system' }, at };
  if (isClosedThere) await applyToCard(tx, cardId, { kind: 'close' }, cause);
  const row = await lockCard(tx, cardId);
  // A processor that does not know the card needs no further message.
  row.syncedState = isClosedThere ? 'closed' : confirmed;
  row.updatedAt = at;
  await tx.flush();
  await (row.syncedState === row.status && row.status === 'closed'
    ? closeWorkflowRun(tx, cardWorkflowId(cardId), { isOwnStep: true })
    : setWorkflowRunDue(tx, cardWorkflowId(cardId), row.syncedState === row.status ? null : at)); // Moved on meanwhile.
  return row;
}
