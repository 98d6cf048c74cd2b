/**
 * Reads of agents that other domains need inside their transactions. Rows that are being created are not visible.
 * @module
 */
import { sql } from 'kysely';
import { type Given, query } from '../../../db/db.ts';
import { countRow } from '../../../db/row-values.ts';
import { oneRowOf } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import type { AgentStatus, RequestSignatures } from './agent.rules.ts';

const agentForShare = query((from, given: Given<{ ownerId: string; agentId: string }>) =>
  from
    .selectFrom('agents')
    .select(['status', 'name'])
    .where('id', '=', given('agentId'))
    .where('ownerId', '=', given('ownerId'))
    .where('isProvisioning', '=', sql.lit(false))
    .forShare(),
);

/** Keeps the agent from moving until this transaction ends; undefined when the owner has no such agent. */
export const lockAgent = async (
  tx: Tx,
  ownerId: string,
  agentId: string,
): Promise<{ readonly status: AgentStatus; readonly name: string } | undefined> =>
  (await agentForShare.first(tx, { ownerId, agentId })) ?? undefined;

const named = query((from, given: Given<{ ownerId: string; agentIds: readonly string[] }>) =>
  from
    .selectFrom('agents')
    .select(['id', 'name'])
    .where('ownerId', '=', given('ownerId'))
    .where(sql<boolean>`id = any(${given('agentIds')}::text[])`)
    .where('isProvisioning', '=', sql.lit(false)),
);

/** Names of these agents of the owner, closed ones too. */
export async function agentNames(
  tx: Tx,
  ownerId: string,
  agentIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const found = await named.all(tx, { ownerId, agentIds });
  return new Map(found.map(({ id, name }) => [id, name]));
}

const open = query((from, given: Given<{ agentId: string }>) =>
  from
    .selectFrom('agents')
    .select('id')
    .where('id', '=', given('agentId'))
    .where('isProvisioning', '=', sql.lit(false))
    .where('status', '<>', sql.lit<AgentStatus>('closed')),
);

/** Whether there is such an agent, of any owner, and it is not closed. */
export const isOpenAgent = async (tx: Tx, agentId: string): Promise<boolean> =>
  (await open.first(tx, { agentId })) !== null;

const signing = query((from, given: Given<{ agentId: string }>) =>
  from
    .selectFrom('agents')
    .select(['ownerId', 'requestSignatures'])
    .where('id', '=', given('agentId'))
    .where('status', '<>', sql.lit<AgentStatus>('closed')),
);

/** Null for a closed agent, whose key is not published any more. */
export const signingAgent = (
  tx: Tx,
  agentId: string,
): Promise<{ readonly ownerId: string; readonly requestSignatures: RequestSignatures } | null> =>
  signing.first(tx, { agentId });

/** Those that take a place in the plan: all but closed ones, also those in the making. */
export async function agentsInPlan(tx: Tx, ownerId: string): Promise<number> {
  const { count } = await oneRowOf(
    tx,
    countRow,
    `select count(*) from agents where owner_id = $1 and status <> 'closed'`,
    [ownerId],
  );
  return count;
}
