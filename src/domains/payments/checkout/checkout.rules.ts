/**
 * The state transitions of a checkout, whether an offer may be paid, and the facts that its workflow waits for. Pure:
 * rows, policy and time are arguments.
 * @module
 */
import type { ErrorCode } from '../../../kernel/errors.ts';
import { day, minute, second } from '../../../kernel/instant.ts';
import type { Move } from '../../../kernel/move.ts';
import type { RowState } from '../../../kernel/row-state.ts';
import { type MatchableIntent, type Misfit, misfitsOf } from '../../spending/policies/policy.rules.ts';
import { statusShown } from '../mpp-payments/mpp-payment.outcome.rules.ts';
import type { Settling } from '../mpp-payments/mpp-payment.rules.ts';
import type { Decision } from '../network/authorization.rules.ts';
import type { CheckoutOffer, NoOfferReason } from './checkout.port.ts';

/**
 * `open`: no offer read yet; `offered`: evaluated; `paying`: money may move. All others are final. `handed_over`: the
 * target answered 402, and a machine payment pays it.
 */
export const checkoutStatuses = [
  'open',
  'offered',
  'paying',
  'paid',
  'declined',
  'refused',
  'failed',
  'handed_over',
] as const;
export type CheckoutStatus = (typeof checkoutStatuses)[number];

export type CheckoutCommand = 'offer' | 'handOver' | 'pay' | 'refuse' | 'fail';

const leadsTo = {
  offer: 'offered',
  handOver: 'handed_over',
  pay: 'paying',
  refuse: 'refused',
  fail: 'failed',
} as const satisfies Record<CheckoutCommand, CheckoutStatus>;
const mayReceive: Record<CheckoutStatus, readonly CheckoutCommand[]> = {
  open: ['offer', 'handOver', 'refuse'],
  offered: ['pay', 'refuse'],
  paying: ['pay', 'refuse', 'fail'],
  paid: [],
  declined: [],
  refused: [],
  failed: [],
  handed_over: [],
};

/** `paid` and `declined` come with the network's authorization and are written with it. */
export function moveCheckout(from: CheckoutStatus, command: CheckoutCommand): Move<CheckoutStatus> {
  const next = leadsTo[command];
  if (from === next && command !== 'pay') return { outcome: 'already', next };
  if (mayReceive[from].includes(command)) return { outcome: 'moved', next };
  return {
    outcome: 'refused',
    why: `cannot ${command === 'handOver' ? 'hand over' : command} a checkout that is ${from}`,
  };
}

export const isFinalCheckout = (status: CheckoutStatus): boolean => mayReceive[status].length === 0;

export type OfferEvaluation =
  | { readonly ok: true; readonly ceilingCents: number }
  | { readonly ok: false; readonly code: string; readonly reason: string };

export type OfferFacts = {
  readonly intent: MatchableIntent;
  readonly tolerancePercent: number | null;
  /** What the charge rules decide about the offer now, and the ceiling of the intent in cents. */
  readonly decision: Pick<Decision, 'outcome' | 'rule' | 'reason'>;
  readonly ceilingCents: number;
};

/** An offer has to fit the intent (amount, merchant, window), and the charge rules have to approve it. */
export function evaluateOffer(
  offer: Pick<CheckoutOffer, 'amountCents' | 'merchant'>,
  { intent, tolerancePercent, decision: { outcome, rule, reason }, ceilingCents }: OfferFacts,
): OfferEvaluation {
  const { mcc, country } = offer.merchant;
  const [misfit] = misfitsOf(intent, { ...offer, mcc, country }, tolerancePercent);
  if (misfit !== undefined)
    return { ok: false, code: `offer_${misfit.field}`, reason: `${misfit.reason}: nothing was held` };
  if (outcome === 'approved') return { ok: true, ceilingCents };
  if (rule === 'insufficient_funds') return { ok: false, code: rule, reason: `${reason}: fund the account` };
  return { ok: false, code: rule, reason: `forbidden by the rule ${rule}: ${reason}; nothing was held` };
}

/** Refusals that are not by a rule of the policy; every other code of a refused checkout is such a rule. */
const refusedWithoutPolicy: Readonly<Record<string, ErrorCode>> = {
  address_refused: 'invalid_state',
  unreachable: 'invalid_state',
  not_an_offer: 'invalid_state',
  no_challenge: 'invalid_state',
  other_method: 'invalid_state',
  payment_limit: 'invalid_state',
  not_eur: 'invalid_state',
  other_origin: 'invalid_state',
  offer_amount: 'invalid_state',
  offer_merchant: 'invalid_state',
  offer_mcc: 'invalid_state',
  offer_country: 'invalid_state',
  offer_window: 'invalid_state',
  intent: 'invalid_state',
  checkout_intent: 'invalid_state',
  over_ceiling: 'invalid_state',
  insufficient_funds: 'insufficient_funds',
} satisfies Record<NoOfferReason | `offer_${Misfit['field']}`, ErrorCode> & Record<string, ErrorCode>;

export type CheckoutResult =
  | { readonly kind: 'ended'; readonly status: 'paid' | 'declined' | 'failed'; readonly reason: string | null }
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly why: string }
  /** Also while it is not known how the machine payment of a handed-over checkout ends. */
  | { readonly kind: 'unknown' };

/** How a payment at a shop or at a merchant that sells by HTTP 402 is answered. */
export const executedStatuses = ['paid', 'accepted', 'declined', 'failed'] as const;

/** The status of a machine payment that has an answer for its caller (`payResult`). */
export function answeredStatus(payment: Settling): Exclude<(typeof executedStatuses)[number], 'failed'> {
  const status = statusShown(payment);
  if (status === 'paid' || status === 'accepted' || status === 'declined') return status;
  throw new Error(`a payment that is ${status} has no answer`);
}

type Outcome = {
  readonly status: CheckoutStatus;
  readonly outcomeCode: string | null;
  readonly outcomeReason: string | null;
};

/** What the caller learns of a checkout when the time to answer is up. */
export function checkoutResult({ status, outcomeCode, outcomeReason }: Outcome): CheckoutResult {
  if (status === 'refused') {
    const code = outcomeCode === null ? 'invalid_state' : (refusedWithoutPolicy[outcomeCode] ?? 'policy_denied');
    return { kind: 'refused', code, why: outcomeReason ?? 'nothing was held' };
  }
  if (status === 'paid') return { kind: 'ended', status, reason: null };
  if (status === 'declined' || status === 'failed') return { kind: 'ended', status, reason: outcomeReason };
  return { kind: 'unknown' };
}

/** Refusals of an address, in words for the caller. */
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

/**
 * A shop that says twice that it took nothing is believed; one that says nothing is asked until the silence is long.
 */
export const isGivenUp = ({ payingSince, now }: { payingSince: Date; now: Date }): boolean =>
  now.getTime() - payingSince.getTime() >= tokenLivesMs + silenceMs;

/** What the workflow of a checkout waits for, in its order. */
export type CheckoutFact = 'offerRead' | 'paymentSent' | 'outcomeKnown';
export type CheckoutDue = 'askShopAgain';

export type CheckoutProgress = {
  readonly status: CheckoutStatus;
  readonly payAttempts: number;
  readonly nextAttemptAt: Date | null;
};

/** The facts that a checkout has reached, and when the shop is asked again. */
export function checkoutFacts(
  { status, payAttempts, nextAttemptAt }: CheckoutProgress,
  now: Date,
): Pick<RowState<never, CheckoutFact, CheckoutDue>, 'final' | 'reached' | 'dueInMs'> {
  const final = isFinalCheckout(status);
  const facts: Readonly<Record<CheckoutFact, boolean>> = {
    offerRead: status !== 'open',
    paymentSent: final || payAttempts > 0,
    outcomeKnown: final,
  };
  const isAskedAgain = status === 'paying' && nextAttemptAt !== null;
  return {
    final,
    reached: (Object.keys(facts) as CheckoutFact[]).filter((fact) => facts[fact]),
    dueInMs: isAskedAgain ? { askShopAgain: nextAttemptAt.getTime() - now.getTime() } : {},
  };
}
