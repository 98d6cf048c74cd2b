/**
 * Combines the limits of a card with its agent's policy: the narrower limit applies, and how much of it remains. Pure;
 * agrees with the checks of a charge.
 * @module
 */
import { minute } from '../../../kernel/instant.ts';

export type LimitCents = number | null;
export type Spent = { readonly limitCents: LimitCents; readonly spentCents: number };

/** Null is no limit. */
export function narrowest(...limits: readonly LimitCents[]): LimitCents {
  const set = limits.filter((limit) => limit !== null);
  return set.length === 0 ? null : Math.min(...set);
}

/** What the tightest of several sums leaves; each counts different payments. */
export const remaining = (...sums: readonly Spent[]): LimitCents =>
  narrowest(
    ...sums.map(({ limitCents, spentCents }) => (limitCents === null ? null : Math.max(0, limitCents - spentCents))),
  );

export function isCoolingDown(
  { cooldownMinutes, lastPaymentAt }: { cooldownMinutes: number | null; lastPaymentAt: Date | null },
  now: Date,
): boolean {
  if (!cooldownMinutes || lastPaymentAt === null) return false;
  return now.getTime() - lastPaymentAt.getTime() < cooldownMinutes * minute;
}
