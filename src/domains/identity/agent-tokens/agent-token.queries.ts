/** Reads of agent tokens; never a secret, nor its hash. @module */
import { rows, type Tx } from '../../../db/tx.ts';

export type ListedToken = {
  id: string;
  agentId: string;
  label: string | null;
  scopes: string[];
  expiresAt: Date | null;
  hint: string;
  createdAt: Date;
  lastUsedAt: Date | null;
  revokedAt: Date | null;
};

const columns = `id, agent_id as "agentId", label, scopes, expires_at as "expiresAt", hint, created_at as "createdAt",
  last_used_at as "lastUsedAt", revoked_at as "revokedAt"`;

export const tokensOfAgent = (tx: Tx, ownerId: string, agentId: string): Promise<ListedToken[]> =>
  rows(
    tx,
    `select ${columns} from agent_tokens where agent_id = $1 and owner_id = $2 order by created_at desc, id desc`,
    [agentId, ownerId],
  );

export const tokensOfOwner = (tx: Tx, ownerId: string): Promise<ListedToken[]> =>
  rows(tx, `select ${columns} from agent_tokens where owner_id = $1 order by created_at desc, id desc`, [ownerId]);
