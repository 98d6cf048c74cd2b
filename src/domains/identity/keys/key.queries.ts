/** Reads of API keys; never a secret, nor its hash. @module */
import { rows, type Tx } from '../../../db/tx.ts';
import type { Id } from '../../../kernel/ids.ts';

export type LiveKey = { id: Id<'key'>; label: string | null; hint: string; createdAt: Date };

export const liveKeysOf = (tx: Tx, ownerId: string): Promise<LiveKey[]> =>
  rows<LiveKey>(
    tx,
    `select id, label, hint, created_at as "createdAt" from api_keys
     where owner_id = $1 and revoked_at is null order by created_at desc, id desc`,
    [ownerId],
  );
