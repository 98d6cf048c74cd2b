/** Reads of an owner's checkpoints. Decides nothing. @module */
import { rows, type Tx } from '../../../db/tx.ts';
import type { PageQuery } from '../../../kernel/page.ts';
import { checkpointCursor } from './checkpoint.rules.ts';

export type CheckpointView = {
  readonly sequence: number;
  readonly hash: string;
  readonly signature: string;
  readonly root: string;
  readonly rootSignature: string;
  readonly keyId: string;
  readonly createdAt: Date;
};

export const listCheckpoints = (tx: Tx, ownerId: string, { limit, after }: PageQuery): Promise<CheckpointView[]> =>
  rows<CheckpointView>(
    tx,
    `select sequence, hash, signature, root, root_signature as "rootSignature", key_id as "keyId",
       created_at as "createdAt"
     from ledger_checkpoints where owner_id = $1 and ($2::bigint is null or sequence < $2)
     order by sequence desc limit $3`,
    [ownerId, after === undefined ? null : checkpointCursor.numberOf(after.id), limit + 1],
  );
