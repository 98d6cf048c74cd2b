/**
 * Policy reads: one, an agent's, pages of an owner's. Removed policies, and those of agents that are being created, are
 * not returned.
 * @module
 */
import { type NotNull, sql } from 'kysely';
import { type Db, type Given, query } from '../../../db/db.ts';
import { type Filters, list, newestFirst, page } from '../../../db/page.ts';
import { columnsOf } from '../../../db/tables.ts';
import type { Tx } from '../../../db/tx.ts';
import type { Page, PageQuery } from '../../../kernel/page.ts';
import { PolicyRow, PolicySchema } from './policy.entity.ts';
import type { HolderStatus } from './policy.rules.ts';

export const findPolicy = (tx: Tx, id: string): Promise<PolicyRow | null> =>
  tx.findOne(PolicyRow, { id: id as PolicyRow['id'], removedAt: null });

const effective = query((from, given: Given<{ agentId: string }>) =>
  from
    .selectFrom('policies')
    .select(columnsOf(PolicySchema))
    .where('agentId', '=', given('agentId'))
    .where('removedAt', 'is', null),
);
const effectiveLocked = query((from, given: Given<{ agentId: string }>) =>
  from
    .selectFrom('policies')
    .select(columnsOf(PolicySchema))
    .where('agentId', '=', given('agentId'))
    .where('removedAt', 'is', null)
    .forShare(),
);

/** An agent's effective policy, to be read; with a lock it stays as it is until the end of the transaction. */
export const policyOfAgent = (
  tx: Tx,
  agentId: string,
  lock: '' | 'for share' = '',
): Promise<Readonly<PolicyRow> | null> => (lock === '' ? effective : effectiveLocked).first(tx, { agentId });

/** What each of these agents' policies allows above a declared amount, in percent; null where it says nothing. */
export async function tolerancesOf(tx: Tx, agentIds: readonly string[]): Promise<ReadonlyMap<string, number | null>> {
  if (agentIds.length === 0) return new Map();
  const found = await tolerances.all(tx, { agentIds });
  return new Map(found.map(({ agentId, percent }) => [agentId, percent]));
}

const tolerances = query((from, given: Given<{ agentIds: readonly string[] }>) =>
  from
    .selectFrom('policies')
    .select(['agentId', 'amountTolerancePercent as percent'])
    .where(sql<boolean>`agent_id = any(${given('agentIds')}::text[])`)
    .where('removedAt', 'is', null)
    .$narrowType<{ agentId: NotNull }>(),
);

export type PolicyFilter = { ownerId: string; kind?: 'template' | 'agent' | undefined };

const policies = list((from, given: Filters<PolicyFilter>) => {
  const wanted = from
    .selectFrom('policies as p')
    .leftJoin('agents as a', 'a.id', 'p.agentId')
    .select(columnsOf(PolicySchema).map((column) => `p.${column}` as const))
    .where('p.ownerId', '=', given('ownerId'))
    .where('p.removedAt', 'is', null)
    .where(sql<boolean>`a.is_provisioning is not true`);
  return given.has('kind')
    ? wanted.where(sql<boolean>`(${given('kind')}::text = 'template') = (p.agent_id is null)`)
    : wanted;
}, newestFirst('p'));

/** Newest first. */
export const listPolicies = (tx: Tx, filter: PolicyFilter, pageQuery: PageQuery): Promise<Page<PolicyRow>> =>
  page(tx, policies, filter, pageQuery);

export type AgentStanding = { ownerId: string; agentId: string; status: HolderStatus };

const standingOf = (from: Db, given: Given<{ agentId: string }>) =>
  from
    .selectFrom('agents')
    .select(['ownerId', 'id as agentId', 'status'])
    .where('id', '=', given('agentId'))
    .where('isProvisioning', '=', sql.lit(false));

const standing = query(standingOf);
const standingForShare = query((from, given: Given<{ agentId: string }>) => standingOf(from, given).forShare());

/** Who the agent belongs to and whether it may act; null while it is not issued yet. */
export const agentStanding = (tx: Tx, agentId: string, lock: '' | 'for share' = ''): Promise<AgentStanding | null> =>
  (lock === '' ? standing : standingForShare).first(tx, { agentId });

/** The policy of an agent that is not issued yet is as absent as the agent. */
export async function publishedPolicy(tx: Tx, id: string): Promise<PolicyRow | null> {
  const row = await findPolicy(tx, id);
  if (row?.agentId == null) return row;
  return (await agentStanding(tx, row.agentId)) === null ? null : row;
}

declare module '../../../http/reaches.ts' {
  interface Records {
    readonly policy: PolicyRow;
    readonly agent: AgentStanding;
  }
}
