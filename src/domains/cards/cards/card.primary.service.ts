/**
 * What a caller asks of an agent's primary card without naming the card. Locks the agent first, so that a rotation
 * cannot replace the primary card between the read and the change.
 * @module
 */
import type { Tx } from '../../../db/tx.ts';
import type { ReachedId } from '../../../http/reaches.ts';
import { notFound } from '../../../kernel/errors.ts';
import type { Cause } from '../../../platform/cause.ts';
import { lockAgent } from '../../parties/index.ts';
import type { CardRow } from './card.entity.ts';
import { lockNamedAgent } from './card.holder.service.ts';
import { primaryCardOf } from './card.queries.ts';
import { findReplacement, type PreparedRotation, type Replacement, reserveReplacement } from './card.rotate.service.ts';
import type { CardCommand } from './card.rules.ts';
import { applyToCard } from './card.service.ts';

type Holder = { readonly agentId: ReachedId<'agent'>; readonly ownerId: string };

export async function movePrimaryCard(tx: Tx, holder: Holder, command: CardCommand, cause: Cause): Promise<CardRow> {
  if ((await lockAgent(tx, holder.ownerId, holder.agentId)) === undefined) throw notFound('agent', holder.agentId);
  return applyToCard(tx, await primaryOf(tx, holder), command, cause, { ownerId: holder.ownerId });
}

/** A repeat names the card that it replaces: by then the new card may be the primary one itself. */
export async function preparePrimaryRotation(
  tx: Tx,
  cause: Cause,
  { newId, agentId, ownerId }: Replacement & Holder,
): Promise<PreparedRotation> {
  const known = await findReplacement(tx, { newId, ownerId });
  if (known !== undefined) return known;
  await lockNamedAgent(tx, { agentId, ownerId });
  return reserveReplacement(tx, cause, { newId, cardId: await primaryOf(tx, { agentId, ownerId }), ownerId });
}

/** The agent is locked. */
async function primaryOf(tx: Tx, { agentId }: Holder): Promise<string> {
  const card = await primaryCardOf(tx, agentId);
  if (card === null) throw notFound('card of agent', agentId);
  return card.cardId;
}
