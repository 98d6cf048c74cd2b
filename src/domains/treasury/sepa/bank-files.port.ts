/**
 * The files that are exchanged with a bank, as Bursar uses them. A file that comes in is not trusted: whatever is in it,
 * reading answers with an outcome, and a refusal repeats no name, no IBAN and no text of the file.
 * @module
 */
import type { CalendarDate } from '../../../kernel/calendar-date.ts';
import type { Cents } from '../../../kernel/money.ts';
import type { Scheme } from './scheme.rules.ts';

/** Texts are in the character set of SEPA. */
export type PaymentOrder = {
  readonly endToEndId: string;
  readonly amountCents: Cents;
  readonly payeeName: string;
  readonly payeeIban: string;
  readonly remittance: string | null;
};

/** Payments out of one account, executed on one day. */
export type PaymentInitiation = {
  /** Of the file, and of its only batch. A bank refuses a second file with the same one. */
  readonly messageId: string;
  readonly createdAt: Date;
  readonly scheme: Scheme;
  readonly executionDate: CalendarDate;
  readonly payer: { readonly name: string; readonly iban: string; readonly bic: string | null };
  readonly orders: readonly PaymentOrder[];
};

/** What the bank says about a whole file, a batch in it, or one payment. */
export type StatusLine = {
  readonly about: 'message' | 'batch' | 'payment';
  /** Our message id, batch id or end-to-end id. */
  readonly reference: string;
  /** A code of ISO 20022, for example `RJCT`. */
  readonly status: string;
  readonly reasonCode: string | null;
  /** Of the payment, where the bank repeats it. */
  readonly amountCents: Cents | null;
};

export type StatusReport = {
  readonly kind: 'status_report';
  readonly messageId: string;
  readonly originalMessageId: string;
  readonly lines: readonly StatusLine[];
};

/** One payment on an account; a batch that the bank books as one entry has a line for each. */
export type EntryLine = {
  readonly accountIban: string;
  /** The bank's own reference. The same one in two files is the same line. */
  readonly servicerReference: string;
  /** Of one of the payments of an entry: the bank's reference of the whole entry, if it has one. */
  readonly entryReference: string | null;
  readonly direction: 'credit' | 'debit';
  /** The line takes back an earlier one. */
  readonly isReversal: boolean;
  /** False: the bank only announces it. */
  readonly isBooked: boolean;
  readonly amountCents: Cents;
  readonly bookingDate: CalendarDate | null;
  readonly valueDate: CalendarDate | null;
  readonly endToEndId: string | null;
  readonly returnReasonCode: string | null;
  /** Who paid or was paid. Personal data. */
  readonly counterparty: { readonly name: string | null; readonly iban: string | null };
  /** Free text and the creditor reference (ISO 11649). */
  readonly remittance: { readonly text: string | null; readonly creditorReference: string | null };
};

export type Notification = {
  readonly kind: 'notification';
  readonly messageId: string;
  readonly lines: readonly EntryLine[];
};

export type ReadOutcome =
  | { readonly outcome: 'read'; readonly file: StatusReport | Notification }
  /** Nothing of the file may be used. `why` reads on from "the file". */
  | { readonly outcome: 'refused'; readonly why: string };

export type BankFiles = {
  /** The whole file, valid by its schema. */
  write(initiation: PaymentInitiation): Promise<Uint8Array>;
  /** The whole file is checked before the first line of it is given away. */
  read(bytes: Uint8Array): Promise<ReadOutcome>;
};
