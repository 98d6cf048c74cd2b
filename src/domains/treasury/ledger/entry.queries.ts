/** Reads of entries: pages by owner, agent, account or reference, and one entry with its journal's lines. Decides nothing. @module */
import { rows, type Tx } from '../../../db/tx.ts';
import type { PageQuery } from '../../../kernel/page.ts';
import { hasRunningBalance } from './account.rules.ts';
import { type EntryKey, entryKeyOf } from './entry.rules.ts';

export type EntryView = {
  readonly journalId: string;
  readonly line: number;
  readonly ownerId: string;
  readonly agentId: string | null;
  readonly kind: string;
  readonly account: string;
  readonly amountCents: number;
  readonly balanceBeforeCents: number | null;
  readonly balanceAfterCents: number | null;
  readonly referenceType: string;
  readonly referenceId: string;
  readonly memo: string | null;
  readonly requestId: string;
  readonly runId: string | null;
  readonly createdAt: Date;
};

export type EntryFilter = {
  readonly ownerId: string;
  readonly agentId: string | undefined;
  /** Only these accounts; all when undefined. */
  readonly accounts: readonly string[] | undefined;
  readonly referenceType: string | undefined;
  readonly referenceId: string | undefined;
  readonly direction: 'debit' | 'credit' | undefined;
  readonly from: Date | undefined;
  readonly to: Date | undefined;
};

const columns = `j.id as "journalId", e.line, j.owner_id as "ownerId", j.agent_id as "agentId", j.kind, e.account,
  e.amount_cents as "amountCents", e.balance_before_cents as "balanceBeforeCents",
  e.balance_after_cents as "balanceAfterCents", j.reference_type as "referenceType", j.reference_id as "referenceId",
  t.memo, j.request_id as "requestId", j.run_id as "runId", e.created_at as "createdAt"`;

const journalOf = 'join journals j on j.id = e.journal_id left join journal_texts t on t.journal_id = j.id';

/** Newest first, one more than the page holds. Each list has an index that gives its order. */
export async function listEntries(tx: Tx, filter: EntryFilter, { limit, after }: PageQuery): Promise<EntryView[]> {
  const key = after && entryKeyOf(after.id);
  const params = [
    filter.ownerId,
    filter.agentId ?? null,
    filter.referenceType ?? null,
    filter.referenceId ?? null,
    filter.direction ?? null,
    filter.from ?? null,
    filter.to ?? null,
    after?.createdAt ?? null,
    key?.journalId ?? null,
    key?.line ?? null,
    limit + 1,
  ];
  const { accounts } = filter;
  if (accounts === undefined) return rows<EntryView>(tx, byJournals(filter), params);
  const [only, ...others] = accounts;
  if (only !== undefined && others.length === 0 && hasRunningBalance(only))
    return rows<EntryView>(tx, byVersions, [...params, only]);
  return rows<EntryView>(tx, byAccounts, [...params, [...accounts]]);
}

const conditions = `j.owner_id = $1 and ($2::text is null or j.agent_id = $2)
  and ($3::text is null or j.reference_type = $3) and ($4::text is null or j.reference_id = $4)
  and ($5::text is null or (e.amount_cents > 0) = ($5 = 'credit'))
  and ($6::timestamptz is null or e.created_at >= $6) and ($7::timestamptz is null or e.created_at < $7)`;

/** Walks journals in order; the plain conditions name the column whose index gives that order. */
function byJournals({ agentId, referenceId, referenceType }: EntryFilter): string {
  const walked = [
    agentId !== undefined && 'j.agent_id = $2',
    referenceId !== undefined && 'j.reference_id = $4',
    referenceType !== undefined && 'j.reference_type = $3',
    '($6::timestamptz is null or j.created_at >= $6) and ($7::timestamptz is null or j.created_at < $7)',
    '($8::timestamptz is null or (j.created_at, j.id) <= ($8, $9))',
  ].filter((part) => part !== false);
  return `select ${columns} from journals j join ledger_entries e on e.journal_id = j.id
    left join journal_texts t on t.journal_id = j.id
    where ${conditions} and ${walked.join(' and ')}
      and ($8::timestamptz is null or (j.created_at, j.id) < ($8, $9) or e.line < $10)
    order by j.created_at desc, j.id desc, e.line desc limit $11`;
}

/** The order of one account: each entry continues the one before it, also where several have the same time. */
const byVersions = `select ${columns} from ledger_entries e ${journalOf}
    where e.account = $12 and e.account_version is not null and ${conditions}
      and ($8::timestamptz is null
        or e.account_version < (select account_version from ledger_entries where journal_id = $9 and line = $10))
    order by e.account_version desc limit $11`;

const byAccounts = `select e.* from unnest($12::text[]) a (name) cross join lateral (
    select ${columns} from ledger_entries e ${journalOf}
    where e.account = a.name and ${conditions}
      and ($8::timestamptz is null or (e.created_at, e.journal_id, e.line) < ($8, $9, $10))
    order by e.created_at desc, e.journal_id desc, e.line desc limit $11
  ) e order by e."createdAt" desc, e."journalId" desc, e.line desc limit $11`;

/** All lines of the journal that the entry belongs to, in their order. */
export const journalLines = (tx: Tx, ownerId: string, { journalId }: EntryKey): Promise<EntryView[]> =>
  rows<EntryView>(
    tx,
    `select ${columns} from ledger_entries e ${journalOf} where j.owner_id = $1 and j.id = $2 order by e.line`,
    [ownerId, journalId],
  );
