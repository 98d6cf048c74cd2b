/**
 * Which lines of an account are booked, by transfers and by entries of their own, so that neither books what the other
 * has. Whoever books lines of an account locks it first: files about one account are booked one after the other.
 * @module
 */
import * as z from 'zod';
import { columnRow } from '../../../db/column-row.ts';
import { centsValue } from '../../../db/row-values.ts';
import { rowsOf, runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { add, type Cents, cents } from '../../../kernel/money.ts';

export type BankLine = {
  readonly accountIban: string;
  readonly servicerReference: string;
  /** Of one of the payments of an entry: the reference of the entry, if it has one. */
  readonly entryReference: string | null;
  readonly direction: 'credit' | 'debit';
  readonly amountCents: Cents | null;
};

/** Names the line among what transfers have heard. A bank may give a payment and its return one reference. */
export const causeOfLine = ({
  direction,
  servicerReference,
}: Pick<BankLine, 'direction' | 'servicerReference'>): string => `entry/${direction}/${servicerReference}`;

/** What has booked a line. */
type Booking = {
  readonly by: 'entry' | 'transfer';
  readonly id: string;
  readonly amountCents: Cents | null;
};

export type BookedLines = {
  /**
   * Why `by` may not book the line; undefined when it is new, or `by` books it itself and knows repetitions. Lines that
   * were asked for count for those after them.
   */
  whyNot(line: BankLine, by: Booking['by']): NotBooked | undefined;
};

/** `isOtherMoney`: the bank gave the line a reference that it had used before, so its money is nowhere yet. */
export type NotBooked = { readonly why: string; readonly isOtherMoney: boolean };

const bookedRow = columnRow({
  by: z.enum(['entry', 'transfer']),
  id: z.string(),
  accountIban: z.string(),
  reference: z.string(),
  direction: z.enum(['credit', 'debit']),
  isPart: z.boolean(),
  /** Its reference; null for what a transfer has heard. */
  part: z.string().nullable(),
  amountCents: centsValue,
});

/** Locks the accounts, before every other lock of the transaction. */
export async function lockBookedLines(tx: Tx, lines: readonly BankLine[]): Promise<BookedLines> {
  const accounts = [...new Set(lines.map(({ accountIban }) => accountIban))];
  if (accounts.length > 0) await runSql(tx, 'select lock_bank_accounts($1::text[])', [accounts]);
  const named = JSON.stringify(lines.flatMap(namedOf));
  const rows = lines.length === 0 ? [] : await rowsOf(tx, bookedRow, bookedSql, [named]);
  const mapOf = (some: typeof rows) => new Map<string, Booking>(some.map((row) => [keyOf(row), row]));
  const whole = mapOf(rows.filter(({ isPart }) => !isPart));
  const inParts = new Map<string, Parts>();
  for (const row of rows.filter(({ isPart }) => isPart)) addPart(inParts, keyOf(row), row.part ?? row.id, row);
  const byOther = {
    entry: mapOf(rows.filter(({ isPart, by }) => !isPart && by === 'transfer')),
    transfer: mapOf(rows.filter(({ isPart, by }) => !isPart && by === 'entry')),
  };
  const bookings = new Set(
    rows.filter(({ isPart }) => !isPart).map((row) => `${row.by} ${keyOf(row)} ${row.amountCents}`),
  );
  return {
    whyNot(line, by) {
      const own = keyOf({ ...line, reference: line.servicerReference });
      // What `by` has booked itself it knows as a repetition, also where the bank has used the reference again.
      if (bookings.has(`${by} ${own} ${line.amountCents}`)) return undefined;
      const entry = line.entryReference === null ? undefined : keyOf({ ...line, reference: line.entryReference });
      const other = byOther[by].get(own);
      if (other !== undefined)
        return {
          why: `its reference is booked: ${nameOf(other)}`,
          isOtherMoney: other.amountCents !== line.amountCents,
        };
      const parts = inParts.get(own);
      if (parts !== undefined)
        return {
          why: `the payments of the entry are known separately: ${nameOf(parts.first)}`,
          isOtherMoney: add(...parts.centsOf.values()) !== line.amountCents,
        };
      const ofEntry = entry === undefined ? undefined : whole.get(entry);
      if (ofEntry !== undefined)
        return { why: `its entry is booked as a whole: ${nameOf(ofEntry)}`, isOtherMoney: false };
      const booking: Booking = { by, id: 'of the same file', amountCents: line.amountCents };
      if (entry === undefined) whole.set(own, booking);
      else addPart(inParts, entry, line.servicerReference, booking);
      return undefined;
    },
  };
}

/**
 * The payments of an entry that are known, booked or not. They sum to the entry, so one with another amount is other
 * money: the bank has used the reference of the entry again, or an early version took a reference with a slash for that
 * of a payment.
 */
type Parts = { readonly first: Booking; readonly centsOf: Map<string, Cents> };

function addPart(all: Map<string, Parts>, entry: string, part: string, booking: Booking): void {
  const parts = all.get(entry) ?? { first: booking, centsOf: new Map() };
  all.set(entry, parts);
  parts.centsOf.set(part, booking.amountCents ?? cents(0));
}

type Named = { readonly accountIban: string; readonly reference: string; readonly direction: 'credit' | 'debit' };

/** Each reference that it has. */
function namedOf(line: BankLine) {
  const { accountIban, direction, servicerReference, entryReference } = line;
  return [servicerReference, ...(entryReference === null ? [] : [entryReference])].map((reference) => {
    const cause = `bank:${causeOfLine({ direction, servicerReference: reference })}`;
    return { accountIban, direction, reference, cause };
  });
}
const keyOf = ({ accountIban, reference, direction }: Named): string => `${accountIban} ${direction} ${reference}`;
const nameOf = ({ by, id }: Pick<Booking, 'by' | 'id'>): string =>
  by === 'entry' ? `bank entry ${id}` : `transfer ${id}`;

/**
 * Of the named references: what is booked as an entry, also by an operator, what a transfer has heard, and the payments
 * of an entry, booked or not.
 */
const bookedSql = `
  with named as (
    select distinct *
    from jsonb_to_recordset($1::jsonb) as r ("accountIban" text, reference text, direction text, cause text)
  ), first as (
    select e.id, e.account_iban, e.servicer_reference as reference, e.direction, e.status, e.amount_cents
    from named n join bank_entries e
      on e.account_iban = n."accountIban" and e.servicer_reference = n.reference and e.contradicts is null
  )
  select 'entry' as by, id, account_iban, reference, direction, false as is_part, null as part, amount_cents
  from first where status <> 'unbooked'
  union all
  select 'entry', c.id, f.account_iban, f.reference, c.direction, false, null, c.amount_cents
  from first f join bank_entries c on c.contradicts = f.id where c.status <> 'unbooked'
  union all
  select 'entry', e.id, e.account_iban, e.entry_reference, e.direction, true, e.servicer_reference, e.amount_cents
  from named n join bank_entries e
    on e.account_iban = n."accountIban" and e.entry_reference = n.reference and e.direction = n.direction
  where e.contradicts is null
  union all
  select 'transfer', x.id, x.payer_iban, n.reference, n.direction, t.noun = 'transfer_entry', null, x.amount_cents
  from named n
    join transitions t on t.cause_id = n.cause and t.cause_id like 'bank:entry/%'
      and t.noun in ('transfer', 'transfer_debit', 'transfer_entry')
    join transfers x on x.id = t.row_id and x.payer_iban = n."accountIban"`;
