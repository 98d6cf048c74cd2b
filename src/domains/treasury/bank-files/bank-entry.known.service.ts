/**
 * What a line of a bank's file says, and which lines are known: two lines with one reference are the same if they say the
 * same of the money. Reads only.
 * @module
 */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import { columnRow } from '../../../db/column-row.ts';
import { centsValue } from '../../../db/row-values.ts';
import { rowsOf } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import type { CalendarDate } from '../../../kernel/calendar-date.ts';
import type { Cents } from '../../../kernel/money.ts';
import { givenId, isSameMoney, type SaidOfLine } from './bank-entry.rules.ts';
import type { BankEntryDetails } from './bank-file.contract.ts';
import type { NotBooked } from './bank-line.service.ts';

export type NewEntry = {
  readonly accountIban: string | null;
  readonly servicerReference: string;
  /** Of one of the payments of an entry: the reference of the entry, if it has one. */
  readonly entryReference: string | null;
  readonly direction: 'credit' | 'debit' | null;
  readonly isReversal: boolean;
  readonly amountCents: Cents | null;
  readonly bookedOn: CalendarDate | null;
  /** Of a credit: the top-up that it may name. */
  readonly reference: string | undefined;
  /** It gives back a payment. */
  readonly isReturn: boolean;
  readonly details: BankEntryDetails;
  /** Why it must not go to a wallet. A credit goes to suspense then, and anything else stays unbooked. */
  readonly refused?: string;
  /** Why it moves nothing. */
  readonly unbooked?: NotBooked;
};

/** What makes two lines with one reference the same. */
export type Content = SaidOfLine & { readonly paymentKey: string | null };
export type KnownLines = ReadonlyMap<string, readonly (Content & { readonly id: string })[]>;

export const placeOf = (line: Pick<NewEntry, 'accountIban' | 'servicerReference'>): string =>
  `${line.accountIban ?? ''} ${line.servicerReference}`;
export const isSame = (one: Content, other: Content): boolean =>
  isSameMoney(one, other) && one.isReversal === other.isReversal && one.paymentKey === other.paymentKey;

export function contentOf(line: NewEntry): Content {
  const checkOf = (text: string | null) =>
    text === null
      ? null
      : createHash('sha256')
          .update(`${placeOf(line)} ${text}`)
          .digest('hex')
          .slice(0, 8);
  const { endToEndId, payerIban } = line.details;
  return {
    direction: line.direction,
    amountCents: line.amountCents,
    isReversal: line.isReversal,
    bookedOn: line.bookedOn,
    paymentKey: paymentKeyOf(line),
    endToEndCheck: checkOf(givenId(endToEndId)),
    payerCheck: checkOf(payerIban),
  };
}

/** What a debit has in common with the money that it brought back. */
export function paymentKeyOf({ accountIban, direction, isReversal, isReturn, details: { endToEndId } }: NewEntry) {
  const isPayment = direction === 'debit' || isReturn;
  if (!isPayment || isReversal || givenId(endToEndId) === null) return null;
  return createHash('sha256').update(`${accountIban} ${endToEndId}`).digest('hex');
}

const knownRow = columnRow({
  id: z.string(),
  accountIban: z.string().nullable(),
  servicerReference: z.string(),
  direction: z.enum(['credit', 'debit']).nullable(),
  amountCents: centsValue.nullable(),
  isReversal: z.boolean(),
  bookedOn: z.string().nullable(),
  paymentKey: z.string().nullable(),
  endToEndCheck: z.string().nullable(),
  payerCheck: z.string().nullable(),
});

/** The lines that have these references: the first one of each, then those that contradict it. */
export async function knownLines(tx: Tx, adapter: string, lines: readonly NewEntry[]): Promise<KnownLines> {
  const named = lines.map(({ accountIban, servicerReference }) => ({ accountIban, servicerReference }));
  const rows = await rowsOf(
    tx,
    knownRow,
    `with named as (
       select distinct * from jsonb_to_recordset($1::jsonb) as r ("accountIban" text, "servicerReference" text)
     ), first as (
       select e.* from named r join bank_entries e
         on e.account_iban = r."accountIban" and e.servicer_reference = r."servicerReference" and e.contradicts is null
       union all
       select e.* from named r join bank_entries e
         on e.account_iban is null and e.adapter = $2 and e.servicer_reference = r."servicerReference"
           and e.contradicts is null
       where r."accountIban" is null
     ), known as (
       select * from first union all select c.* from first f join bank_entries c on c.contradicts = f.id
     )
     select id, account_iban, servicer_reference, direction, amount_cents, is_reversal, booked_on, payment_key,
       end_to_end_check, payer_check
     from known order by contradicts nulls first, created_at, id`,
    [JSON.stringify(named), adapter],
  );
  return Map.groupBy(rows, placeOf);
}

/** `others`: a line before, in this file or an earlier one, has the reference, and none has this content. */
export function sorted(lines: readonly NewEntry[], known: KnownLines) {
  const seen = new Map<string, readonly Content[]>(known);
  const [news, others]: [NewEntry[], NewEntry[]] = [[], []];
  for (const line of lines) {
    const [place, content] = [placeOf(line), contentOf(line)];
    const before = seen.get(place) ?? [];
    if (before.some((one) => isSame(one, content))) continue;
    (before.length === 0 ? news : others).push(line);
    seen.set(place, [...before, content]);
  }
  return { news, others };
}
