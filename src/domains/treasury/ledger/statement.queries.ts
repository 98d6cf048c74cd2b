/**
 * The statement of one account: its lines over a period of sealing, oldest first, from the opening balance to the
 * closing one. A later statement opens with the closing balance of the one before it, whatever was posted late.
 * @module
 */
import * as z from 'zod';
import { type Given, query } from '../../../db/db.ts';
import { centsValue } from '../../../db/row-values.ts';
import { firstRowOf, rowsOf } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { DomainError } from '../../../kernel/errors.ts';
import { later } from '../../../kernel/instant.ts';
import { type Cents, cents } from '../../../kernel/money.ts';
import { type Page, type PageQuery, pageOf } from '../../../kernel/page.ts';
import { hasRunningBalance } from './account.rules.ts';
import { type EntryView, entriesOf } from './entry.queries.ts';
import { statementCursor } from './entry.rules.ts';
import { lastLineSealedBefore } from './sealed-before.queries.ts';
import { notSealedYet, sealedThrough } from './sealed-through.ts';

export type Statement = {
  readonly account: string;
  readonly from: Date | null;
  /** Lines sealed before this instant. */
  readonly to: Date;
  readonly openingCents: Cents;
  readonly closingCents: Cents;
  readonly lines: Page<EntryView>;
};

export type StatementQuery = {
  readonly ownerId: string;
  readonly account: string;
  readonly from: Date | undefined;
  readonly to: Date | undefined;
};

export async function readStatement(
  tx: Tx,
  { ownerId, account, from, to: asked }: StatementQuery,
  { limit, after }: PageQuery,
): Promise<Statement> {
  await mustBeOwnAccount(tx, ownerId, account);
  const end = later(await sealedThrough(tx), 1);
  const to = asked ?? end;
  if (to > end) throw notSealedYet('to', end);
  if (from !== undefined && from > to) throw new DomainError('invalid_request', 'from: must not be after to');
  const first = from === undefined ? 0 : await lastLineSealedBefore(tx, account, from);
  const last = await lastLineSealedBefore(tx, account, to);
  const balances = await balancesAfter(tx, account, [first, last]);
  const past = after === undefined ? first : statementCursor.numberOf(after.id);
  const lines = hasRunningBalance(account) ? linesByVersion : linesOfContraAccount;
  const rows = await lines.all(tx, { account, ownerId, after: Math.max(first, past), last, most: limit + 1 });
  return {
    account,
    from: from ?? null,
    to,
    openingCents: balances.get(first) ?? cents(0),
    closingCents: balances.get(last) ?? cents(0),
    lines: pageOf(rows, limit, ({ createdAt, version }) => ({
      createdAt: createdAt.toISOString(),
      id: statementCursor.idOf(Number(version)),
    })),
  };
}

async function mustBeOwnAccount(tx: Tx, ownerId: string, account: string): Promise<void> {
  const isKnown = hasRunningBalance(account)
    ? (await known.first(tx, { account, ownerId })) !== null
    : (await firstRowOf(tx, z.object({ account: z.string() }), knownContraAccount, [account, ownerId])) !== undefined;
  if (!isKnown) throw new DomainError('not_found', `no ledger account ${account}`);
}

/** From its first posting on, also before that is sealed. */
const knownContraAccount = `
  select account from contra_totals where account = $1 and owner_id = $2
  union all
  select e.account from unsealed_journals u join ledger_entries e on e.journal_id = u.journal_id
  where u.owner_id = $2 and e.account = $1 and e.account_version is null
  limit 1`;

const known = query((from, given: Given<{ account: string; ownerId: string }>) =>
  from
    .selectFrom('ledger_accounts')
    .select('name')
    .where('name', '=', given('account'))
    .where('ownerId', '=', given('ownerId')),
);

const balanceRow = z.object({ version: z.int(), cents: centsValue });

/** Right after each version, or line of a contra account; before the first entry there is none. */
async function balancesAfter(tx: Tx, account: string, versions: readonly number[]): Promise<Map<number, Cents>> {
  const found = await rowsOf(
    tx,
    balanceRow,
    hasRunningBalance(account)
      ? `select account_version as version, balance_after_cents as cents from ledger_entries
         where account = $1 and account_version = any($2::bigint[])`
      : `select number as version, credited_cents - debited_cents as cents from contra_lines
         where account = $1 and number = any($2::bigint[])`,
    [account, versions],
  );
  return new Map(found.map((row) => [row.version, row.cents]));
}

type Lines = {
  readonly account: string;
  readonly ownerId: string;
  readonly after: number;
  readonly last: number;
  readonly most: number;
};

const linesByVersion = query((from, given: Given<Lines>) =>
  entriesOf(from)
    .select('e.accountVersion as version')
    .where('e.account', '=', given('account'))
    .where('j.ownerId', '=', given('ownerId'))
    .where('e.accountVersion', '>', given('after'))
    .where('e.accountVersion', '<=', given('last'))
    .orderBy('e.accountVersion')
    .limit(given('most')),
);

const linesOfContraAccount = query((from, given: Given<Lines>) =>
  entriesOf(from)
    .innerJoin('contra_lines as c', (join) =>
      join.onRef('c.journalId', '=', 'e.journalId').onRef('c.line', '=', 'e.line'),
    )
    .select('c.number as version')
    .where('c.account', '=', given('account'))
    .where('j.ownerId', '=', given('ownerId'))
    .where('c.number', '>', given('after'))
    .where('c.number', '<=', given('last'))
    .orderBy('c.number')
    .limit(given('most')),
);
