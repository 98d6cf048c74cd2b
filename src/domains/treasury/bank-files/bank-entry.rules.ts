/**
 * Where the money of an incoming credit goes: to the top-up that it names, to the wallet of its account, or into
 * suspense until an operator assigns it. Pure.
 * @module
 */
import type { Id } from '../../../kernel/ids.ts';
import type { Cents } from '../../../kernel/money.ts';
import { isCreditorReference } from '../funding/creditor-reference.rules.ts';
import { largestPaymentCents } from '../sepa/scheme.rules.ts';
import type { WalletStatus } from '../wallets/wallet.rules.ts';

/**
 * `credited`: in a wallet. `suspense`: booked, without an owner. `assigned`: moved from suspense to a wallet. `unbooked`:
 * money that left, or news that contradicts what is known: nothing is moved, an operator looks at it.
 */
export const bankEntryStatuses = ['credited', 'suspense', 'assigned', 'unbooked'] as const;
export type BankEntryStatus = (typeof bankEntryStatuses)[number];

/** An unbooked credit can be assigned where nothing else has its money. */
export const isAssignable = ({ status, assignable }: { status: BankEntryStatus; assignable: boolean }): boolean =>
  status === 'suspense' || (status === 'unbooked' && assignable);

/** Whose book holds what belongs to no owner that is known. */
export const operatorOwnerId = 'own_operator';

export type CreditedWallet = {
  readonly id: Id<'wallet'>;
  readonly ownerId: Id<'owner'>;
  readonly status: WalletStatus;
};
export type NamedFunding = {
  readonly id: Id<'funding'>;
  readonly amountCents: Cents;
  readonly status: 'pending' | 'completed';
  readonly wallet: CreditedWallet;
};

export type CreditTarget =
  /** `fundingId`: the top-up that this completes. */
  | { readonly to: 'wallet'; readonly wallet: CreditedWallet; readonly fundingId: Id<'funding'> | null }
  | { readonly to: 'suspense'; readonly why: string };

type Credit = {
  readonly amountCents: Cents;
  /** Of the account that was paid to. */
  readonly wallet: CreditedWallet | undefined;
  readonly funding: NamedFunding | undefined;
};

/** Any payer can write a reference, so it never leads away from the owner of the account that was paid to. */
export function creditTarget({ amountCents, wallet, funding }: Credit): CreditTarget {
  const isForFunding = funding !== undefined && (wallet === undefined || wallet.ownerId === funding.wallet.ownerId);
  if (isForFunding && funding.wallet.status !== 'closed') {
    const completes = funding.status === 'pending' && funding.amountCents === amountCents;
    return { to: 'wallet', wallet: funding.wallet, fundingId: completes ? funding.id : null };
  }
  if (wallet === undefined) return { to: 'suspense', why: 'no wallet has this account, and no top-up this reference' };
  if (wallet.status === 'closed') return { to: 'suspense', why: 'the wallet with this account is closed' };
  return { to: 'wallet', wallet, fundingId: null };
}

/** Amounts that no payment has cannot be booked. */
export const isBookable = (amountCents: number): boolean => amountCents > 0 && amountCents <= largestPaymentCents;

/** `NOTPROVIDED` stands where the payer gave none. */
export const givenId = (endToEndId: string | null): string | null => (endToEndId === 'NOTPROVIDED' ? null : endToEndId);

/** `…Check`: a short hash; null where the bank does not say it. */
export type SaidOfLine = {
  readonly direction: 'credit' | 'debit' | null;
  readonly amountCents: Cents | null;
  readonly isReversal: boolean;
  readonly bookedOn: string | null;
  readonly endToEndCheck: string | null;
  readonly payerCheck: string | null;
};

/**
 * Of two lines with one reference. A bank may tell a line first without its details, and write names and texts in other
 * ways; what it says in both files of day, end-to-end id and payer's account does not change once the line is booked.
 */
export function isSameMoney(one: SaidOfLine, other: SaidOfLine): boolean {
  const differs = (name: 'bookedOn' | 'endToEndCheck' | 'payerCheck') =>
    one[name] !== null && other[name] !== null && one[name] !== other[name];
  const isOther = differs('bookedOn') || differs('endToEndCheck') || differs('payerCheck');
  return one.direction === other.direction && one.amountCents === other.amountCents && !isOther;
}

type Remittance = { readonly text: string | null; readonly creditorReference: string | null };

/** The top-up that a payer names, in its field or within the text, where people write it in groups. */
export function namedReference({ text, creditorReference }: Remittance): string | undefined {
  const written = (creditorReference ?? '').replace(/\s/g, '').toUpperCase();
  if (isCreditorReference(written)) return written;
  const words = (text ?? '').toUpperCase().split(/[^0-9A-Z]+/);
  for (const index of words.keys()) {
    let joined = '';
    for (const part of words.slice(index, index + 8)) {
      joined += part;
      // A reference of Bursar has 25 characters; a shorter one that fits is another sender's.
      if (joined.length === 25 && isCreditorReference(joined)) return joined;
    }
  }
  return undefined;
}
