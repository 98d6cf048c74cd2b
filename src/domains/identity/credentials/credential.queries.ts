/**
 * Looks up the caller of a hashed secret. A revoked or expired secret has no caller; expiry is in real time.
 * @module
 */
import { runSql } from '../../../db/statement.ts';
import { rows, type Tx } from '../../../db/tx.ts';
import type { Caller } from '../../../http/caller.ts';
import { minute } from '../../../kernel/instant.ts';
import { mayBeUsed, type TokenState } from '../agent-tokens/agent-token.rules.ts';

export type KeyCaller = Extract<Caller, { kind: 'key' }>;
export type AgentCaller = Extract<Caller, { kind: 'agent' }>;
/** `expiresAt`: until when it may be believed without asking again. */
export type Found = { readonly caller: KeyCaller | AgentCaller; readonly expiresAt: Date | null };

export async function keyByHash(tx: Tx, hash: string): Promise<Found | undefined> {
  const [key] = await rows<{ id: KeyCaller['keyId']; owner_id: KeyCaller['ownerId'] }>(
    tx,
    'select id, owner_id from api_keys where secret_hash = $1 and revoked_at is null',
    [hash],
  );
  if (key === undefined) return undefined;
  return { caller: { kind: 'key', ownerId: key.owner_id, keyId: key.id }, expiresAt: null };
}

type TokenFound = TokenState & {
  readonly id: AgentCaller['tokenId'];
  readonly ownerId: AgentCaller['ownerId'];
  readonly agentId: AgentCaller['agentId'];
  readonly scopes: string[];
  readonly lastUsedAt: Date | null;
};

export async function tokenByHash(tx: Tx, hash: string, realNow: Date): Promise<Found | undefined> {
  const [token] = await rows<TokenFound>(
    tx,
    `select id, owner_id as "ownerId", agent_id as "agentId", scopes, expires_at as "expiresAt",
       revoked_at as "revokedAt", last_used_at as "lastUsedAt"
     from agent_tokens where secret_hash = $1`,
    [hash],
  );
  if (token === undefined || !mayBeUsed(token, realNow)) return undefined;
  await noteUse(tx, token, realNow);
  const { ownerId, agentId, id: tokenId, scopes, expiresAt } = token;
  return { caller: { kind: 'agent', ownerId, agentId, tokenId, scopes }, expiresAt };
}

/** To the minute: `lastUsedAt` is for people who tidy up, and must not cost a write per request. */
async function noteUse(tx: Tx, token: TokenFound, realNow: Date): Promise<void> {
  if (token.lastUsedAt !== null && realNow.getTime() - token.lastUsedAt.getTime() < minute) return;
  await runSql(tx, 'update agent_tokens set last_used_at = $2 where id = $1', [token.id, realNow]);
}
