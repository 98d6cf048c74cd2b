/** Reads of API keys; never a secret, nor its hash. @module */
import { type Given, query } from '../../../db/db.ts';
import type { Tx } from '../../../db/tx.ts';
import type { Id } from '../../../kernel/ids.ts';

const liveKeys = query((from, given: Given<{ ownerId: string }>) =>
  from
    .selectFrom('api_keys')
    .select(['id', 'label', 'hint', 'createdAt'])
    .where('ownerId', '=', given('ownerId'))
    .where('revokedAt', 'is', null)
    .orderBy('createdAt', 'desc')
    .orderBy('id', 'desc'),
);
export type LiveKey = Awaited<ReturnType<typeof liveKeys.all>>[number];

export const liveKeysOf = (tx: Tx, ownerId: string): Promise<LiveKey[]> => liveKeys.all(tx, { ownerId });

const lockedKeys = query((from, given: Given<{ ownerId: string }>) =>
  from
    .selectFrom('api_keys')
    .select('id')
    .where('ownerId', '=', given('ownerId'))
    .where('revokedAt', 'is', null)
    .orderBy('id')
    .forUpdate(),
);

/** All live keys of the owner, locked. */
export const lockLiveKeys = (tx: Tx, ownerId: string): Promise<{ readonly id: Id<'key'> }[]> =>
  lockedKeys.all(tx, { ownerId });
