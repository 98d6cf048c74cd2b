/**
 * Whether an owner can let a declined charge pass once: which declines that may help, how long, and what is decided about
 * the same charge as things are now. Pure.
 * @module
 */
import { lengthInWords } from '../../../kernel/instant.ts';
import { type Cents, inWords } from '../../../kernel/money.ts';
import { allowOnceWithinMs, type DeclinedCharge } from '../../spending/intents/allow-once.rules.ts';
import { mayBeAllowedOnce, type RequestFacts, type TraceEntry } from '../../spending/policies/policy.rules.ts';
import { type Decision, type DecisionFacts, decideAuthorization, decidingFigures } from './authorization.rules.ts';

type Decided = Pick<Decision, 'outcome' | 'rule' | 'trace'>;

export type DecidedCharge = {
  readonly transactionId: string;
  /** Null where the network has not asked for a decision. */
  readonly decision: (Decided & { readonly reason: string; readonly at: Date }) | null;
  /** What became of it: only a charge that is still declined is allowed. */
  readonly isDeclined: boolean;
  /** The charge carried a payment token or named an intent, and so could be paid by that intent alone. */
  readonly onlyIntentId: string | null;
  readonly isVerification: boolean;
};

export type Refusal = {
  readonly why: string;
  /** Where a rule stands in the way that no owner lifts for one charge. */
  readonly by?: { readonly rule: string; readonly trace: readonly TraceEntry[] };
};

/** Undefined where permission may help; what is decided now comes after it. */
export function whyNotAllowed(charge: DecidedCharge, at: Date): Refusal | undefined {
  const { transactionId, decision, isDeclined, onlyIntentId, isVerification } = charge;
  if (decision === null || decision.outcome !== 'declined' || !isDeclined)
    return { why: `transaction ${transactionId} was not declined, so there is nothing to allow` };
  const ageMs = at.getTime() - decision.at.getTime();
  if (ageMs > allowOnceWithinMs) {
    const most = lengthInWords(allowOnceWithinMs);
    return {
      why: `transaction ${transactionId} was declined ${lengthInWords(ageMs)} ago, and a charge is allowed within ${most}; wait for the merchant to ask again`,
    };
  }
  if (isVerification) return { why: 'an account check asks for no money, and is not allowed once' };
  if (onlyIntentId !== null) {
    return {
      why: `the charge was made for intent ${onlyIntentId}, which alone could pay for it; declare the payment again`,
    };
  }
  if (mayBeAllowedOnce(decision.rule, outcomeOf(decision))) return undefined;
  return { why: `no permission helps: ${decision.reason}`, by: decision };
}

const outcomeOf = ({ rule, trace }: Decided): TraceEntry['outcome'] =>
  trace.findLast((entry) => entry.rule === rule)?.outcome ?? 'deny';

/** What the rules would decide about the same charge now, with the permission. */
export function decisionOnAllowed(
  facts: DecisionFacts,
  { transactionId, merchant }: DeclinedCharge,
  { amountCents, attestedAt }: { readonly amountCents: Cents; readonly attestedAt: Date | null },
): Decision {
  const permission = { id: 'int_needed', expectedAmountCents: amountCents, expectedMerchant: null, attestedAt };
  const allows = { transactionId, merchant };
  return decideAuthorization({
    ...facts,
    candidates: [...facts.candidates, { ...permission, isAutoApproved: false, allows }],
  });
}

export const declinedChargeOf = (
  transactionId: string,
  { merchant }: { readonly merchant: DeclinedCharge['merchant'] },
  decision: Decided,
): DeclinedCharge => {
  const { id, name, mcc, country } = merchant;
  const figures = decidingFigures(decision);
  return { transactionId, merchant: { id, name, mcc, country }, rule: decision.rule, figures };
};

/** The charge as the network would ask for it again. */
export const requestAgain = (
  { merchant: { id, name, mcc, country } }: DeclinedCharge,
  { amountCents, recurring }: { readonly amountCents: number; readonly recurring: boolean },
): RequestFacts => ({ amountCents, merchant: { id, name }, mcc, country, kind: 'purchase', recurring });

const changedByOwner = /^(policy\.(?!expiresAfterMinutes)|card\.(?!status)|intent\.(expectedAmountCents|approvedBy)$)/;

/**
 * Whether all that a declined charge lacked, as its decision knew, is what an owner may lift for one charge. The call
 * itself decides anew.
 */
export const couldBeAllowed = ({
  outcome,
  remedy,
  onlyIntentId,
}: {
  readonly outcome: Decision['outcome'];
  readonly remedy: readonly { readonly field: string }[] | null;
  readonly onlyIntentId: string | null;
}): boolean =>
  outcome === 'declined' &&
  onlyIntentId === null &&
  remedy !== null &&
  remedy.length > 0 &&
  remedy.every(({ field }) => changedByOwner.test(field));

export const purposeOf = (amountCents: number, { merchant, rule }: DeclinedCharge): string =>
  `a charge of ${inWords(amountCents)} EUR by ${merchant.name} that was declined (${rule}) and is allowed once`;
