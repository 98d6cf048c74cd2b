/** The trial balance: the debits and credits of each account, now or up to an instant. Decides nothing. @module */
import * as z from 'zod';
import { centsValue } from '../../../db/row-values.ts';
import { rowsOf } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { type Cents, cents } from '../../../kernel/money.ts';
import { balanceChange } from './account.rules.ts';

export type AccountTotals = {
  readonly account: string;
  readonly debitedCents: Cents;
  readonly creditedCents: Cents;
  readonly balanceCents: Cents;
};

const sumsRow = z.object({ account: z.string(), debitedCents: centsValue, creditedCents: centsValue });

export async function trialBalance(tx: Tx, ownerId: string, asOf: Date | undefined): Promise<AccountTotals[]> {
  const sums = await (asOf === undefined
    ? rowsOf(tx, sumsRow, now, [ownerId])
    : rowsOf(tx, sumsRow, upTo, [ownerId, asOf]));
  return sums.map((row) => ({
    ...row,
    balanceCents: cents(balanceChange(row.account, row.creditedCents - row.debitedCents)),
  }));
}

/** Running accounts keep their sums; those of contra accounts are kept by the sealer, plus what waits for it. */
const now = `
  select name as account, debited_cents as "debitedCents", credited_cents as "creditedCents"
  from ledger_accounts where owner_id = $1
  union all
  select account, sum(debited)::bigint, sum(credited)::bigint from (
    select account, debited_cents as debited, credited_cents as credited from contra_totals where owner_id = $1
    union all
    select e.account, -least(e.amount_cents, 0), greatest(e.amount_cents, 0)
    from unsealed_journals u join ledger_entries e on e.journal_id = u.journal_id
    where u.owner_id = $1 and e.account_version is null
  ) contra group by account
  order by account`;

/** Sums entries: the cost grows with the book's length, which a report about the past may have. */
const upTo = `
  select e.account, -sum(least(e.amount_cents, 0))::bigint as "debitedCents",
    sum(greatest(e.amount_cents, 0))::bigint as "creditedCents"
  from journals j join ledger_entries e on e.journal_id = j.id
  where j.owner_id = $1 and j.created_at <= $2
  group by e.account order by e.account`;
