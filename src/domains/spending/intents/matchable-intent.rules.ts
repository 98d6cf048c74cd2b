/**
 * An intent as an argument of matching: with its tolerance, its merchant and, where it is recurring, its window.
 * @module
 */
import type { MatchableIntent } from '../policies/policy.rules.ts';
import type { DeclinedCharge } from './allow-once.rules.ts';
import {
  closedBecause,
  type Recurring,
  type Schedule,
  type TakenWindow,
  windowAt,
} from './windows/recurrence.rules.ts';

type Declared = {
  readonly id: string;
  readonly expectedAmountCents: number;
  readonly expectedMerchant?: string | null | undefined;
  /** The charge that a person was asked about, and shown with category and country. */
  readonly declinedCharge?: Pick<DeclinedCharge, 'merchant'> | null | undefined;
};
type Planned = {
  readonly recurring?: Recurring | null | undefined;
  readonly anchorAt?: Date | null | undefined;
  readonly expiresAt: Date;
};

/** None for an intent that is for one payment, and while a person has not approved it. */
export function scheduleOf({ recurring, anchorAt, expiresAt }: Planned): Schedule | undefined {
  if (recurring == null || anchorAt == null) return undefined;
  return { recurring, anchorAt, endsAt: expiresAt };
}

type Kept = Planned & {
  readonly id: string;
  readonly openPaymentId?: string | null | undefined;
  readonly openPaymentAt?: Date | null | undefined;
};

/** Why a charge that is not of the intent's open payment pays for nothing; of a recurring intent in one window only. */
export function whyKeptForPayment(intent: Kept, at: Date): string | undefined {
  const { id, openPaymentId, openPaymentAt } = intent;
  if (openPaymentId == null || openPaymentAt == null) return undefined;
  const schedule = scheduleOf(intent);
  const isOtherWindow =
    schedule !== undefined && windowAt(schedule, openPaymentAt)?.number !== windowAt(schedule, at)?.number;
  return isOtherWindow ? undefined : `intent ${id} is kept for payment ${openPaymentId}, which has not ended`;
}

/** `taken`: what is known of the window that `at` lies in. */
export function matchableIntent(
  intent: Declared & Planned,
  taken: readonly TakenWindow[],
  at: Date,
): MatchableIntent & { expectedMerchant: string | null } {
  const { id, expectedAmountCents, recurring, declinedCharge } = intent;
  const expectedMerchant = intent.expectedMerchant ?? null;
  const shown = declinedCharge?.merchant;
  const ofCharge = shown === undefined ? {} : { expectedMcc: shown.mcc, expectedCountry: shown.country };
  if (recurring == null) return { id, expectedAmountCents, expectedMerchant, ...ofCharge };
  const schedule = scheduleOf(intent);
  return {
    id,
    expectedAmountCents,
    expectedMerchant: recurring.merchantMatch ? expectedMerchant : null,
    tolerancePercent: recurring.amountTolerancePercent,
    isRecurring: true,
    closedBecause: schedule === undefined ? `intent ${id} is not approved` : closedBecause({ id, schedule }, taken, at),
  };
}
