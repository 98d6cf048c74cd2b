/**
 * What a checkout may become, whether an offer may be paid, and what its process does next. Pure: rows, policy and
 * time come in as arguments.
 * @module
 */
import { day, minute, second } from '../../../kernel/instant.ts';
import { inWords } from '../../../kernel/money.ts';
import type { Move } from '../../../kernel/move.ts';
import { type MatchableIntent, misfitsOf, mostFor } from '../../spending/policies/policy.rules.ts';
import type { CheckoutOffer } from './checkout.port.ts';

/** `open`: no offer read yet; `offered`: judged; `paying`: money may move. All others are final. */
export const checkoutStatuses = ['open', 'offered', 'paying', 'paid', 'declined', 'refused', 'failed'] as const;
export type CheckoutStatus = (typeof checkoutStatuses)[number];

export type CheckoutCommand = 'offer' | 'pay' | 'refuse' | 'fail';

const leadsTo = { offer: 'offered', pay: 'paying', refuse: 'refused', fail: 'failed' } as const satisfies Record<
  CheckoutCommand,
  CheckoutStatus
>;
const mayReceive: Record<CheckoutStatus, readonly CheckoutCommand[]> = {
  open: ['offer', 'refuse'],
  offered: ['pay', 'refuse'],
  paying: ['pay', 'refuse', 'fail'],
  paid: [],
  declined: [],
  refused: [],
  failed: [],
};

/** `paid` and `declined` come with the network's authorization and are written with it. */
export function moveCheckout(from: CheckoutStatus, command: CheckoutCommand): Move<CheckoutStatus> {
  const next = leadsTo[command];
  if (from === next && command !== 'pay') return { outcome: 'already', next };
  if (mayReceive[from].includes(command)) return { outcome: 'moved', next };
  return { outcome: 'refused', why: `cannot ${command} a checkout that is ${from}` };
}

export const isFinalCheckout = (status: CheckoutStatus): boolean => mayReceive[status].length === 0;

export type OfferVerdict =
  | { readonly ok: true; readonly ceilingCents: number }
  | { readonly ok: false; readonly code: string; readonly reason: string };

/** Not dearer than the intent allows, by the merchant it names, and there is money for it. */
export function judgeOffer(
  offer: Pick<CheckoutOffer, 'amountCents' | 'merchant'>,
  {
    intent,
    tolerancePercent,
    availableCents,
  }: { intent: MatchableIntent; tolerancePercent: number | null; availableCents: number },
): OfferVerdict {
  const [misfit] = misfitsOf(intent, offer, tolerancePercent);
  if (misfit !== undefined)
    return { ok: false, code: `offer_${misfit.field}`, reason: `${misfit.reason}: nothing was held` };
  if (offer.amountCents > availableCents) {
    const reason = `the shop asks ${inWords(offer.amountCents)}, available ${inWords(availableCents)}: fund the account`;
    return { ok: false, code: 'insufficient_funds', reason };
  }
  return { ok: true, ceilingCents: mostFor(intent, tolerancePercent) };
}

/** Refusals of an address, in words for whoever asked. */
export const noOfferInWords = {
  address_refused: 'this address may not be dialled: only public https addresses are',
  unreachable: 'the shop did not answer; nothing was held',
  not_an_offer: 'this address offers no payment method Bursar speaks',
  not_eur: 'the shop does not ask for EUR, and only EUR can be paid',
  other_origin: 'the shop’s payment address is of another origin; nothing was held',
} as const;

/** How long a payment token lives, in real time. */
export const tokenLivesMs = 15 * minute;
/** After the token's end and this long without an authorization or clearing, nothing was paid. */
const silenceMs = 7 * day;
const gapsMs = [second, 2 * second, 5 * second, 15 * second, minute, 5 * minute, 15 * minute, 60 * minute];

/** The gap before the shop is asked again under the same key. */
export const payGapMs = (attempts: number): number =>
  gapsMs[Math.min(Math.max(attempts, 1), gapsMs.length) - 1] ?? 60 * minute;

/** A shop that says twice that it took nothing is believed; one that says nothing is asked until the silence is long. */
export const isGivenUp = ({ payingSince, now }: { payingSince: Date; now: Date }): boolean =>
  now.getTime() - payingSince.getTime() >= tokenLivesMs + silenceMs;

export type CheckoutStep =
  | { readonly kind: 'final' | 'read_offer' | 'pay' }
  | { readonly kind: 'wait'; readonly waitMs: number };

export function nextCheckoutStep(
  { status, nextAttemptAt }: { status: CheckoutStatus; nextAttemptAt: Date | null },
  now: Date,
  longestMs: number,
): CheckoutStep {
  if (isFinalCheckout(status)) return { kind: 'final' };
  if (status === 'open') return { kind: 'read_offer' };
  if (status === 'offered' || nextAttemptAt === null) return { kind: 'pay' };
  const leftMs = nextAttemptAt.getTime() - now.getTime();
  return leftMs <= 0 ? { kind: 'pay' } : { kind: 'wait', waitMs: Math.min(leftMs, longestMs) };
}
