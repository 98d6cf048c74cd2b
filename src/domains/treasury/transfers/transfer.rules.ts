/** How an amount is divided among the lines of a split, and what may be divided. Pure. @module */
import { add, type Cents, cents, inWords, share, subtract } from '../../../kernel/money.ts';
import { type BankTransferStatus, bankTransferStatuses } from '../sepa/bank-transfer.rules.ts';

export const transferTypes = ['internal', 'sepa'] as const;
export type TransferType = (typeof transferTypes)[number];

/** Between accounts of one owner money moves at once: such a transfer is completed or does not exist. */
export const transferStatuses = bankTransferStatuses;
export type TransferStatus = BankTransferStatus;

/**
 * What becomes of the intent that transfers pay for, a split as one payment: undefined while one of them is under way.
 * Money that left and came back was spent, as a refund is.
 */
export function intentMoveOf(statuses: readonly TransferStatus[]): 'complete' | 'unmatch' | undefined {
  if (statuses.some((status) => underWay.includes(status))) return undefined;
  return statuses.some((status) => status === 'completed' || status === 'returned') ? 'complete' : 'unmatch';
}

const underWay: readonly TransferStatus[] = ['pending_approval', 'pending', 'submitted'];

export const largestTransferCents = 10_000_000;
export const fewestLines = 2;
export const mostLines = 50;

/** An amount or a percentage, at most two decimals of it. */
export type SplitLine = { readonly amountCents?: Cents | undefined; readonly percent?: number | undefined };

export type Division =
  | { readonly ok: true; readonly totalCents: Cents; readonly amountsCents: readonly Cents[] }
  | { readonly ok: false; readonly why: string };

/** `totalCents` is required with percentages; with amounts it must be their sum. */
export function divide(lines: readonly SplitLine[], totalCents: Cents | undefined): Division {
  const amounts = lines.flatMap(({ amountCents }) => amountCents ?? []);
  const percents = lines.flatMap(({ percent }) => percent ?? []);
  if (amounts.length === lines.length && percents.length === 0) return divideByAmounts(amounts, totalCents);
  if (percents.length === lines.length && amounts.length === 0) return divideByPercents(percents, totalCents);
  return refused('body.splits: every line must have an amountEuros, or every line a percent');
}

function divideByAmounts(amountsCents: readonly Cents[], totalCents: Cents | undefined): Division {
  const sum = add(...amountsCents);
  if (totalCents !== undefined && totalCents !== sum) {
    return refused(`body.splits: the lines sum to ${inWords(sum)}, and totalAmountEuros is ${inWords(totalCents)}`);
  }
  if (sum > largestTransferCents) {
    return refused(`body.splits: the lines sum to ${inWords(sum)}; ${inWords(largestTransferCents)} is the limit`);
  }
  return { ok: true, totalCents: sum, amountsCents };
}

/** Each line is rounded down to the cent, and the last one takes the rest, so that nothing is lost or made. */
function divideByPercents(percents: readonly number[], totalCents: Cents | undefined): Division {
  if (totalCents === undefined) return refused('body.totalAmountEuros: is missing; percentages need it');
  const basisPoints = percents.map((percent) => Math.round(percent * 100));
  const sum = basisPoints.reduce((total, points) => total + points, 0);
  if (sum !== 10_000) return refused(`body.splits: the percentages sum to ${inWords(sum)}, not to 100`);
  const before = basisPoints.slice(0, -1).map((points) => share(totalCents, points));
  const amountsCents = [...before, subtract(totalCents, add(...before))];
  const empty = amountsCents.indexOf(cents(0));
  if (empty !== -1) return refused(`body.splits.${empty}.percent: is less than 0.01 of ${inWords(totalCents)}`);
  return { ok: true, totalCents, amountsCents };
}

const refused = (why: string): Division => ({ ok: false, why });
