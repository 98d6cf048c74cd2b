/**
 * Which lines of an account are booked, by transfers and by entries of their own, so that neither books what the other
 * has. Whoever books lines of an account locks it first: files about one account are booked one after the other.
 * @module
 */
import * as z from 'zod';
import { columnRow } from '../../../db/column-row.ts';
import { rowsOf, runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';

export type BankLine = {
  readonly accountIban: string;
  readonly servicerReference: string;
  readonly direction: 'credit' | 'debit';
};

/** Names the line among what transfers have heard. A bank may give a payment and its return one reference. */
export const causeOfLine = ({ direction, servicerReference }: Omit<BankLine, 'accountIban'>): string =>
  `entry/${direction}/${servicerReference}`;

/** What has booked a line. */
type Booking = { readonly by: 'entry' | 'transfer'; readonly id: string };

export type BookedLines = {
  /** Why nothing else may book the line; undefined when it is new, or `by` books it itself and knows repetitions. */
  whyNot(line: BankLine, by: Booking['by']): string | undefined;
};

const bookedRow = columnRow({
  by: z.enum(['entry', 'transfer']),
  id: z.string(),
  accountIban: z.string(),
  reference: z.string(),
  direction: z.enum(['credit', 'debit']),
});

/** Locks the accounts, before every other lock of the transaction. */
export async function lockBookedLines(tx: Tx, lines: readonly BankLine[]): Promise<BookedLines> {
  const accounts = [...new Set(lines.map(({ accountIban }) => accountIban))];
  if (accounts.length > 0) await runSql(tx, 'select lock_bank_accounts($1::text[])', [accounts]);
  const rows = lines.length === 0 ? [] : await rowsOf(tx, bookedRow, bookedSql, [JSON.stringify(lines.map(namedOf))]);
  const booked = new Map(rows.map(({ by, id, ...line }) => [keyOf(line), { by, id }]));
  return {
    whyNot(line, by) {
      const found = booked.get(keyOf({ ...line, reference: line.servicerReference }));
      return found === undefined || found.by === by ? undefined : `its reference is booked: ${nameOf(found)}`;
    },
  };
}

type Named = { readonly accountIban: string; readonly reference: string; readonly direction: 'credit' | 'debit' };

const namedOf = (line: BankLine) => ({
  accountIban: line.accountIban,
  reference: line.servicerReference,
  direction: line.direction,
  cause: `bank:${causeOfLine(line)}`,
});
const keyOf = ({ accountIban, reference, direction }: Named): string => `${accountIban} ${direction} ${reference}`;
const nameOf = ({ by, id }: Booking): string => (by === 'entry' ? `bank entry ${id}` : `transfer ${id}`);

/** Of the named references: what is booked as an entry, also by an operator, and what a transfer has heard. */
const bookedSql = `
  with named as (
    select distinct * from jsonb_to_recordset($1::jsonb) as r ("accountIban" text, reference text, direction text, cause text)
  ), first as (
    select e.id, e.account_iban, e.servicer_reference as reference, e.direction, e.status
    from named n join bank_entries e
      on e.account_iban = n."accountIban" and e.servicer_reference = n.reference and e.contradicts is null
  )
  select 'entry' as by, id, account_iban, reference, direction from first where status <> 'unbooked'
  union all
  select 'entry', c.id, f.account_iban, f.reference, c.direction
  from first f join bank_entries c on c.contradicts = f.id where c.status <> 'unbooked'
  union all
  select 'transfer', x.id, x.payer_iban, n.reference, n.direction
  from named n
    join transitions t on t.cause_id = n.cause and t.cause_id like 'bank:entry/%' and t.noun in ('transfer', 'transfer_debit')
    join transfers x on x.id = t.row_id and x.payer_iban = n."accountIban"`;
