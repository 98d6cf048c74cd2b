/**
 * Looks up the caller of a hashed secret. A revoked or expired secret has no caller; expiry is in real time.
 * @module
 */
import { type Given, query } from '../../../db/db.ts';
import { runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import type { Caller } from '../../../http/caller.ts';
import { minute } from '../../../kernel/instant.ts';
import { mayBeUsed } from '../agent-tokens/agent-token.rules.ts';

export type KeyCaller = Extract<Caller, { kind: 'key' }>;
export type AgentCaller = Extract<Caller, { kind: 'agent' }>;
/** `expiresAt`: until when it may be believed without asking again. */
export type Found = { readonly caller: KeyCaller | AgentCaller; readonly expiresAt: Date | null };

const liveKey = query((from, given: Given<{ hash: string }>) =>
  from
    .selectFrom('api_keys')
    .select(['id', 'ownerId'])
    .where('secretHash', '=', given('hash'))
    .where('revokedAt', 'is', null),
);

export async function keyByHash(tx: Tx, hash: string): Promise<Found | undefined> {
  const key = await liveKey.first(tx, { hash });
  if (key === null) return undefined;
  return { caller: { kind: 'key', ownerId: key.ownerId, keyId: key.id }, expiresAt: null };
}

const tokens = query((from, given: Given<{ hash: string }>) =>
  from
    .selectFrom('agent_tokens')
    .select(['id', 'ownerId', 'agentId', 'scopes', 'expiresAt', 'revokedAt', 'lastUsedAt'])
    .where('secretHash', '=', given('hash')),
);
type TokenFound = Awaited<ReturnType<typeof tokens.all>>[number];

export async function tokenByHash(tx: Tx, hash: string, realNow: Date): Promise<Found | undefined> {
  const token = await tokens.first(tx, { hash });
  if (token === null || !mayBeUsed(token, realNow)) return undefined;
  await noteUse(tx, token, realNow);
  const { ownerId, agentId, id: tokenId, scopes, expiresAt } = token;
  return { caller: { kind: 'agent', ownerId, agentId, tokenId, scopes }, expiresAt };
}

/** To the minute: `lastUsedAt` is for people who tidy up, and must not cost a write per request. */
async function noteUse(tx: Tx, token: TokenFound, realNow: Date): Promise<void> {
  if (token.lastUsedAt !== null && realNow.getTime() - token.lastUsedAt.getTime() < minute) return;
  await runSql(tx, 'update agent_tokens set last_used_at = $2 where id = $1', [token.id, realNow]);
}
