/**
 * The effects of clearings, reversals, refunds and expiry on a transaction: what stays held, what was collected, what is
 * given back. Pure arithmetic over one row; the ledger's patterns choose the accounts.
 * @module
 */
import { day, hour } from '../../../kernel/instant.ts';
import { add, type Cents, cents, least, subtract, zero } from '../../../kernel/money.ts';

export const transactionStatuses = ['pending', 'completed', 'failed', 'reversed'] as const;
export type TransactionStatus = (typeof transactionStatuses)[number];
export const transactionTypes = ['authorization', 'capture', 'refund', 'reversal'] as const;
export type TransactionType = (typeof transactionTypes)[number];
export const rails = ['card', 'mpp', 'cua', 'simulate'] as const;
export type Rail = (typeof rails)[number];

/** The part of a transaction that its rules look at. */
export type TransactionState = {
  readonly status: TransactionStatus;
  readonly type: TransactionType;
  readonly amountCents: number;
  readonly approvedCents: number;
  readonly heldCents: number;
  readonly clearedCents: number;
  /** Of the approved amount, what the network does not collect any more; also where it was not held. */
  readonly reversedCents: number;
  /** Given back of the collected amount, by transactions of their own. */
  readonly refundedCents: number;
  /** The last clearing has come: nothing is held any more. */
  readonly isFinal: boolean;
};

export type TransactionChange = {
  readonly next: TransactionState;
  /** Given back from the hold. */
  readonly releasedCents: Cents;
  /** Collected beyond the hold: from available money, and then owed. */
  readonly beyondCents: Cents;
  /** True exactly once in the life of a transaction. */
  readonly completes: boolean;
  /** Nothing of the authorization is left: its intent is open again. */
  readonly isFullyReversed: boolean;
};

/**
 * The network collects. Never refused: the money has moved. A clearing of 0 moves nothing: it ends the payment where it
 * is final, and is only recorded otherwise.
 */
export function clear(
  state: TransactionState,
  { amountCents, isFinal }: { amountCents: number; isFinal: boolean },
): TransactionChange {
  const fromHold = least(amountCents, state.heldCents);
  const left = subtract(state.heldCents, fromHold);
  const clearedCents = add(state.clearedCents, amountCents);
  if (amountCents === 0 && !isFinal) return { ...nothingGiven(), next: state };
  if (isFinal && clearedCents === 0) return end(state);
  const ends = isFinal || state.isFinal;
  return {
    next: {
      ...state,
      type: 'capture',
      status: ends ? endedStatus(clearedCents, state.refundedCents) : 'pending',
      amountCents: ends ? clearedCents : Math.max(state.amountCents, clearedCents),
      heldCents: isFinal ? 0 : left,
      clearedCents,
      isFinal: ends,
    },
    releasedCents: isFinal ? left : subtract(left, left),
    beyondCents: subtract(amountCents, fromHold),
    completes: ends && !state.isFinal,
    isFullyReversed: false,
  };
}

/** What the network's reversals name; `isWhole`: one of them named no amount, and so meant all that is left. */
export type Reversals = { readonly cents: number; readonly isWhole: boolean };
export const noReversals: Reversals = { cents: 0, isWhole: false };

/**
 * Nothing of this amount is to come any more. Parts add up, because each says what the network does not collect of the
 * amount: several parts are one reversal of their sum, before the amount is approved as afterwards.
 */
export const isReversedWhole = ({ cents: reversedCents, isWhole }: Reversals, amountCents: number): boolean =>
  isWhole || (reversedCents > 0 && reversedCents >= amountCents);

/** `requestedCents`: 0 or absent while the authorization has not come. */
type Reversible = TransactionState & { readonly requestedCents?: number };

/**
 * The network releases a part of what it has not collected yet, or all of it. The collected amount does not change.
 * Reversals add up, whatever is held: a payment may hold less than was approved, and what it holds stays for what is still
 * to come. A part of a payment that was not approved here ends nothing: it is taken off what a late authorization, or an
 * advice, still approves.
 */
export function reverse(state: Reversible, amountCents: number | undefined): TransactionChange {
  if (state.status !== 'pending') return { ...nothingGiven(), next: state };
  const { approvedCents, requestedCents = 0 } = state;
  if (approvedCents === 0) {
    const reversals = { cents: add(state.reversedCents, amountCents ?? 0), isWhole: amountCents === undefined };
    const next = { ...state, reversedCents: reversals.cents };
    const isWhole = requestedCents > 0 ? isReversedWhole(reversals, requestedCents) : reversals.isWhole;
    return isWhole ? end(next) : { ...nothingGiven(), next };
  }
  const isPart = amountCents !== undefined && amountCents < state.approvedCents;
  const toComeCents = isPart ? state.approvedCents - state.clearedCents - state.reversedCents - amountCents : 0;
  if (!isPart || toComeCents <= 0) return end(state);
  const heldCents = least(state.heldCents, toComeCents);
  const reversedCents = add(state.reversedCents, amountCents);
  const next = { ...state, amountCents: subtract(state.approvedCents, reversedCents), heldCents, reversedCents };
  return { ...nothingGiven(subtract(state.heldCents, heldCents)), next };
}

/** It has grown too old: the rest of the hold, if there is any, is given back, and no clearing is waited for. */
export const expire = (state: TransactionState): TransactionChange => end(state);

const nothingGiven = (releasedCents: Cents = zero) => ({
  releasedCents,
  beyondCents: zero,
  completes: false,
  isFullyReversed: false,
});

/** Nothing more is waited for: what is held is given back. A payment that has ended stays as it is. */
function end(state: TransactionState): TransactionChange {
  if (state.status !== 'pending') return { ...nothingGiven(), next: state };
  const nothing = nothingGiven(least(state.heldCents));
  const { clearedCents } = state;
  const reversedCents = Math.max(state.reversedCents, state.approvedCents - clearedCents);
  const ended = { ...state, heldCents: 0, reversedCents };
  if (clearedCents === 0) {
    return { ...nothing, next: { ...ended, status: 'reversed', type: 'reversal' }, isFullyReversed: true };
  }
  const status = endedStatus(clearedCents, state.refundedCents);
  return { ...nothing, next: { ...ended, status, amountCents: clearedCents, isFinal: true }, completes: true };
}

/**
 * The network gives back what it had collected, or what it is still to collect. Never refused: the money has moved. What
 * was spent stays spent; only a payment that is given back whole shows it in its status.
 */
export function refund(state: TransactionState, amountCents: number): TransactionState {
  const refundedCents = add(state.refundedCents, amountCents);
  const status = state.status === 'completed' ? endedStatus(state.clearedCents, refundedCents) : state.status;
  return { ...state, refundedCents, status };
}

/**
 * The network approved in Bursar's place what was declined, or approved for less. Held is what is missing, as far as there is
 * money. Whatever has ended stays as it is; the same state: nothing is missing.
 */
export function advise<State extends TransactionState>(
  state: State,
  { approvedCents, availableCents }: { approvedCents: number; availableCents: number },
): State {
  const missingCents = approvedCents - state.heldCents - state.clearedCents - state.reversedCents;
  const isOpen = state.status === 'pending' || (state.status === 'failed' && !state.isFinal);
  if (!isOpen || missingCents <= 0 || approvedCents <= state.approvedCents) return state;
  return {
    ...state,
    status: 'pending',
    amountCents: subtract(approvedCents, state.reversedCents),
    approvedCents: cents(approvedCents),
    heldCents: add(state.heldCents, least(missingCents, availableCents)),
  };
}

/** The hold grows by what was granted. The decision has found that the payment is open. */
export const increase = <State extends TransactionState>(state: State, grantedCents: number): State => ({
  ...state,
  amountCents: add(state.amountCents, grantedCents),
  approvedCents: add(state.approvedCents, grantedCents),
  heldCents: add(state.heldCents, grantedCents),
});

/** In whatever order clearings and refunds came. */
const endedStatus = (clearedCents: number, refundedCents: number): TransactionStatus =>
  clearedCents > 0 && refundedCents >= clearedCents ? 'reversed' : 'completed';

/** A hold lasts at least the first and at most the second of these times. */
const soonestExpiryMs = hour;
const latestExpiryMs = 90 * day;
const shortHoldMs = 7 * day;
const longHoldMs = 31 * day;
/** Car hire, lodging and cruises hold for the whole journey. */
const longHolds: readonly (readonly [number, number])[] = [
  [3351, 3500],
  [3501, 3999],
  [4411, 4411],
  [7011, 7011],
  [7512, 7513],
];

/** When a hold expires; an expiry in the network's message takes precedence within bounds. */
export function holdExpiry({
  mcc,
  at,
  networkExpiresAt,
}: {
  mcc: string;
  at: Date;
  networkExpiresAt?: Date | undefined;
}): Date {
  const asked = networkExpiresAt === undefined ? 0 : networkExpiresAt.getTime() - at.getTime();
  if (asked >= soonestExpiryMs) return new Date(at.getTime() + Math.min(asked, latestExpiryMs));
  const code = Number(mcc);
  const isLong = longHolds.some(([first, last]) => code >= first && code <= last);
  return new Date(at.getTime() + (isLong ? longHoldMs : shortHoldMs));
}

/** How long an authorization may come after its confirm. */
export const linkWindowMs = 7 * day;

/** Up to this much above the hold is usual (tips, exchange rates); more fires an alert for the owner. */
export const overClearingTolerancePercent = 20;
