/** Card request reads: one, and pages by owner or agent. No decision is made here. @module */
import type { FilterQuery } from '@mikro-orm/core';
import type { Tx } from '../../../db/tx.ts';
import type { PageQuery } from '../../../kernel/page.ts';
import { CardRequestRow } from './card-request.entity.ts';
import type { CardRequestStatus, CardRequestType } from './card-request.rules.ts';

/** To be read: lock the row before changing it. */
export const findCardRequest = (tx: Tx, id: string): Promise<CardRequestRow | null> =>
  tx.findOne(CardRequestRow, { id: id as CardRequestRow['id'] }, { refresh: true });

export type CardRequestFilter = {
  readonly ownerId: string;
  readonly agentId?: string | undefined;
  readonly type?: CardRequestType | undefined;
  readonly status?: CardRequestStatus | undefined;
  readonly now: Date;
};

/** Up to `limit + 1` rows, newest first. */
export function listCardRequests(
  tx: Tx,
  { ownerId, agentId, type, status, now }: CardRequestFilter,
  { limit, after }: PageQuery,
): Promise<CardRequestRow[]> {
  const conditions: FilterQuery<CardRequestRow>[] = [{ ownerId }];
  if (agentId !== undefined) conditions.push({ agentId });
  if (type !== undefined) conditions.push({ type });
  if (status !== undefined) conditions.push(ofStatus(status, now));
  if (after !== undefined) {
    const createdAt = new Date(after.createdAt);
    const id = after.id as CardRequestRow['id'];
    conditions.push({ $or: [{ createdAt: { $lt: createdAt } }, { createdAt, id: { $lt: id } }] });
  }
  return tx.find(
    CardRequestRow,
    { $and: conditions },
    { orderBy: { createdAt: 'desc', id: 'desc' }, limit: limit + 1 },
  );
}

/** A pending request that is past its deadline counts as expired. */
function ofStatus(status: CardRequestStatus, now: Date): FilterQuery<CardRequestRow> {
  if (status === 'pending') return { status, expiresAt: { $gt: now } };
  if (status === 'expired') return { $or: [{ status }, { status: 'pending', expiresAt: { $lte: now } }] };
  return { status };
}
