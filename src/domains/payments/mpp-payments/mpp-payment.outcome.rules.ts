/**
 * What a machine payment's state means for people and programs: the answer to `pay`, what is known, and what happens
 * next. Pure.
 * @module
 */
import type { ErrorCode } from '../../../kernel/errors.ts';
import { refusalErrorCode } from '../mpp-credentials/challenge-evaluation.rules.ts';
import {
  type ChargeSource,
  givenUpAt,
  type MppPaymentStatus,
  type Settling,
  settlementOf,
} from './mpp-payment.rules.ts';
import type { UnpayableReason } from './paid-resource.port.ts';

export type MppOutcome = Settling & {
  readonly chargeSource: ChargeSource | null;
  readonly outcomeCode: string | null;
  readonly outcomeReason: string | null;
  readonly merchantStatus: number | null;
  readonly presentedAt: Date | null;
};

export type PayResult =
  /** The payment is settled, or the merchant delivered: the caller gets the merchant's answer, if there is one. */
  | { readonly kind: 'answered' }
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly why: string }
  | { readonly kind: 'unknown' };

/** The state with a charge that the workflow has not recorded yet. */
export function statusShown(payment: Settling): MppPaymentStatus {
  const command = settlementOf(payment);
  return command === undefined ? payment.status : command === 'pay' ? 'paid' : 'declined';
}

/**
 * What the caller of `pay` is answered when the time is up. A payment whose merchant answered with neither a delivery
 * nor a refusal is unknown until the charge is known.
 */
export function payResult(payment: MppOutcome): PayResult {
  const status = statusShown(payment);
  if (status === 'refused') {
    const { outcomeCode, outcomeReason } = payment;
    return { kind: 'refused', code: refusalCodeOf(outcomeCode), why: outcomeReason ?? nothingSpent };
  }
  if (status === 'not_paid') return { kind: 'refused', code: 'invalid_state', why: knownInWords(payment) };
  const isAnswered = status === 'accepted' || status === 'paid' || status === 'declined';
  return { kind: isAnswered ? 'answered' : 'unknown' };
}

const nothingSpent = 'nothing was spent';

/** Refusals of the payment's own steps. Every other code is of the evaluation of the challenge. */
const ownRefusals = {
  address_refused: 'invalid_state',
  unreachable: 'invalid_state',
  redirect_refused: 'invalid_state',
  too_many_redirects: 'invalid_state',
  not_payment_required: 'invalid_state',
  no_challenge: 'invalid_state',
  other_method: 'invalid_state',
  other_digest: 'invalid_state',
  not_sent: 'invalid_state',
  inactive: 'policy_denied',
} as const satisfies Record<UnpayableReason, ErrorCode> & Record<string, ErrorCode>;

const isOwn = (code: string): code is keyof typeof ownRefusals => Object.hasOwn(ownRefusals, code);

const refusalCodeOf = (code: string | null): ErrorCode =>
  code !== null && isOwn(code) ? ownRefusals[code] : refusalErrorCode(code);

/** Why there is nothing to pay. `status`: the one that the merchant answered. */
export function unpayableInWords(reason: UnpayableReason, status: number | null): string {
  const words: Readonly<Record<UnpayableReason, string>> = {
    address_refused: 'the address of the merchant may not be connected to',
    unreachable: 'the merchant did not answer',
    redirect_refused: 'the merchant redirects to an address that may not be connected to',
    too_many_redirects: 'the merchant redirects more than five times',
    not_payment_required: `the merchant answered ${status ?? 'something else'} and asks for no payment`,
  };
  return `${words[reason]}; ${nothingSpent}`;
}

/** Why none of the offered ways to pay can be used. `offered` repeats words of the merchant, `reasons` are our own. */
export function noChallengeInWords(found: {
  readonly offered: readonly string[];
  readonly reasons: readonly string[];
  readonly offersX402: boolean;
}): { readonly code: 'no_challenge' | 'other_method'; readonly why: string } {
  const offers = [
    ...[...new Set(found.offered)].map(printable),
    ...(found.offersX402 ? ['x402 (a cryptocurrency)'] : []),
  ];
  const hasCard = found.offered.includes('card/charge');
  if (!hasCard && offers.length > 0) {
    const why = `the merchant offers only ${offers.slice(0, 5).join(', ')}; Bursar pays with card/charge; ${nothingSpent}`;
    return { code: 'other_method', why };
  }
  const [reason] = found.reasons;
  const fault =
    reason === undefined
      ? 'the merchant asks for a payment without a challenge'
      : `no challenge of the merchant can be paid: ${printable(reason)}`;
  return { code: 'no_challenge', why: `${fault}; ${nothingSpent}` };
}

/** A merchant's word in a sentence of ours: short, and of plain characters only. */
const printable = (text: string): string => text.replace(/[^\x20-\x7e]/g, '?').slice(0, 160);

const settledBy: Readonly<Record<ChargeSource, string>> = {
  network: '',
  verify: ' and verified the credential',
  receipt: ' and gave a receipt',
  operator: ', and an operator found that it was paid',
};

/** What is known about the payment, in one sentence. */
export function knownInWords(payment: MppOutcome): string {
  const { chargeOutcome, merchantStatus, outcomeReason } = payment;
  const status = statusShown(payment);
  const merchant = merchantStatus === null ? 'The merchant gave no answer' : `The merchant answered ${merchantStatus}`;
  const words: Readonly<Record<MppPaymentStatus, string>> = {
    requested: 'The resource is being requested. Nothing is spent.',
    challenged: 'The merchant asks for a payment. Nothing is spent.',
    allowed: 'The payment is allowed. Nothing is spent.',
    minted: 'A credential was minted and has not been sent. Nothing is spent.',
    presenting:
      chargeOutcome === null
        ? 'The credential may be with the merchant, which has not answered yet.'
        : `The charge was ${chargeOutcome}, and the merchant has not answered yet.`,
    accepted: `${merchant}, and the charge has not been seen yet.`,
    unknown: `${merchant}, so it is not known whether it charged the card${outcomeReason === null ? '' : `: ${outcomeReason}`}.`,
    paid: `${merchant}${settledBy[payment.chargeSource ?? 'network']}, and the payment is settled.`,
    declined: `${merchant}, and no money has moved${outcomeReason === null ? '' : `: ${outcomeReason}`}.`,
    refused: `Nothing was sent and nothing is spent${outcomeReason === null ? '' : `: ${outcomeReason}`}.`,
    not_paid: 'Neither the network nor the merchant reported a charge. It counts as not paid.',
  };
  return words[status];
}

/** What happens next, in one sentence. */
export function nextInWords(payment: MppOutcome): string {
  const status = statusShown(payment);
  if (status === 'accepted' || status === 'unknown') {
    const until = payment.presentedAt === null ? '' : ` on ${givenUpAt(payment.presentedAt).toISOString()}`;
    return `The card network, the merchant's verify or an operator's resolve settles it; without them it counts as not paid${until}. It is never paid again.`;
  }
  if (status === 'paid' && payment.chargeSource !== 'network')
    return 'The intent is completed. Its transaction waits seven days for the charge of the card network; without one it ends as failed, and no money moves.';
  if (status === 'paid') return 'Nothing. The intent is completed by the clearing.';
  if (status === 'declined' || status === 'refused' || status === 'not_paid')
    return 'Nothing, unless the card network reports a charge after all.';
  return 'The payment goes on by itself.';
}
