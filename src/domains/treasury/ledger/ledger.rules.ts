/**
 * What each movement of money posts: the patterns of the ledger, each balanced by construction. A pattern names the
 * receivable where the owner may come to owe or may owe already; the database function decides by the locked balances.
 * Pure; posting is ledger.service.ts.
 * @module
 */
import { assert } from '../../../kernel/assert.ts';
import { add, type Cents, cents, least, subtract } from '../../../kernel/money.ts';
import {
  type Account,
  agentBudget,
  available,
  external,
  type FundingSource,
  fees,
  held,
  interowner,
  type OwnerAccount,
  receivable,
  suspense,
  wallet,
} from './account.rules.ts';

/** Credit positive, debit negative; never 0. */
export type Posting = {
  readonly account: Account;
  readonly amountCents: Cents;
  /**
   * Only on an `available` account. A debit takes what is available, up to its amount; the rest is owed. A credit
   * settles what is owed first; the rest becomes available. The database function applies this under lock, and locks
   * the receivable only when something is or becomes owed.
   */
  readonly receivable?: OwnerAccount;
};

type Owned = { readonly ownerId: string };
type Amount = { readonly amountCents: number };
type Drawn = Owned & Amount & { readonly from: FundingSource };

/** Money that may still be spent becomes money that is spoken for. */
export const authorization = ({ from, amountCents }: Drawn): Posting[] =>
  move(available(from), held(from), amountCents);

type Released = Drawn & {
  /** Where the money goes that is no longer held; absent: back to where it was held from. */
  readonly restTo?: FundingSource | undefined;
};

/** A hold, or a part of it, is given back: reversed, or grown too old. */
export const release = ({ ownerId, from, restTo = from, amountCents }: Released): Posting[] =>
  balanced([
    [held(from), -amountCents],
    [available(restTo), amountCents, receivable(ownerId)],
  ]);

export type Clearing = Released & {
  /** What is still held for this authorization; 0 without a live hold. */
  readonly heldCents: number;
  /** The last clearing of its authorization: the rest of the hold is given back. */
  readonly isFinal: boolean;
};

/**
 * The network collects. First from the hold, then from available money, and what is missing the owner owes. The rest
 * of a hold that a final clearing gives back settles what is owed first.
 */
export function clearing({ ownerId, from, restTo = from, amountCents, heldCents, isFinal }: Clearing): Posting[] {
  const fromHold = least(amountCents, heldCents);
  const beyond = subtract(amountCents, fromHold);
  const left = isFinal ? subtract(heldCents, fromHold) : 0;
  return balanced([
    [held(from), -fromHold - left],
    [available(restTo), left, receivable(ownerId)],
    [available(from), -beyond, receivable(ownerId)],
    [external('cards', ownerId), amountCents],
  ]);
}

export type Credit = Owned & Amount & { readonly to: FundingSource };

/** Money comes in from outside; what the owner owes is settled first. */
const credit = (source: Account, { ownerId, to, amountCents }: Credit): Posting[] =>
  balanced([
    [source, -amountCents],
    [available(to), amountCents, receivable(ownerId)],
  ]);

/** A top-up through the processor. */
export const fund = (coming: Credit): Posting[] => credit(external('processor', coming.ownerId), coming);
/** The network gives back what it had collected. */
export const refund = (coming: Credit): Posting[] => credit(external('cards', coming.ownerId), coming);

/** A bank has paid out what was held. */
export const bankPayment = ({ ownerId, from, amountCents }: Drawn): Posting[] =>
  move(held(from), external('sepa', ownerId), amountCents);
/** Money that comes from a bank: a return, or a credit from outside. */
export const bankCredit = (coming: Credit): Posting[] => credit(external('sepa', coming.ownerId), coming);

/** A bank transfer without an owner so far, in the operator's book. */
export const toSuspense = ({ ownerId, amountCents }: Owned & Amount): Posting[] =>
  move(external('sepa', ownerId), suspense(ownerId), amountCents);

/** It leaves the operator's book … */
export const leaveSuspense = ({ ownerId, amountCents }: Owned & Amount): Posting[] =>
  move(suspense(ownerId), interowner(ownerId), amountCents);

/** … and comes into that of its owner. */
export const toWalletFromSuspense = (coming: Credit): Posting[] => credit(interowner(coming.ownerId), coming);

/** What the network collected for an unknown card, in the operator's book; negative: what it gave back. */
export const cardSuspense = ({ ownerId, amountCents }: Owned & Amount): Posting[] =>
  move(suspense(ownerId), external('cards', ownerId), amountCents);

/** It is booked on a payment, in the book of that owner, … */
export const leaveCardSuspense = ({ ownerId, amountCents }: Owned & Amount): Posting[] =>
  move(external('cards', ownerId), suspense(ownerId), amountCents);

/** … or nobody's, so that the operator bears it, or keeps it. */
export const writeOffSuspense = ({ ownerId, amountCents }: Owned & Amount): Posting[] =>
  move(fees(ownerId), suspense(ownerId), amountCents);

type Between = Amount & { readonly fromWalletId: string; readonly toWalletId: string };

/** From wallet to wallet of one owner. */
export const internalTransfer = ({ fromWalletId, toWalletId, amountCents }: Between): Posting[] =>
  move(available(wallet(fromWalletId)), available(wallet(toWalletId)), amountCents);

type Transferred = Amount & { readonly from: FundingSource; readonly toWalletId: string };

/** From a wallet or a budget to a wallet of the same owner. */
export const walletTransfer = ({ from, toWalletId, amountCents }: Transferred): Posting[] =>
  move(available(from), available(wallet(toWalletId)), amountCents);

type Budget = Amount & { readonly walletId: string; readonly agentId: string };

/** An owner gives an agent a budget out of a wallet. */
export const agentFund = ({ walletId, agentId, amountCents }: Budget): Posting[] =>
  move(available(wallet(walletId)), available(agentBudget(agentId)), amountCents);

/** The budget goes back, as when the agent is closed. */
export const agentReturn = ({ walletId, agentId, amountCents }: Budget): Posting[] =>
  move(available(agentBudget(agentId)), available(wallet(walletId)), amountCents);

const move = (from: Account, to: Account, amountCents: number): Posting[] =>
  balanced([
    [from, -amountCents],
    [to, amountCents],
  ]);

type Line = readonly [account: Account, amountCents: number, receivable?: OwnerAccount];

/** One line per account, none of zero. */
function balanced(lines: readonly Line[]): Posting[] {
  assert(add(...lines.map(([, amount]) => amount)) === 0, `lines sum to zero: ${JSON.stringify(lines)}`);
  return lines
    .filter(([, amount]) => amount !== 0)
    .map(([account, amount, owed]) => ({
      account,
      amountCents: cents(amount),
      ...(owed === undefined ? {} : { receivable: owed }),
    }));
}
