/**
 * A bank that pays out of our accounts by SEPA. It is given a payment once and can be asked what became of it; what
 * happens later it says by its files. Never throws for what happens outside: each answer is an outcome.
 * @module
 */
import type { CalendarDate } from '../../../kernel/calendar-date.ts';
import type { Cents } from '../../../kernel/money.ts';
import type { LocalTime } from './banking-day.rules.ts';
import type { RailLimits, Scheme } from './scheme.rules.ts';

/** Texts are in the character set of SEPA. */
export type BankPayment = {
  /** Names the payment at the bank: the second payment with the same one is the first. */
  readonly endToEndId: string;
  readonly scheme: Scheme;
  readonly amountCents: Cents;
  readonly executionDate: CalendarDate;
  readonly payer: { readonly name: string; readonly iban: string; readonly bic: string | null };
  readonly payee: { readonly name: string; readonly iban: string };
  readonly remittance: string | null;
};

export type SendAnswer =
  /** The bank has it, and has come so far with it. */
  | { readonly outcome: 'taken'; readonly status: 'submitted' | 'accepted' | 'settled' }
  | { readonly outcome: 'rejected'; readonly reasonCode: string }
  /** The bank may have it: ask, and never send again. `why` reads on from "the bank". */
  | { readonly outcome: 'unknown'; readonly why: string };

export type StatusAnswer =
  | { readonly outcome: 'known'; readonly status: 'submitted' | 'accepted' | 'settled' }
  | { readonly outcome: 'rejected'; readonly reasonCode: string }
  /** The bank has no such payment. It can still be on its way. */
  | { readonly outcome: 'not_known' }
  /** No answer, or a bank that says everything by its files. */
  | { readonly outcome: 'no_answer'; readonly why: string };

export type RecallAnswer =
  /** The bank asks the bank of the payee; its answer comes as a return, or does not come. */
  | { readonly outcome: 'requested' }
  | { readonly outcome: 'refused'; readonly why: string }
  | { readonly outcome: 'no_answer'; readonly why: string };

export type BankRail = {
  readonly limits: RailLimits;
  readonly cutOff: LocalTime;
  /** At most one request. Nothing is repeated behind this call. */
  send(payment: BankPayment): Promise<SendAnswer>;
  ask(endToEndId: string): Promise<StatusAnswer>;
  /** Repeatable: a second request for the same payment is the first. `reasonCode`: why, for example `CUST`. */
  recall(endToEndId: string, reasonCode: string): Promise<RecallAnswer>;
  /**
   * Before the first payment of a process: gets ready what payments need. Answers why it is not, for the log; a sentence
   * without its subject, the bank.
   */
  prepare?(): Promise<string | undefined>;
};

/** What the bank said of one payment, however it arrived. */
export type HeardMessage = {
  readonly endToEndId: string;
  readonly kind: 'submitted' | 'accepted' | 'settled' | 'rejected' | 'returned' | 'recalled';
  /** The same one is the same message: the reference of the booked entry, or of the report and its line. */
  readonly cause: string;
  readonly reasonCode: string | null;
  /** Null where a report does not repeat it. */
  readonly amountCents: Cents | null;
  /** Of the entry; null for a report. */
  readonly accountIban: string | null;
  /** The entry took the money from the account, which one entry of a transfer does. */
  readonly isDebit?: boolean;
  /** The entry of which this is one payment; absent where the message is about a whole one. */
  readonly entryCause?: string;
};

/**
 * `refused`: it contradicts what is known, or cannot be about this payment. `contradicts`: it is a message that was heard
 * before, with other content. An operator has to look at both.
 */
export type HeardOutcome =
  | { readonly outcome: 'moved' | 'already' }
  | { readonly outcome: 'refused' | 'contradicts' | 'not_ours'; readonly why: string };
