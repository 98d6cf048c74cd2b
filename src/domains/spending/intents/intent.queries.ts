/** Intent reads: one, and pages by owner or agent. No decision is made here. @module */
import type { Tx } from '../../../db/tx.ts';
import type { PageQuery } from '../../../kernel/page.ts';
import { IntentRow } from './intent.entity.ts';
import type { IntentStatus } from './intent.rules.ts';

export const findIntent = (tx: Tx, id: string): Promise<IntentRow | null> =>
  tx.findOne(IntentRow, { id: id as IntentRow['id'] });

export const findByClientId = (tx: Tx, agentId: string, clientIntentId: string): Promise<IntentRow | null> =>
  tx.findOne(IntentRow, { agentId, clientIntentId });

export type IntentFilter = { ownerId: string; agentId?: string | undefined; status?: IntentStatus | undefined };

/** Up to `limit + 1` rows, newest first. */
export async function listIntents(tx: Tx, filter: IntentFilter, { limit, after }: PageQuery): Promise<IntentRow[]> {
  return tx.find(
    IntentRow,
    {
      ownerId: filter.ownerId,
      ...(filter.agentId === undefined ? {} : { agentId: filter.agentId }),
      ...(filter.status === undefined ? {} : { status: filter.status }),
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
