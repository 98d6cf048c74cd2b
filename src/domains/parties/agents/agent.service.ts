/**
 * Creates, reads and changes the agent's row in the transaction of a use case, which adds the changes of cards,
 * intents, tokens and money.
 * @module
 */
import { LockMode } from '@mikro-orm/core';
import { runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import type { EventData } from '../../../events/catalog.ts';
import { recordChanges } from '../../../events/record.ts';
import type { ReachedId } from '../../../http/reaches.ts';
import { DomainError, notFound } from '../../../kernel/errors.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { Cause } from '../../../platform/cause.ts';
import { hasMoved, recordTransition } from '../../../platform/transitions.ts';
import { type AgentProfile, AgentRow } from './agent.entity.ts';
import { type AgentCommand, isFinalAgent, moveAgent, type RequestSignatures } from './agent.rules.ts';

export type AgentDraft = {
  readonly agentId: Id<'agent'>;
  readonly ownerId: Id<'owner'>;
  readonly walletId: Id<'wallet'>;
  readonly name: string | undefined;
  readonly externalId: string | null;
  readonly scope: string | null;
  readonly profile: AgentProfile | null;
};

/** Not visible until `agentBecomesVisible`. */
export async function insertAgent(tx: Tx, cause: Cause, draft: AgentDraft): Promise<void> {
  await runSql(
    tx,
    `insert into agents (id, owner_id, name, scope, external_id, profile, status, wallet_id, funding, is_provisioning,
       origin, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6::jsonb, 'active', $7, 'wallet', true, $8::jsonb, $9, $9)`,
    [
      draft.agentId,
      draft.ownerId,
      draft.name ?? `Agent ${draft.agentId.slice(-4)}`,
      draft.scope,
      draft.externalId,
      draft.profile === null ? null : JSON.stringify(draft.profile),
      draft.walletId,
      JSON.stringify({ requestId: cause.requestId, runId: cause.runId, actor: cause.actor }),
      cause.at,
    ],
  );
}

/**
 * Its first card is there: the agent appears and `agent.created` fires, in the name of the caller that requested it.
 * Harmless
 * for an agent that is there already, as when it gets another card.
 */
export async function agentBecomesVisible(tx: Tx, cause: Cause, agentId: Id<'agent'>): Promise<void> {
  const row = await lockRow(tx, { id: agentId });
  if (row === null) throw notFound('agent', agentId);
  if (!row.isProvisioning) return;
  row.isProvisioning = false;
  await tx.flush();
  await recordTransition(tx, 'agent', agentId, { from: null, to: row.status }, cause);
  await recordChanges(tx, { ...cause, ...row.origin }, [
    { event: 'agent.created', ...aboutAgent(row), data: eventDataOf(row) },
  ]);
}

type Named = { readonly ownerId: Id<'owner'>; readonly agentId: ReachedId<'agent'> };
export type MovedAgent = { readonly row: AgentRow; readonly outcome: 'moved' | 'already' };

/** The guarded transition of an agent. Its event is recorded here; the cascade is the use case's. */
export async function moveAgentRow(
  tx: Tx,
  cause: Cause,
  { ownerId, agentId }: Named,
  { command, reason }: { command: AgentCommand; reason?: string | undefined },
): Promise<MovedAgent> {
  const row = await ownedRow(tx, { ownerId, agentId });
  const move = moveAgent(row.status, command, await hasMoved(tx, 'agent', agentId, cause.causeId));
  if (move.outcome === 'refused') throw new DomainError('invalid_state', move.why);
  if (move.outcome === 'already') return { row, outcome: 'already' };
  await recordTransition(tx, 'agent', agentId, { from: row.status, to: move.next }, cause);
  row.status = move.next;
  row.updatedAt = cause.at;
  await tx.flush();
  const details = reason === undefined ? {} : { reason };
  await recordChanges(tx, cause, [{ event: firedBy[command], ...aboutAgent(row), data: eventDataOf(row), details }]);
  return { row, outcome: 'moved' };
}

export type AgentChange = {
  readonly name?: string | undefined;
  readonly externalId?: string | null | undefined;
  readonly scope?: string | null | undefined;
  readonly profile?: AgentProfile | null | undefined;
  readonly requestSignatures?: RequestSignatures | undefined;
};

/** Changes what describes the agent and how it identifies itself; nothing about its rights or its money. */
export async function changeAgent(
  tx: Tx,
  cause: Cause,
  { ownerId, agentId }: Named,
  change: AgentChange,
): Promise<void> {
  const row = await ownedRow(tx, { ownerId, agentId });
  if (isFinalAgent(row.status))
    throw new DomainError('invalid_state', 'this agent is closed for good: it cannot change');
  const wanted = Object.entries(change).filter(([, value]) => value !== undefined);
  const changed = wanted.filter(([field, value]) => !isSame(row[field as keyof AgentChange], value));
  if (changed.length === 0) return;
  Object.assign(row, Object.fromEntries(changed), { updatedAt: cause.at });
  await tx.flush();
  const details = { changed: changed.map(([field]) => field) };
  const data = { ...eventDataOf(row), ...details };
  await recordChanges(tx, cause, [{ event: 'agent.updated', ...aboutAgent(row), data, details }]);
}

/** The agent's signing key was replaced. The use case has locked the row. */
export const recordRotatedKey = (
  tx: Tx,
  cause: Cause,
  row: AgentRow,
  details: Record<string, unknown>,
): Promise<void> =>
  recordChanges(tx, cause, [{ event: 'agent_key.rotated', ...aboutAgent(row), data: eventDataOf(row), details }]);

/** For use cases that decide by the row: locked, and 404 for other owners. */
export async function ownedRow(tx: Tx, { ownerId, agentId }: Named): Promise<AgentRow> {
  const row = await lockRow(tx, { id: agentId, ownerId });
  if (row === null || row.isProvisioning) throw notFound('agent', agentId);
  return row;
}

const lockRow = (
  tx: Tx,
  wanted: { readonly id: Id<'agent'>; readonly ownerId?: Id<'owner'> },
): Promise<AgentRow | null> => tx.findOne(AgentRow, wanted, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });

const firedBy = { freeze: 'agent.frozen', unfreeze: 'agent.unfrozen', close: 'agent.closed' } as const;
const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a ?? null) === JSON.stringify(b ?? null);

/** The name and the profile may name people, so they stay in the row. */
const aboutAgent = (row: AgentRow) => ({ ownerId: row.ownerId, agentId: row.id, subjectId: row.id });

const eventDataOf = (row: AgentRow): EventData<'agent.created'> => ({
  id: row.id,
  agentId: row.id,
  ownerId: row.ownerId,
  status: row.status,
  walletId: row.walletId,
  funding: row.funding,
  requestSignatures: row.requestSignatures,
  createdAt: row.createdAt.toISOString(),
});
