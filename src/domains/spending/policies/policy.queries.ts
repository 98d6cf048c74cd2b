/** Policy reads: one, an agent's, pages of an owner's. Removed ones, and those of agents not there yet, do not exist. @module */
import { wholeRow } from '../../../db/plain-rows.ts';
import { rows, type Tx } from '../../../db/tx.ts';
import type { PageQuery } from '../../../kernel/page.ts';
import { PolicyRow } from './policy.entity.ts';
import type { HolderStatus } from './policy.rules.ts';

export const findPolicy = (tx: Tx, id: string): Promise<PolicyRow | null> =>
  tx.findOne(PolicyRow, { id: id as PolicyRow['id'], removedAt: null });

/** An agent's effective policy, to be read; with a lock it stays as it is until the end of the transaction. */
export const policyOfAgent = (
  tx: Tx,
  agentId: string,
  lock: '' | 'for share' = '',
): Promise<Readonly<PolicyRow> | null> =>
  wholeRow(tx, PolicyRow, ['agent_id = ? and removed_at is null', agentId], lock);

/** What each of these agents' policies allows above a declared amount, in percent; null where it says nothing. */
export async function tolerancesOf(tx: Tx, agentIds: readonly string[]): Promise<ReadonlyMap<string, number | null>> {
  if (agentIds.length === 0) return new Map();
  const found = await rows<{ agentId: string; percent: number | null }>(
    tx,
    `select agent_id as "agentId", amount_tolerance_percent::float8 as percent from policies
     where agent_id = any($1::text[]) and removed_at is null`,
    [[...agentIds]],
  );
  return new Map(found.map(({ agentId, percent }) => [agentId, percent]));
}

export type PolicyFilter = { ownerId: string; kind?: 'template' | 'agent' | undefined };

/** Up to `limit + 1` rows, newest first. */
export async function listPolicies(
  tx: Tx,
  { ownerId, kind }: PolicyFilter,
  { limit, after }: PageQuery,
): Promise<PolicyRow[]> {
  const found = await rows<Record<string, unknown>>(
    tx,
    `select p.* from policies p left join agents a on a.id = p.agent_id
     where p.owner_id = $1 and p.removed_at is null and a.is_provisioning is not true
       and ($2::text is null or ($2 = 'template') = (p.agent_id is null))
       and ($3::timestamptz is null or (p.created_at, p.id) < ($3, $4))
     order by p.created_at desc, p.id desc limit $5`,
    [ownerId, kind ?? null, after?.createdAt ?? null, after?.id ?? null, limit + 1],
  );
  return found.map((row) => tx.map(PolicyRow, row));
}

export type AgentStanding = { ownerId: string; agentId: string; status: HolderStatus };

/** Who the agent belongs to and whether it may act; null while it is not issued yet. */
export async function agentStanding(
  tx: Tx,
  agentId: string,
  lock: '' | 'for share' = '',
): Promise<AgentStanding | null> {
  const [agent] = await rows<AgentStanding>(
    tx,
    `select owner_id as "ownerId", id as "agentId", status from agents where id = $1 and not is_provisioning ${lock}`,
    [agentId],
  );
  return agent ?? null;
}
