/**
 * What each movement of money posts: the patterns of the book, each balanced by construction. A pattern that may
 * touch what the owner owes is given balances read under lock. Pure; posting them is ledger.service.ts.
 * @module
 */
import { assert } from '../../../kernel/assert.ts';
import { add, type Cents, cents, least, subtract } from '../../../kernel/money.ts';
import {
  type Account,
  agentBudget,
  available,
  external,
  held,
  type Purse,
  receivable,
  wallet,
} from './account.rules.ts';

/** Credit positive, debit negative. */
export type Posting = { readonly account: Account; readonly amountCents: Cents };

type Owned = { readonly ownerId: string };
type Amount = { readonly amountCents: number };
type Drawn = Owned & Amount & { readonly from: Purse };

/** Money that may still be spent becomes money that is spoken for. */
export const authorization = ({ from, amountCents }: Drawn): Posting[] =>
  move(available(from), held(from), amountCents);

/** A hold, or a part of it, is given back: reversed, or grown too old. */
export const release = ({ from, amountCents }: Drawn): Posting[] => move(held(from), available(from), amountCents);

export type Clearing = Drawn & {
  /** What is still held for this authorization; 0 without a live hold. */
  readonly heldCents: number;
  /** The purse's available money, under lock. */
  readonly availableCents: number;
  /** What the owner owes, under lock. */
  readonly receivableCents: number;
  /** The last clearing of its authorization: the rest of the hold is given back. */
  readonly isFinal: boolean;
};

/**
 * The network collects. First from the hold, then from available money, and what is missing the owner owes. The rest
 * of a hold that a final clearing gives back settles what is owed first.
 */
export function clearing({ ownerId, from, amountCents, ...rest }: Clearing): Posting[] {
  const fromHold = least(amountCents, rest.heldCents);
  const beyond = subtract(amountCents, fromHold);
  const fromAvailable = least(beyond, rest.availableCents);
  const left = rest.isFinal ? subtract(rest.heldCents, fromHold) : cents(0);
  const settled = least(left, rest.receivableCents);
  return balanced([
    [held(from), -fromHold - left],
    [available(from), left - settled - fromAvailable],
    [receivable(ownerId), settled - (beyond - fromAvailable)],
    [external('cards', ownerId), amountCents],
  ]);
}

export type Credit = Owned & Amount & { readonly to: Purse; readonly receivableCents: number };

/** Money comes in from outside; what the owner owes is settled first. */
const credit = (source: Account, { ownerId, to, amountCents, receivableCents }: Credit): Posting[] => {
  const settled = least(amountCents, receivableCents);
  return balanced([
    [source, -amountCents],
    [receivable(ownerId), settled],
    [available(to), amountCents - settled],
  ]);
};

/** A top-up through the processor. */
export const fund = (coming: Credit): Posting[] => credit(external('processor', coming.ownerId), coming);
/** The network gives back what it had collected. */
export const refund = (coming: Credit): Posting[] => credit(external('cards', coming.ownerId), coming);

type Between = Amount & { readonly fromWalletId: string; readonly toWalletId: string };

/** From wallet to wallet of one owner. */
export const internalTransfer = ({ fromWalletId, toWalletId, amountCents }: Between): Posting[] =>
  move(available(wallet(fromWalletId)), available(wallet(toWalletId)), amountCents);

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

/** One line per account, none of zero. */
function balanced(lines: readonly (readonly [Account, number])[]): Posting[] {
  assert(add(...lines.map(([, amount]) => amount)) === 0, `lines sum to zero: ${JSON.stringify(lines)}`);
  return lines
    .filter(([, amount]) => amount !== 0)
    .map(([account, amount]) => ({ account, amountCents: cents(amount) }));
}
