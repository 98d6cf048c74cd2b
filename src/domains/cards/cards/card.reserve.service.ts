/**
 * Reserves a card that is not visible yet, with the workflow run that has it issued. Makes no outbound call.
 * @module
 */
import type { Tx } from '../../../db/tx.ts';
import type { Id } from '../../../kernel/ids.ts';
import { centsOrNull } from '../../../kernel/money.ts';
import type { Cause } from '../../../platform/cause.ts';
import { openWorkflowRun } from '../../../platform/workflow-runs.ts';
import { CardRow } from './card.entity.ts';
import { refuseTakenName, takePrimacy } from './card.holder.service.ts';
import { cardWorkflow, cardWorkflowId } from './card.messages.ts';
import type { CardUsage } from './card.port.ts';
import type { CardLimits } from './card.rules.ts';

export type NewCard = {
  readonly cardId: Id<'card'>;
  readonly ownerId: string;
  readonly agentId: string;
  readonly usage: CardUsage;
  /** Unique among the agent's cards that are not closed. */
  readonly name: string;
  readonly displayName?: string | null | undefined;
  readonly purpose?: string | null | undefined;
  readonly scope?: string | null | undefined;
  readonly limits?: CardLimits | undefined;
};
export type PreparedCard = { readonly cardId: Id<'card'>; readonly workflowId: string };

/** Reserves the card, not visible yet, and opens the workflow run that issues it. A repeat finds the reservation. */
export async function prepareCard(tx: Tx, cause: Cause, wish: NewCard): Promise<PreparedCard> {
  const known = await tx.findOne(CardRow, { id: wish.cardId, ownerId: wish.ownerId });
  if (known !== null) return { cardId: wish.cardId, workflowId: cardWorkflowId(wish.cardId) };
  await refuseTakenName(tx, wish);
  return insertReservation(tx, cause, wish, { isPrimary: await takePrimacy(tx, wish.agentId), replacesCardId: null });
}

type Place = { readonly isPrimary: boolean; readonly replacesCardId: string | null };

/** The row and its workflow run. The caller has decided name and primacy. */
export async function insertReservation(
  tx: Tx,
  cause: Cause,
  wish: NewCard,
  { isPrimary, replacesCardId }: Place,
): Promise<PreparedCard> {
  const prepared = { cardId: wish.cardId, workflowId: cardWorkflowId(wish.cardId) };
  tx.create(CardRow, {
    id: wish.cardId,
    ownerId: wish.ownerId,
    agentId: wish.agentId,
    status: 'active',
    usage: wish.usage,
    isPrimary,
    name: wish.name,
    displayName: wish.displayName ?? null,
    purpose: wish.purpose ?? null,
    scope: wish.scope ?? null,
    maxTransactionCents: centsOrNull(wish.limits?.maxTransactionCents),
    dailyLimitCents: centsOrNull(wish.limits?.dailyLimitCents),
    monthlyLimitCents: centsOrNull(wish.limits?.monthlyLimitCents),
    isProvisioning: true,
    replacesCardId,
    earlierCardIds: [],
    origin: { requestId: cause.requestId, runId: cause.runId ?? null, actor: cause.actor },
    version: 1,
    createdAt: cause.at,
    updatedAt: cause.at,
  });
  await tx.flush();
  await openWorkflowRun(tx, {
    id: prepared.workflowId,
    workflow: cardWorkflow,
    subjectId: wish.cardId,
    ownerId: wish.ownerId,
    agentId: wish.agentId,
    stage: 'issuing',
    dueAt: cause.at,
    at: cause.at,
  });
  return prepared;
}
