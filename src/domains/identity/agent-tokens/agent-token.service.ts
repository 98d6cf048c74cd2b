/**
 * Creates and revokes agent tokens, each in one transaction with its events. The agent's row belongs to another domain
 * and is locked through `lockAgent`, so that no token is created while its agent is being closed.
 * @module
 */
import * as z from 'zod';
import { idValue } from '../../../db/row-values.ts';
import { firstRowOf, rowsOf, runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { type Change, recordChanges } from '../../../events/record.ts';
import type { ReachedId } from '../../../http/reaches.ts';
import { DomainError, notFound } from '../../../kernel/errors.ts';
import type { Id } from '../../../kernel/ids.ts';
import { assertBelowLimit } from '../../../platform/assert-limit.ts';
import type { Cause } from '../../../platform/cause.ts';
import { type Mode, newTokenPrefix } from '../../../platform/mode.ts';
import { mintSecret } from '../credentials/secret.ts';
import { AgentTokenRow } from './agent-token.entity.ts';
import { revokeToken as revokeRule, type TokenStatus, tokenExpiry, whyNoToken } from './agent-token.rules.ts';

/** Keeps the agent as it is until this transaction ends; undefined when the owner has no such agent. */
export type LockAgent = (tx: Tx, ownerId: string, agentId: string) => Promise<{ readonly status: string } | undefined>;

export type TokenOrder = {
  readonly tokenId: Id<'token'>;
  readonly ownerId: Id<'owner'>;
  readonly agentId: ReachedId<'agent'>;
  readonly label: string | undefined;
  readonly scopes: readonly string[];
  readonly expiresInDays: number | undefined;
  readonly mode: Mode;
};

export type CreatedToken = { readonly row: AgentTokenRow; readonly secret: string };

export async function createAgentToken(
  tx: Tx,
  lockAgent: LockAgent,
  order: TokenOrder,
  cause: Cause,
): Promise<CreatedToken> {
  const { tokenId, ownerId, agentId } = order;
  const agent = await lockAgent(tx, ownerId, agentId);
  if (agent === undefined) throw notFound('agent', agentId);
  const why = whyNoToken(agent.status);
  if (why !== undefined) throw new DomainError('invalid_state', why);
  const { secret, hash, hint } = mintSecret(newTokenPrefix(order.mode));
  const known = await tx.findOne(AgentTokenRow, { id: tokenId, agentId });
  if (known !== null) return { row: renewed(known, hash, hint), secret };
  const row = {
    id: tokenId,
    ownerId,
    agentId,
    secretHash: hash,
    hint,
    label: order.label ?? null,
    scopes: [...new Set(order.scopes)],
    expiresAt: tokenExpiry(new Date(), order.expiresInDays),
    createdAt: cause.at,
    revokedAt: null,
    lastUsedAt: null,
  };
  await assertBelowLimit(tx, 'agent_tokens', { ownerId, subject: agentId, at: cause.at });
  await tx.insert(AgentTokenRow, row);
  await recordChanges(tx, cause, [change('agent_token.created', row, 'active')]);
  return { row, secret };
}

/** This very request made the token before, and died before it could show the secret: that one is void. */
function renewed(row: AgentTokenRow, secretHash: string, hint: string): AgentTokenRow {
  if (row.revokedAt != null) throw new DomainError('invalid_state', `token ${row.id} was revoked meanwhile`);
  return Object.assign(row, { secretHash, hint });
}

type TokenName = { readonly ownerId: Id<'owner'>; readonly agentId: ReachedId<'agent'>; readonly tokenId: Id<'token'> };

export async function revokeAgentToken(tx: Tx, name: TokenName, cause: Cause): Promise<void> {
  const { ownerId, agentId, tokenId } = name;
  const row = await firstRowOf(
    tx,
    revokedRow.extend({ revokedAt: z.date().nullable() }),
    `select ${published}, revoked_at as "revokedAt" from agent_tokens
     where id = $1 and agent_id = $2 and owner_id = $3 for update`,
    [tokenId, agentId, ownerId],
  );
  if (row === undefined) throw notFound('token', tokenId);
  const move = revokeRule(row.revokedAt === null ? 'active' : 'revoked');
  if (move.outcome !== 'moved') return;
  await runSql(tx, 'update agent_tokens set revoked_at = $2 where id = $1', [tokenId, cause.at]);
  await recordChanges(tx, cause, [change('agent_token.revoked', row, move.next)]);
}

/** For the closing of an agent: all its live tokens at once, inside that transaction. */
export async function revokeTokensOf(tx: Tx, cause: Cause, agentId: Id<'agent'>): Promise<number> {
  const revoked = await rowsOf(
    tx,
    revokedRow,
    `update agent_tokens set revoked_at = $2 where agent_id = $1 and revoked_at is null returning ${published}`,
    [agentId, cause.at],
  );
  await recordChanges(
    tx,
    cause,
    revoked.map((row) => change('agent_token.revoked', row, 'revoked')),
  );
  return revoked.length;
}

const revokedRow = z.object({
  id: idValue('token'),
  ownerId: idValue('owner'),
  agentId: idValue('agent'),
  scopes: z.array(z.string()),
  expiresAt: z.date().nullable(),
});
type RevokedRow = Pick<AgentTokenRow, 'id' | 'ownerId' | 'agentId' | 'scopes' | 'expiresAt'>;
const published = 'id, owner_id as "ownerId", agent_id as "agentId", scopes, expires_at as "expiresAt"';

const change = (
  event: 'agent_token.created' | 'agent_token.revoked',
  row: RevokedRow,
  status: TokenStatus,
): Change => ({
  event,
  ownerId: row.ownerId,
  agentId: row.agentId,
  subjectId: row.id,
  data: {
    id: row.id,
    ownerId: row.ownerId,
    agentId: row.agentId,
    status,
    scopes: row.scopes,
    expiresAt: row.expiresAt?.toISOString() ?? null,
  },
  details: { scopes: row.scopes },
});
