/** Intent reads: one, and pages by owner or agent. No decision is made here. @module */
import type { FilterQuery } from '@mikro-orm/core';
import type { Tx } from '../../../db/tx.ts';
import type { PageQuery } from '../../../kernel/page.ts';
import { IntentRow } from './intent.entity.ts';
import type { IntentStatus } from './intent.rules.ts';

export const findIntent = (tx: Tx, id: string): Promise<IntentRow | null> =>
  tx.findOne(IntentRow, { id: id as IntentRow['id'] });

export const findByClientId = (tx: Tx, agentId: string, clientIntentId: string): Promise<IntentRow | null> =>
  tx.findOne(IntentRow, { agentId, clientIntentId });

export type IntentFilter = {
  ownerId: string;
  agentId?: string | undefined;
  status?: IntentStatus | undefined;
  now: Date;
};

/** Up to `limit + 1` rows, newest first. */
export async function listIntents(tx: Tx, filter: IntentFilter, { limit, after }: PageQuery): Promise<IntentRow[]> {
  return tx.find(
    IntentRow,
    {
      ownerId: filter.ownerId,
      ...(filter.agentId === undefined ? {} : { agentId: filter.agentId }),
      $and: [ofStatus(filter)],
      ...(after === undefined
        ? {}
        : {
            $or: [
              { createdAt: { $lt: new Date(after.createdAt) } },
              { createdAt: new Date(after.createdAt), id: { $lt: after.id as IntentRow['id'] } },
            ],
          }),
    },
    { orderBy: { createdAt: 'desc', id: 'desc' }, limit: limit + 1 },
  );
}

/** As readers are told it: an open intent that is past its deadline counts as expired. */
function ofStatus({ status, now }: IntentFilter): FilterQuery<IntentRow> {
  if (status === undefined) return {};
  const isPast = { expiresAt: { $lte: now }, matchedTransactionId: null };
  if (status === 'expired') return { $or: [{ status }, { status: { $in: [...openStatuses] }, ...isPast }] };
  return openStatuses.some((open) => open === status) ? { status, $not: isPast } : { status };
}

const openStatuses = ['pending_approval', 'approved'] as const;
