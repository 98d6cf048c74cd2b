/**
 * Which declared intent a charge belongs to: by amount (at or below always fits, above only within the tolerance) and
 * by merchant, with its category and country where a person was shown them. Pure; the caller passes the open intents of the card.
 * @module
 */
import { add, type Cents, inWords, percentOf } from '../../../kernel/money.ts';
import { isKnown, isPaidBy, isSameMerchant, type MerchantFacts, merchantInWords } from './merchant-match.rules.ts';

export type MatchableIntent = {
  readonly id: string;
  readonly expectedAmountCents: number;
  readonly expectedMerchant?: string | null | undefined;
  /** Of the charge that a person was asked about. An intent that an agent declares names neither. */
  readonly expectedMcc?: string | undefined;
  readonly expectedCountry?: string | undefined;
  /** A recurring intent's own tolerance, up to the policy's if it has one; otherwise the policy's. */
  readonly tolerancePercent?: number | null | undefined;
  readonly isRecurring?: boolean | undefined;
  /** Why it cannot be charged now, in words: a recurring one outside its windows, or in one that is paid for. */
  readonly closedBecause?: string | undefined;
};
export type Charge = {
  readonly amountCents: number;
  readonly merchant?: MerchantFacts | undefined;
  readonly mcc?: string | null | undefined;
  readonly country?: string | null | undefined;
  /** Initiated by the merchant under a standing agreement. */
  readonly recurring?: boolean | undefined;
};

export type IntentMatch<I> =
  | { readonly outcome: 'matched'; readonly intent: I; readonly reason: string }
  /** `intent` is the nearest one, and `misfits` say why it does not fit. */
  | { readonly outcome: 'mismatched'; readonly intent: I; readonly misfits: readonly Misfit[]; readonly reason: string }
  | { readonly outcome: 'none'; readonly reason: string };

export type Misfit = { readonly field: 'amount' | 'merchant' | 'mcc' | 'country' | 'window'; readonly reason: string };

/**
 * Chooses among the intents that fit a charge: best match of the merchant, then nearest amount, then same kind of
 * payment; in a tie, the first given. A charge under a standing agreement matches a recurring intent first.
 */
export function matchIntent<I extends MatchableIntent>(
  intents: readonly I[],
  charge: Charge,
  tolerancePercent: number | null | undefined,
): IntentMatch<I> {
  const evaluated = intents.map((intent) => ({
    intent,
    misfits: misfitsOf(intent, charge, tolerancePercent),
    isSure: isSurelyThere(intent, charge),
    gapCents: Math.abs(intent.expectedAmountCents - charge.amountCents),
    isOfItsKind: (intent.isRecurring ?? false) === (charge.recurring ?? false),
  }));
  type Evaluated = (typeof evaluated)[number];
  const byKind = (a: Evaluated, b: Evaluated): number => Number(b.isOfItsKind) - Number(a.isOfItsKind);
  const byNearness = (a: Evaluated, b: Evaluated): number =>
    (charge.recurring === true ? byKind(a, b) : 0) ||
    Number(b.isSure) - Number(a.isSure) ||
    a.gapCents - b.gapCents ||
    byKind(a, b);
  const [fit] = evaluated.filter(({ misfits }) => misfits.length === 0).sort(byNearness);
  if (fit !== undefined) {
    return {
      outcome: 'matched',
      intent: fit.intent,
      reason: `${inWords(charge.amountCents)} fits intent ${fit.intent.id}`,
    };
  }
  const halfFits = evaluated.filter(({ misfits }) => misfits.length === 1).sort(byNearness);
  const nearest = halfFits.find(({ misfits }) => misfits[0]?.field === 'amount') ?? halfFits[0];
  if (nearest === undefined) return { outcome: 'none', reason: 'no open intent has this amount or merchant' };
  const reason = nearest.misfits.map((misfit) => misfit.reason).join('; ');
  return { outcome: 'mismatched', intent: nearest.intent, misfits: nearest.misfits, reason };
}

/** Why a charge does not fit an intent, in words with figures; empty when it fits. */
export function misfitsOf(
  intent: MatchableIntent,
  charge: Charge,
  tolerancePercent: number | null | undefined,
): Misfit[] {
  const { amountCents } = charge;
  const misfits: Misfit[] = [];
  const maxChargeCents = maxChargeCentsFor(intent, tolerancePercent);
  if (amountCents > maxChargeCents) {
    const upTo = maxChargeCents === intent.expectedAmountCents ? '' : ` (with tolerance ${inWords(maxChargeCents)})`;
    const reason = `intent ${intent.id} expects ${inWords(intent.expectedAmountCents)}${upTo}, asked ${inWords(amountCents)}`;
    misfits.push({ field: 'amount', reason });
  }
  const otherMerchant = whyOtherMerchant(intent, charge);
  if (otherMerchant !== undefined) misfits.push(otherMerchant);
  if (intent.closedBecause !== undefined) misfits.push({ field: 'window', reason: intent.closedBecause });
  return misfits;
}

/** The first difference; one merchant is one misfit. What the charge does not say is not compared. */
function whyOtherMerchant(
  { id, expectedMerchant, expectedMcc, expectedCountry }: MatchableIntent,
  { merchant, mcc, country }: Charge,
): Misfit | undefined {
  if (given(expectedMerchant) && merchant !== undefined && isKnown(merchant) && !isPaidBy(expectedMerchant, merchant)) {
    const reason = `intent ${id} expects ${expectedMerchant}, asked by ${merchantInWords(merchant)}`;
    return { field: 'merchant', reason };
  }
  if (expectedMcc !== undefined && given(mcc) && mcc !== expectedMcc) {
    const reason = `intent ${id} is for a merchant of category ${expectedMcc}, asked by one of ${mcc}`;
    return { field: 'mcc', reason };
  }
  if (expectedCountry !== undefined && given(country) && country !== expectedCountry) {
    const reason = `intent ${id} is for a merchant in ${expectedCountry}, asked by one in ${country}`;
    return { field: 'country', reason };
  }
  return undefined;
}

/** The most an intent lets through: its amount and the tolerance, rounded down. */
export function maxChargeCentsFor(intent: MatchableIntent, tolerancePercent: number | null | undefined): Cents {
  const percent = tolerancePercentOf(intent.tolerancePercent, tolerancePercent);
  return add(intent.expectedAmountCents, percentOf(intent.expectedAmountCents, percent));
}

/** Its own is the agent's word; one that the policy names is the owner's, and bounds it. */
export function tolerancePercentOf(own: number | null | undefined, policys: number | null | undefined): number {
  if (own == null) return policys ?? 0;
  return Math.min(own, policys ?? own);
}

const isSurelyThere = ({ expectedMerchant }: MatchableIntent, { merchant }: Charge): boolean =>
  given(expectedMerchant) && merchant !== undefined && isSameMerchant(expectedMerchant, merchant);

const given = (text: string | null | undefined): text is string => typeof text === 'string' && text.trim() !== '';
