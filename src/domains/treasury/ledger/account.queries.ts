/** The trial balance: the debits and credits of each account, now or as of a sealed instant. @module */
import * as z from 'zod';
import { centsValue } from '../../../db/row-values.ts';
import { oneRowOf, rowsOf } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { later } from '../../../kernel/instant.ts';
import { type Cents, cents } from '../../../kernel/money.ts';
import { balanceChange } from './account.rules.ts';
import { lastSealedBefore } from './sealed-before.queries.ts';
import { notSealedYet, sealedThrough } from './sealed-through.ts';

export type AccountTotals = {
  readonly account: string;
  readonly debitedCents: Cents;
  readonly creditedCents: Cents;
  readonly balanceCents: Cents;
};

const sumsRow = z.object({ account: z.string(), debitedCents: centsValue, creditedCents: centsValue });

export type TrialBalance = {
  /** Null: now, with what is not sealed yet. */
  readonly asOf: Date | null;
  /** The latest instant that a trial balance can be as of. */
  readonly sealedThrough: Date;
  readonly accounts: readonly AccountTotals[];
};

/** As of an instant it counts what was sealed by then, so that its result never changes. */
export async function trialBalance(tx: Tx, ownerId: string, asOf: Date | undefined): Promise<TrialBalance> {
  const through = await sealedThrough(tx);
  if (asOf === undefined)
    return { asOf: null, sealedThrough: through, accounts: withBalances(await rowsOf(tx, sumsRow, now, [ownerId])) };
  if (asOf > through) throw notSealedYet('asOf', through);
  const [{ through: last }, sequence] = [
    await oneRowOf(tx, lastRow, lastSealed, [ownerId]),
    await lastSealedBefore(tx, ownerId, later(asOf, 1)),
  ];
  const sums = await rowsOf(tx, sumsRow, sequence > last / 2 ? nowWithout : upTo, [ownerId, sequence]);
  return { asOf, sealedThrough: through, accounts: withBalances(sums) };
}

const withBalances = (sums: readonly z.output<typeof sumsRow>[]): AccountTotals[] =>
  sums.map((row) => ({
    ...row,
    balanceCents: cents(balanceChange(row.account, row.creditedCents - row.debitedCents)),
  }));

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

const lastRow = z.object({ through: z.int() });
const lastSealed = 'select coalesce(max(sequence), 0) as through from journal_seals where owner_id = $1';

/** By their index for each journal: a join would read the entries of all owners where it takes many journals. */
const entriesOfJournal = (id: string): string =>
  `lateral (select account, amount_cents from ledger_entries where journal_id = ${id} offset 0)`;

/** Sums the entries before the instant: its cost grows with what the book was then. */
const upTo = `
  select e.account, -sum(least(e.amount_cents, 0))::bigint as "debitedCents",
    sum(greatest(e.amount_cents, 0))::bigint as "creditedCents"
  from journal_seals s, ${entriesOfJournal('s.journal_id')} e
  where s.owner_id = $1 and s.sequence <= $2
  group by e.account order by e.account`;

/** Takes from the sums of now the entries after the instant: its cost grows with what was posted since. */
const nowWithout = `
  select account, sum(debited)::bigint as "debitedCents", sum(credited)::bigint as "creditedCents" from (
    select name as account, debited_cents as debited, credited_cents as credited from ledger_accounts where owner_id = $1
    union all
    select account, debited_cents, credited_cents from contra_totals where owner_id = $1
    union all
    select e.account, least(e.amount_cents, 0), -greatest(e.amount_cents, 0)
    from journal_seals s, ${entriesOfJournal('s.journal_id')} e
    where s.owner_id = $1 and s.sequence > $2
    union all
    select e.account, least(e.amount_cents, 0), -greatest(e.amount_cents, 0)
    from unsealed_journals u join ledger_entries e on e.journal_id = u.journal_id
    where u.owner_id = $1 and e.account_version is not null
  ) part group by account having sum(debited) <> 0 or sum(credited) <> 0 order by account`;
