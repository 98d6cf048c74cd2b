/**
 * Reads of agents that other domains need inside their transactions. Rows that are being created are not visible.
 * @module
 */
import { rows, type Tx } from '../../../db/tx.ts';
import type { AgentStatus } from './agent.rules.ts';

/** Keeps the agent from moving until this transaction ends; undefined when the owner has no such agent. */
export async function lockAgent(
  tx: Tx,
  ownerId: string,
  agentId: string,
): Promise<{ readonly status: AgentStatus; readonly name: string } | undefined> {
  const [row] = await rows<{ status: AgentStatus; name: string }>(
    tx,
    'select status, name from agents where id = $1 and owner_id = $2 and not is_provisioning for share',
    [agentId, ownerId],
  );
  return row;
}

/** Names of these agents of the owner, closed ones too. */
export async function agentNames(
  tx: Tx,
  ownerId: string,
  agentIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const found = await rows<{ id: string; name: string }>(
    tx,
    'select id, name from agents where owner_id = $1 and id = any($2::text[]) and not is_provisioning',
    [ownerId, [...agentIds]],
  );
  return new Map(found.map(({ id, name }) => [id, name]));
}

/** Those that take a place in the plan: all but closed ones, also those in the making. */
export async function agentsInPlan(tx: Tx, ownerId: string): Promise<number> {
  const [row] = await rows<{ count: number }>(
    tx,
    `select count(*) from agents where owner_id = $1 and status <> 'closed'`,
    [ownerId],
  );
  return row?.count ?? 0;
}
