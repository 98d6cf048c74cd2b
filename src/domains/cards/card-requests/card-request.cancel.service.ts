/**
 * Cancels the pending requests of an agent; part of the revoking command that closes the agent, so it takes as many
 * statements for twenty as for one.
 * @module
 */
import { db } from '../../../db/db.ts';
import { columnsOf } from '../../../db/tables.ts';
import type { Tx } from '../../../db/tx.ts';
import { recordChanges } from '../../../events/record.ts';
import { actorInWords, type Cause } from '../../../platform/cause.ts';
import { recordTransitions } from '../../../platform/transitions.ts';
import { closeWorkflowRuns } from '../../../platform/workflow-runs.ts';
import { CardRequestSchema } from './card-request.entity.ts';
import { cardRequestWorkflowId } from './card-request.messages.ts';
import { changesOf } from './card-request.service.ts';

type AgentName = { readonly ownerId: string; readonly agentId: string };

/** A decision locks its request before the agent, so the close of an agent does the same. */
export async function lockPendingCardRequestsOf(tx: Tx, { ownerId, agentId }: AgentName): Promise<void> {
  await db(tx)
    .selectFrom('card_requests')
    .select('id')
    .where('ownerId', '=', ownerId)
    .where('agentId', '=', agentId)
    .where('status', '=', 'pending')
    .orderBy('id')
    .forUpdate()
    .execute();
}

/** A request past its deadline is left to its workflow, which marks it expired. Returns how many were cancelled. */
export async function cancelCardRequestsOf(tx: Tx, cause: Cause, { ownerId, agentId }: AgentName): Promise<number> {
  await tx.flush();
  const cancelled = await db(tx)
    .updateTable('card_requests')
    .set({ status: 'cancelled', decidedBy: actorInWords(cause.actor), decidedAt: cause.at, updatedAt: cause.at })
    .where('ownerId', '=', ownerId)
    .where('agentId', '=', agentId)
    .where('status', '=', 'pending')
    .where('expiresAt', '>', cause.at)
    .returning(columnsOf(CardRequestSchema))
    .execute();
  const ids = cancelled.map(({ id }) => id);
  await recordTransitions(tx, 'card_request', ids, { from: 'pending', to: 'cancelled' }, cause);
  await recordChanges(
    tx,
    cause,
    cancelled.flatMap((row) => changesOf(row, 'card_request.decided')),
  );
  await closeWorkflowRuns(tx, ids.map(cardRequestWorkflowId));
  return cancelled.length;
}
