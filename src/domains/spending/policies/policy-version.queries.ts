/** Reads of the versions of policies: pages and one, each with the version before it. No decision is made here. @module */
import { type Db, type Given, query } from '../../../db/db.ts';
import { type Filters, list, page } from '../../../db/page.ts';
import type { Tx } from '../../../db/tx.ts';
import type { Page, PageQuery } from '../../../kernel/page.ts';
import './policy-version.entity.ts';
import { versionCursor } from './policy-version.rules.ts';

const versions = (from: Db) =>
  from
    .selectFrom('policy_versions as v')
    .leftJoin('policy_versions as b', (join) =>
      join.onRef('b.policyId', '=', 'v.policyId').on((on) => on('b.version', '=', on('v.version', '-', 1))),
    )
    .select([
      ...(['v.policyId', 'v.agentId', 'v.version', 'v.terms', 'v.changedBy', 'v.requestId', 'v.changedAt'] as const),
      'b.terms as termsBefore',
    ]);

const one = query((from, given: Given<{ policyId: string; version: number }>) =>
  versions(from).where('v.policyId', '=', given('policyId')).where('v.version', '=', given('version')),
);

export type PolicyVersion = NonNullable<Awaited<ReturnType<typeof one.first>>>;

/** Also of a policy that was removed. */
export const findPolicyVersion = (tx: Tx, policyId: string, version: number): Promise<PolicyVersion | null> =>
  one.first(tx, { policyId, version });

const all = list(
  (from, given: Filters<{ policyId: string }>) => versions(from).where('v.policyId', '=', given('policyId')),
  {
    columns: ['v.version'],
    cursorOf: ({ changedAt, version }) => ({ createdAt: changedAt.toISOString(), id: versionCursor.idOf(version) }),
    valuesOf: ({ id }) => [versionCursor.numberOf(id)],
    types: ['bigint'],
  },
);

/** Latest first. */
export const listPolicyVersions = (tx: Tx, policyId: string, pageQuery: PageQuery): Promise<Page<PolicyVersion>> =>
  page(tx, all, { policyId }, pageQuery);
