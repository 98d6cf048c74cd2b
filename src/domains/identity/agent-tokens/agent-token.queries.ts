/** Reads of agent tokens; never a secret, nor its hash. @module */
import { type Db, type Given, query } from '../../../db/db.ts';
import type { Tx } from '../../../db/tx.ts';
import './agent-token.entity.ts';

const tokens = (from: Db) =>
  from
    .selectFrom('agent_tokens')
    .select(['id', 'agentId', 'label', 'scopes', 'expiresAt', 'hint', 'createdAt', 'lastUsedAt', 'revokedAt'])
    .orderBy('createdAt', 'desc')
    .orderBy('id', 'desc');

const ofAgent = query((from, given: Given<{ ownerId: string; agentId: string }>) =>
  tokens(from).where('agentId', '=', given('agentId')).where('ownerId', '=', given('ownerId')),
);
const ofOwner = query((from, given: Given<{ ownerId: string }>) =>
  tokens(from).where('ownerId', '=', given('ownerId')),
);

export type ListedToken = Awaited<ReturnType<typeof ofOwner.all>>[number];

export const tokensOfAgent = (tx: Tx, ownerId: string, agentId: string): Promise<ListedToken[]> =>
  ofAgent.all(tx, { ownerId, agentId });

export const tokensOfOwner = (tx: Tx, ownerId: string): Promise<ListedToken[]> => ofOwner.all(tx, { ownerId });
