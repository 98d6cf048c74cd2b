/** The two ways of SEPA to send money, and the amounts that each carries. Pure. @module */
import { type Cents, cents, inWords } from '../../../kernel/money.ts';

/** `instant`: at any time, settled or rejected within seconds. `batch`: on business days, settled on the next one. */
export const schemes = ['instant', 'batch'] as const;
export type Scheme = (typeof schemes)[number];

/** Of one payment, in both schemes: what the field of the messages between banks holds. */
export const smallestPaymentCents = cents(1);
export const largestPaymentCents = cents(99_999_999_999);

export type RailLimits = {
  readonly offersInstant: boolean;
  /** A bank may carry less by instant payment than the scheme does. */
  readonly largestInstantCents: Cents;
};

export type SchemeChoice =
  | { readonly ok: true; readonly scheme: Scheme }
  | { readonly ok: false; readonly why: string };

/** Instant where the rail offers it for the amount, unless the caller asked for one of the two. */
export function chooseScheme(requested: Scheme | undefined, amountCents: Cents, rail: RailLimits): SchemeChoice {
  if (amountCents < smallestPaymentCents || amountCents > largestPaymentCents) {
    const range = `${inWords(smallestPaymentCents)} to ${inWords(largestPaymentCents)}`;
    return { ok: false, why: `a SEPA payment is of ${range}, not of ${inWords(amountCents)}` };
  }
  if (requested === 'batch') return { ok: true, scheme: 'batch' };
  const fits = amountCents <= rail.largestInstantCents;
  if (rail.offersInstant && fits) return { ok: true, scheme: 'instant' };
  if (requested === undefined) return { ok: true, scheme: 'batch' };
  return {
    ok: false,
    why: rail.offersInstant
      ? `an instant payment is of ${inWords(rail.largestInstantCents)} at most, not of ${inWords(amountCents)}`
      : 'the bank offers no instant payments',
  };
}
