/** Reads of the versions of policies: pages and one, each with the version before it. No decision is made here. @module */
import { type Db, type Given, query } from '../../../db/db.ts';
import { type Filters, list, page } from '../../../db/page.ts';
import type { Tx } from '../../../db/tx.ts';
import { notFound } from '../../../kernel/errors.ts';
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

const isVersion = (text: string): boolean => /^[1-9]\d{0,8}$/.test(text);

type Asked = { readonly n: string; readonly comparedWith?: string | undefined };

/** `n` and `comparedWith` as callers give them; without the latter, the version before. `not_found` for either. */
export async function policyVersion(tx: Tx, policyId: string, { n, comparedWith }: Asked): Promise<PolicyVersion> {
  const versionOf = async (number: string): Promise<PolicyVersion> => {
    const found = isVersion(number) ? await findPolicyVersion(tx, policyId, Number(number)) : null;
    if (found === null) throw notFound(`version of policy ${policyId}`, number);
    return found;
  };
  const version = await versionOf(n);
  if (comparedWith === undefined) return version;
  return { ...version, termsBefore: (await versionOf(comparedWith)).terms };
}

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
