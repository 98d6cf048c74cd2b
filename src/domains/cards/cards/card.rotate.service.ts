/**
 * Rotates a card: reserves a new card that replaces the old one in one transaction when the processor has issued it.
 * Until then the old card pays, and each change of its state also applies to the new one.
 * @module
 */
import { runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { recordChanges } from '../../../events/record.ts';
import type { ReachedId } from '../../../http/reaches.ts';
import { DomainError } from '../../../kernel/errors.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { Cause } from '../../../platform/cause.ts';
import { CardRow } from './card.entity.ts';
import { lockAgentOf, type OwnedCard } from './card.holder.service.ts';
import { cardWorkflowId } from './card.messages.ts';
import { cardRecords } from './card.queries.ts';
import { insertReservation, type PreparedCard } from './card.reserve.service.ts';
import { whyNotRotated } from './card.rules.ts';
import { applyToCard, lockCard } from './card.service.ts';
import { cardEventData } from './card.wire.ts';

/** `newId`: of the card that takes the place of the other. */
export type Replacement = { readonly newId: Id<'card'>; readonly ownerId: string };
export type PreparedRotation = PreparedCard & { readonly previousCardId: string };

/** Reserves the card that is to take the other's place. A repeat finds the reservation. */
export async function prepareRotation(
  tx: Tx,
  cause: Cause,
  { newId, cardId, ownerId }: Replacement & { readonly cardId: ReachedId<'card'> },
): Promise<PreparedRotation> {
  const known = await findReplacement(tx, { newId, ownerId });
  if (known !== undefined) return known;
  await lockAgentOf(tx, { cardId, ownerId });
  return reserveReplacement(tx, cause, { newId, cardId, ownerId });
}

export async function findReplacement(tx: Tx, { newId, ownerId }: Replacement): Promise<PreparedRotation | undefined> {
  const card = await tx.findOne(CardRow, { id: newId, ownerId });
  if (card?.replacesCardId == null) return undefined;
  return { cardId: newId, workflowId: cardWorkflowId(newId), previousCardId: card.replacesCardId };
}

/** The agent is locked. */
export async function reserveReplacement(
  tx: Tx,
  cause: Cause,
  { newId, cardId, ownerId }: Replacement & OwnedCard,
): Promise<PreparedRotation> {
  const row = await lockCard(tx, cardId, { ownerId });
  const underWay = await runSql(
    tx,
    `select 1 from cards where replaces_card_id = $1 and is_provisioning and status <> 'closed'`,
    [cardId],
  );
  const why = whyNotRotated({ ...row, replacedByCardId: row.replacedByCardId ?? null }, underWay > 0);
  if (why !== undefined) throw new DomainError('invalid_state', why);
  const { agentId, usage } = row;
  // Everything else is taken from the card when its turn comes; its own name avoids a conflict with the other cards.
  const wish = { cardId: newId, ownerId, agentId, usage, name: newId };
  const prepared = await insertReservation(tx, cause, wish, { isPrimary: false, replacesCardId: cardId });
  return { ...prepared, previousCardId: cardId };
}

/** Both are locked, and their agent: the old one closes, the new one is what the old one was. */
export async function takeOver(tx: Tx, cause: Cause, previous: CardRow, row: CardRow): Promise<void> {
  const { status, frozenBy, isPrimary, name, displayName, purpose, scope, earlierCardIds } = previous;
  const { maxTransactionCents, dailyLimitCents, monthlyLimitCents, controls, controlsUpdatedAt } = previous;
  await applyToCard(tx, previous.id, { kind: 'close' }, cause);
  Object.assign(previous, { isPrimary: false, replacedByCardId: row.id });
  await tx.flush();
  Object.assign(row, { status, frozenBy, isPrimary, name, displayName, purpose, scope });
  Object.assign(row, { maxTransactionCents, dailyLimitCents, monthlyLimitCents, controls, controlsUpdatedAt });
  row.earlierCardIds = [...earlierCardIds, previous.id];
}

/** After all other events of the new card. */
export async function recordRotation(tx: Tx, cause: Cause, cardId: string, previousCardId: string): Promise<void> {
  const cards = await cardRecords(tx, [cardId]);
  const changes = cards.map((card) => ({
    event: 'card.rotated' as const,
    ownerId: card.ownerId,
    agentId: card.agentId,
    subjectId: card.id,
    data: { ...cardEventData(card), previousCardId },
    details: { previousCardId },
  }));
  await recordChanges(tx, cause, changes);
}
