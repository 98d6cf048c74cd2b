/** Reads of entries: pages by owner, agent, account or reference, and one entry with its journal's lines. Decides nothing. @module */
import { type Expression, sql } from 'kysely';
import { type Db, type Given, query } from '../../../db/db.ts';
import { type Filters, list, type Order, page } from '../../../db/page.ts';
import type { RowOf } from '../../../db/tables.ts';
import type { Tx } from '../../../db/tx.ts';
import type { Page, PageQuery } from '../../../kernel/page.ts';
import { hasRunningBalance } from './account.rules.ts';
import { type EntryKey, entryIdOf, entryKeyOf } from './entry.rules.ts';
import './ledger.entity.ts';

type Entry = RowOf<'ledger_entries'>;
type Journal = RowOf<'journals'>;
export type EntryView = Readonly<
  Pick<Entry, 'line' | 'account' | 'amountCents' | 'balanceBeforeCents' | 'balanceAfterCents' | 'createdAt'> &
    Pick<Journal, 'ownerId' | 'agentId' | 'kind' | 'referenceType' | 'referenceId' | 'requestId' | 'runId'>
> & { readonly journalId: string; readonly memo: string | null };

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

/** Newest first. Each list has an index that gives its order. */
export function listEntries(tx: Tx, filter: EntryFilter, pageQuery: PageQuery): Promise<Page<EntryView>> {
  if (filter.accounts === undefined) return page(tx, byJournals, filter, pageQuery);
  const [account, ...further] = filter.accounts;
  return account !== undefined && further.length === 0 && hasRunningBalance(account)
    ? page(tx, byVersions, { ...filter, account }, pageQuery)
    : page(tx, byAccounts, filter, pageQuery);
}

type Listed = EntryFilter & { readonly account?: string };

const columns = [
  'j.id as journalId',
  'e.line',
  'j.ownerId',
  'j.agentId',
  'j.kind',
  'e.account',
  'e.amountCents',
  'e.balanceBeforeCents',
  'e.balanceAfterCents',
  'j.referenceType',
  'j.referenceId',
  't.memo',
  'j.requestId',
  'j.runId',
  'e.createdAt',
] as const;

/** With their journals and texts; not yet narrowed to an owner. */
export const entriesOf = (from: Db) =>
  from
    .selectFrom('ledger_entries as e')
    .innerJoin('journals as j', 'j.id', 'e.journalId')
    .leftJoin('journal_texts as t', 't.journalId', 'j.id')
    .select(columns);

/** The part of every list that does not depend on its order. */
function matching(from: Db, given: Filters<Listed>) {
  let wanted = entriesOf(from).where('j.ownerId', '=', given('ownerId'));
  if (given.has('agentId')) wanted = wanted.where('j.agentId', '=', given('agentId'));
  if (given.has('referenceType')) wanted = wanted.where('j.referenceType', '=', given('referenceType'));
  if (given.has('referenceId')) wanted = wanted.where('j.referenceId', '=', given('referenceId'));
  if (given.has('direction'))
    wanted = wanted.where(sql<boolean>`(e.amount_cents > 0) = (${given('direction')} = 'credit')`);
  if (given.has('from')) wanted = wanted.where('e.createdAt', '>=', given('from'));
  if (given.has('to')) wanted = wanted.where('e.createdAt', '<', given('to'));
  return wanted;
}

const cursorOf = (row: EntryView) => ({ createdAt: row.createdAt.toISOString(), id: entryIdOf(row) });
/** The time, the journal and the line that a cursor names. */
const placeOf: Order<EntryView>['valuesOf'] = ({ createdAt, id }) => {
  const key = entryKeyOf(id);
  return [createdAt, key?.journalId, key?.line];
};
const placeTypes = ['timestamptz', 'text', 'bigint'] as const;

/** Walks journals in order: conditions on their own time name the column whose index gives that order. */
const byJournals = list(
  (from, given: Filters<Listed>) => {
    let wanted = matching(from, given);
    if (given.has('from')) wanted = wanted.where('j.createdAt', '>=', given('from'));
    if (given.has('to')) wanted = wanted.where('j.createdAt', '<', given('to'));
    return wanted;
  },
  {
    columns: ['j.createdAt', 'j.id', 'e.line'],
    cursorOf,
    valuesOf: placeOf,
    types: placeTypes,
    isBehind: (_columns, last) =>
      sql<boolean>`((j.created_at, j.id) <= (${last(0)}, ${last(1)})
        and ((j.created_at, j.id) < (${last(0)}, ${last(1)}) or e.line < ${last(2)}))`,
  },
);

/** The order of one account: each entry continues the one before it, also where several have the same time. */
const byVersions = list(
  (from, given: Filters<Listed>) =>
    matching(from, given).where('e.account', '=', given('account')).where('e.accountVersion', 'is not', null),
  {
    columns: ['e.accountVersion'],
    cursorOf,
    valuesOf: (cursor) => placeOf(cursor).slice(1),
    types: placeTypes.slice(1),
    isBehind: (_columns, last) =>
      sql<boolean>`e.account_version < (select account_version from ledger_entries
        where journal_id = ${last(0)} and line = ${last(1)})`,
  },
);

const inTime = { columns: ['e.createdAt', 'e.journalId', 'e.line'], types: placeTypes };

/** The newest of each account, by its index, and of these the newest. */
const byAccounts = list(
  (from, given: Filters<Listed>, cut) => {
    const accounts: Expression<unknown> = given('accounts');
    const ofAccount = cut(matching(from, given).where(sql<boolean>`e.account = a.name`), inTime);
    return from
      .selectFrom(sql<{ name: string }>`unnest(${accounts}::text[])`.as<'a'>(sql`a (name)`))
      .innerJoinLateral(ofAccount.as('e'), (join) => join.onTrue())
      .select([
        'e.journalId',
        'e.line',
        'e.ownerId',
        'e.agentId',
        'e.kind',
        'e.account',
        'e.amountCents',
        'e.balanceBeforeCents',
        'e.balanceAfterCents',
        'e.referenceType',
        'e.referenceId',
        'e.memo',
        'e.requestId',
        'e.runId',
        'e.createdAt',
      ]);
  },
  { ...inTime, cursorOf, valuesOf: placeOf },
);

const lines = query((from, given: Given<{ ownerId: string; journalId: string }>) =>
  entriesOf(from).where('j.ownerId', '=', given('ownerId')).where('j.id', '=', given('journalId')).orderBy('e.line'),
);

/** All lines of the journal that the entry belongs to, in their order. */
export const journalLines = (tx: Tx, ownerId: string, { journalId }: EntryKey): Promise<EntryView[]> =>
  lines.all(tx, { ownerId, journalId });

/** An entry with the other lines of its journal. */
export type EntryWithLines = EntryView & { readonly others: readonly EntryView[] };

export async function findEntry(tx: Tx, ownerId: string, id: string): Promise<EntryWithLines | null> {
  const key = entryKeyOf(id);
  const lines = key === undefined ? [] : await journalLines(tx, ownerId, key);
  const entry = lines.find(({ line }) => line === key?.line);
  return entry === undefined ? null : { ...entry, others: lines.filter((line) => line !== entry) };
}

declare module '../../../http/reaches.ts' {
  interface Records {
    readonly entry: EntryWithLines;
  }
}
