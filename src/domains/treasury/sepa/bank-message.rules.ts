/**
 * What a line of a bank's file means for a transfer, and whether it can be about it at all. Pure.
 * @module
 */
import type { Id } from '../../../kernel/ids.ts';
import { inWords } from '../../../kernel/money.ts';
import type { EntryLine, StatusLine } from './bank-files.port.ts';
import type { BankMessageKind } from './bank-transfer.rules.ts';
import { transferIdOf } from './end-to-end-id.rules.ts';

const kindOfStatus: Readonly<Record<string, BankMessageKind>> = {
  RCVD: 'submitted',
  PDNG: 'submitted',
  ACTC: 'submitted',
  ACCP: 'accepted',
  ACWC: 'accepted',
  ACSP: 'accepted',
  ACSC: 'settled',
  ACCC: 'settled',
  RJCT: 'rejected',
  CANC: 'rejected',
};

/** Undefined for a status that says nothing of a single payment, for example `PART`. */
export const statusMeaning = ({ status }: Pick<StatusLine, 'status'>): BankMessageKind | undefined =>
  Object.hasOwn(kindOfStatus, status) ? kindOfStatus[status] : undefined;

export type EntryMeaning =
  | { readonly meaning: 'transfer'; readonly transferId: Id<'transfer'>; readonly kind: BankMessageKind }
  /** Money from outside, which no transfer of ours explains. */
  | { readonly meaning: 'incoming' }
  /** Booked, and neither of a transfer nor incoming: an operator has to look at it. */
  | { readonly meaning: 'unexplained' }
  /** Moves nothing. */
  | { readonly meaning: 'none'; readonly why: string };

/** The code of money that is given back because it was recalled. */
const followsRecall = 'FOCR';

export function entryMeaning(line: EntryLine, isOurAccount: (iban: string) => boolean): EntryMeaning {
  if (!isOurAccount(line.accountIban)) return { meaning: 'none', why: 'it is of an account that is not ours' };
  if (!line.isBooked) return { meaning: 'none', why: 'it is announced, not booked' };
  const transferId = line.endToEndId === null ? undefined : transferIdOf(line.endToEndId);
  if (line.isReversal) return { meaning: 'unexplained' };
  if (line.direction === 'debit')
    return transferId === undefined ? { meaning: 'unexplained' } : { meaning: 'transfer', transferId, kind: 'settled' };
  if (line.returnReasonCode === null) return { meaning: 'incoming' };
  if (transferId === undefined) return { meaning: 'unexplained' };
  return { meaning: 'transfer', transferId, kind: line.returnReasonCode === followsRecall ? 'recalled' : 'returned' };
}

export type SentPayment = { readonly amountCents: number; readonly payerIban: string };

/** Undefined when the line can be about the payment. An end-to-end id alone is not believed: any payer can write one. */
export function mismatchOf(
  sent: SentPayment,
  line: { readonly amountCents: number | null; readonly accountIban?: string },
): string | undefined {
  if (line.amountCents !== null && line.amountCents !== sent.amountCents)
    return `its amount is ${inWords(line.amountCents)}, the payment's ${inWords(sent.amountCents)}`;
  if (line.accountIban !== undefined && line.accountIban !== sent.payerIban)
    return 'it is of another account than the payment';
  return undefined;
}
