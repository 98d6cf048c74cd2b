/**
 * The decision on one authorization: which intent it belongs to, whether the rules allow it, and whether the money is
 * available, with the messages that the network sent before it. Pure; the record of the decision stores the same facts.
 * @module
 */
import { type Cents, cents, inWords, least, subtract, zero } from '../../../kernel/money.ts';
import { type Allowance, isAllowed } from '../../spending/intents/allow-once.rules.ts';
import { whyUnattested } from '../../spending/policies/attestation.rules.ts';
import {
  evaluateSpending,
  type Figures,
  type IntentFacts,
  type MatchableIntent,
  matchIntent,
  maxChargeCentsFor,
  mayBeAllowedOnce,
  type Policy,
  type SpendingDecision,
  type SpendingFacts,
  type TraceEntry,
} from '../../spending/policies/policy.rules.ts';
import { isReversedWhole, noReversals, type Reversals } from '../transactions/transaction.rules.ts';

export type Candidate = MatchableIntent & {
  readonly id: string;
  readonly expectedMerchant: string | null;
  readonly isAutoApproved: boolean;
  readonly attestedAt: Date | null;
  /** It lets one declined charge pass, and fits no other. */
  readonly allows?: Allowance | undefined;
  /** Set where a confirm has written the transaction that the authorization is to link. */
  readonly transactionId?: string | undefined;
};

/** The payment token that the charge carries, of a checkout or of an MPP credential: for one intent, once, up to its ceiling. */
export type TokenFacts = {
  readonly intentId: string;
  readonly isUsed: boolean;
  readonly isExpired?: boolean | undefined;
  /** Its intent was cancelled. */
  readonly isRevoked?: boolean | undefined;
  /** The only merchant that it pays; without one it pays the merchant that it was given to. */
  readonly merchantId?: string | null | undefined;
  /** The merchant of the intent was compared with the payee when the token was minted, so the charge's name is not asked. */
  readonly isPayeeBound?: boolean | undefined;
  readonly ceilingCents: number | null;
};

/** A simulated charge: only the intent that it names may pay, and `wanted: 'decline'` declines it after the rules. */
export type SimulatedFacts = { readonly intentId: string | null; readonly wanted: 'approve' | 'decline' };

export type DecisionFacts = {
  /** All facts but the intent, which `findIntent` chooses. */
  readonly spending: Omit<SpendingFacts, 'intent'>;
  readonly candidates: readonly Candidate[];
  /** Null for a charge that carries no payment token. */
  readonly token: TokenFacts | null;
  readonly simulation?: SimulatedFacts | undefined;
  readonly availableCents: number;
  readonly partialSupported: boolean;
  readonly before: PriorMessages;
};

/** The messages about an authorization that came before it. */
export type PriorMessages = {
  /** The collected amount, 0 without a clearing. It stays booked, whatever the decision is. */
  readonly collectedCents: Cents;
  /** The final clearing has come, so nothing is held any more. */
  readonly isFinal: boolean;
  readonly reversals: Reversals;
  /** Both were booked already, the collected amount from the available money; otherwise they are booked with the decision. */
  readonly isBooked: boolean;
};
export const noPriorMessages: PriorMessages = {
  collectedCents: zero,
  isFinal: false,
  reversals: noReversals,
  isBooked: false,
};

export type IntentMismatch = {
  readonly intentId: string;
  readonly reason: string;
  readonly misfits: readonly string[];
  readonly askedCents: Cents;
  /** With the tolerance. */
  readonly maxChargeCents: Cents;
};

export type Decision = {
  readonly outcome: 'approved' | 'partial' | 'declined';
  readonly approvedCents: Cents;
  /** The held amount. Less than approved only where clearings came before the authorization. */
  readonly holdCents: Cents;
  readonly rule: string;
  readonly reason: string;
  readonly trace: readonly TraceEntry[];
  readonly candidate: Candidate | undefined;
  /** Declined only because no person has approved it yet. */
  readonly needsPerson: boolean;
  /** The intent that fits best but not fully, and why it does not fit. */
  readonly mismatch: IntentMismatch | undefined;
  /** Of a refusal, as remedy.rules.ts finds it: the changes with which it would have been approved; null: there are none. */
  readonly remedy?: readonly Remedy[] | null;
};

/** One change of what an owner decides about. `field` ends with `Cents` where `value` is an amount. */
export type Remedy = {
  readonly field: string;
  readonly value: string | number | boolean;
  readonly inWords: string;
};

/**
 * The rules are evaluated for the whole amount, with counters that exclude the part collected before. So limits, intent
 * and policy decide on the rest as on any charge.
 */
export function decideAuthorization(facts: DecisionFacts): Decision {
  const { before, spending } = facts;
  const { request } = spending;
  const found = findIntent(facts);
  if (isReversedWhole(before.reversals, request.amountCents)) {
    const reason = `the network reversed ${inWords(request.amountCents)} before it asked for them`;
    return declined({ rule: 'reversed_before', reason, trace: [] }, { ...found, mismatch: undefined });
  }
  if (isCollected(facts)) return collected('approved', request.amountCents, facts, found);
  const misuse = tokenMisuse(facts, found) ?? simulationMisfit(facts, found);
  if (misuse !== undefined) return declined(misuse, found);
  const whole = evaluate(facts, found, request.amountCents);
  const through = facts.simulation?.wanted === 'decline' ? declinedAsRequested : approved;
  const holding = (decision: Decision): Decision => ({ ...decision, holdCents: holdOf(decision, before) });
  if (whole.outcome === 'allow') return holding(through('approved', request.amountCents, whole, found));
  const allowed = allowedOnce(facts, whole);
  const allowedBy = { candidate: allowed?.candidate, mismatch: undefined };
  if (allowed?.decision.outcome === 'allow') {
    return holding(through('approved', request.amountCents, allowed.decision, allowedBy));
  }
  const takesParts = facts.partialSupported && request.kind !== 'verification';
  const part = takesParts ? mostAllowed(facts, found, whole) : undefined;
  if (part !== undefined) {
    const reason = `${inWords(part.amountCents)} approved: ${whole.reason}`;
    return holding(through('partial', part.amountCents, { ...part.decision, rule: whole.rule, reason }, found));
  }
  if (takesParts && before.collectedCents > 0) return collected('partial', before.collectedCents, facts, found, whole);
  if (allowed !== undefined) return declined(allowed.decision, allowedBy);
  const needsPerson = whole.outcome === 'needs_approval' && !before.isFinal;
  return { ...declined(whole, found), needsPerson };
}

/** The whole amount was collected already. An account check requests no money, so nothing is collected for it. */
const isCollected = ({ before, spending: { request } }: DecisionFacts): boolean =>
  request.kind !== 'verification' && before.collectedCents >= request.amountCents;

/** Approves the collected amount only, with the reason why the rest was refused, if it was. */
function collected(
  outcome: 'approved' | 'partial',
  amountCents: number,
  { before, availableCents }: DecisionFacts,
  found: Found,
  refused?: Why,
): Decision {
  const words = `the network had collected ${inWords(before.collectedCents)} before it asked`;
  const why =
    refused === undefined
      ? { rule: 'cleared_before', reason: words, trace: [] }
      : { ...refused, reason: `${words}; no more than that: ${refused.reason}` };
  const decision = approved(outcome, amountCents, why, found);
  // Its clearing is booked next: from the hold, or without one where the charge was refused.
  const isHeld = outcome === 'approved' && !before.isBooked;
  return { ...decision, holdCents: isHeld ? least(amountCents, availableCents) : zero };
}

/** Clearings and reversals that are not booked yet will be taken from the hold; booked ones reduce it. */
const holdOf = ({ holdCents }: Decision, before: PriorMessages): Cents => outstandingOf(holdCents, before);

/** What is still to come of an amount that was approved, and so is held for it. */
export function outstandingOf(
  approvedCents: number,
  { collectedCents, reversals, isFinal, isBooked }: PriorMessages,
): Cents {
  if (!isBooked) return cents(approvedCents);
  if (isFinal || isReversedWhole(reversals, approvedCents)) return zero;
  return cents(Math.max(0, approvedCents - collectedCents - reversals.cents));
}

type Allowed = { readonly candidate: Candidate; readonly decision: SpendingDecision };

/**
 * The owner has allowed this charge once: the rules that an owner may lift are lifted, and all others decide. Undefined
 * where that was not done, or cannot help.
 */
function allowedOnce(facts: DecisionFacts, { rule, outcome }: SpendingDecision): Allowed | undefined {
  const { request } = facts.spending;
  if (outcome === 'allow' || !mayBeAllowedOnce(rule, outcome)) return undefined;
  const [candidate] = facts.candidates
    .filter(
      ({ allows, expectedAmountCents }) => allows !== undefined && isAllowed(allows, expectedAmountCents, request),
    )
    .sort((a, b) => a.expectedAmountCents - b.expectedAmountCents);
  if (candidate?.allows === undefined) return undefined;
  const { transactionId } = candidate.allows;
  // Its merchant was compared exactly; the resemblance of names has no say.
  const found = { candidate: { ...candidate, expectedMerchant: null }, mismatch: undefined };
  const spending = { ...facts.spending, allowedOnceOf: transactionId };
  const decision = evaluate({ ...facts, spending }, found, request.amountCents);
  if (decision.outcome !== 'allow') return { candidate, decision };
  const liftedRules = decision.trace.filter((entry) => entry.outcome === 'lifted').map((entry) => entry.rule);
  const figures = { allowedOnceOf: transactionId, intentId: candidate.id, askedCents: request.amountCents };
  const limitCents = candidate.expectedAmountCents;
  const despite = liftedRules.length > 0 ? liftedRules : [rule];
  const reason = `the owner has allowed ${inWords(limitCents)} once for this merchant, after ${transactionId} was declined; asked ${inWords(request.amountCents)}, in spite of ${despite.join(', ')}`;
  const trace: readonly TraceEntry[] = [
    ...decision.trace,
    { rule: allowedOnceRule, outcome: 'pass', figures: { ...figures, limitCents } },
  ];
  return { candidate, decision: { ...decision, rule: allowedOnceRule, reason, trace } };
}

/** What the rule that decided has compared. */
export const decidingFigures = ({ rule, trace }: Pick<Decision, 'rule' | 'trace'>): Figures =>
  trace.findLast((entry) => entry.rule === rule || entry.rule === ruleNames[rule])?.figures ?? {};

/** The decision gives a refusal another name than the rule has. */
const ruleNames: Readonly<Record<string, string>> = { intent_required: 'require_intent' };

export const allowedOnceRule = 'allowed_once';

type Found = { readonly candidate: Candidate | undefined; readonly mismatch: Decision['mismatch'] };

/** Account checks consume no intent; what an owner allows once is asked for only after a refusal. */
function findIntent({ spending: { request, policy, at }, candidates: all, token }: DecisionFacts): Found {
  const candidates = all.filter(({ allows }) => allows === undefined);
  if (request.kind === 'verification') return { candidate: undefined, mismatch: undefined };
  const { amountCents, merchant, mcc, country, recurring } = request;
  const charge = { amountCents, merchant, mcc, country, recurring };
  const payable = candidates.map((one) => (isBoundTo(token, one) ? { ...one, expectedMerchant: null } : one));
  const match = matchIntent(attestedFirst(payable, policy, at), charge, policy?.amountTolerancePercent);
  if (match.outcome === 'matched') return { candidate: match.intent, mismatch: undefined };
  if (match.outcome === 'none') return { candidate: undefined, mismatch: undefined };
  const { intent, reason, misfits } = match;
  return {
    candidate: undefined,
    mismatch: {
      intentId: intent.id,
      reason,
      misfits: misfits.map(({ field }) => field),
      askedCents: cents(amountCents),
      maxChargeCents: maxChargeCentsFor(intent, policy?.amountTolerancePercent),
    },
  };
}

const isBoundTo = (token: TokenFacts | null, { id }: Candidate): boolean =>
  token?.isPayeeBound === true && token.intentId === id;

/** In a tie the first candidate wins, so attested intents come first. */
function attestedFirst(candidates: readonly Candidate[], policy: Policy | null, at: Date): readonly Candidate[] {
  if (policy?.requireAttestation !== true) return candidates;
  const isAttested = ({ attestedAt }: Candidate): boolean => whyUnattested(policy, attestedAt, at) === undefined;
  return [...candidates.filter(isAttested), ...candidates.filter((one) => !isAttested(one))];
}

/** A payment token pays only for its intent, whatever else the rules would allow. */
function tokenMisuse({ token, spending }: DecisionFacts, { candidate, mismatch }: Found): Why | undefined {
  const { kind, amountCents, merchant } = spending.request;
  if (token === null || kind === 'verification') return undefined;
  if (token.isUsed) return { rule: 'token_used', reason: 'the payment token was used before', trace: [] };
  if (token.isRevoked === true) {
    const reason = 'the payment token was revoked, because its intent was cancelled';
    return { rule: 'token_revoked', reason, trace: [] };
  }
  if (token.isExpired === true) return { rule: 'token_expired', reason: 'the payment token has expired', trace: [] };
  if (token.merchantId != null && merchant?.id !== token.merchantId) {
    const reason = `the payment token is for merchant ${token.merchantId}, asked by ${merchant?.id ?? 'nobody'}`;
    return { rule: 'token_merchant', reason, trace: [] };
  }
  const ceilingCents = token.ceilingCents ?? 0;
  if (amountCents > ceilingCents) {
    const reason = `the payment token is for up to ${inWords(ceilingCents)}, asked ${inWords(amountCents)}`;
    return { rule: 'over_ceiling', reason, trace: [] };
  }
  if (candidate?.id === token.intentId) return undefined;
  const why = mismatch?.reason ?? `intent ${token.intentId} is not open any more`;
  return { rule: 'checkout_intent', reason: `the payment token pays for nothing: ${why}`, trace: [] };
}

/** A caller that names an intent wants that intent paid, and no other way through the rules. */
function simulationMisfit({ simulation }: DecisionFacts, { candidate, mismatch }: Found): Why | undefined {
  if (simulation?.intentId == null || candidate?.id === simulation.intentId) return undefined;
  const why = mismatch?.reason ?? 'it is not open for this card and this charge any more';
  return { rule: 'simulation_intent', reason: `the simulation names intent ${simulation.intentId}: ${why}`, trace: [] };
}

/** The spending rules first, then the available money: a refusal by a rule is the more useful reason. */
function evaluate(facts: DecisionFacts, { candidate, mismatch }: Found, amountCents: number): SpendingDecision {
  const request = { ...facts.spending.request, amountCents };
  const decision = evaluateSpending({
    ...facts.spending,
    request,
    ...(candidate === undefined ? {} : { intent: factsOf(candidate) }),
  });
  if (decision.rule === 'require_intent') {
    const reason = mismatch === undefined ? decision.reason : `${decision.reason}: ${mismatch.reason}`;
    return { ...decision, rule: 'intent_required', reason };
  }
  const askedCents = subtract(amountCents, bookedCents(facts));
  if (decision.outcome !== 'allow' || askedCents <= facts.availableCents) return decision;
  const figures = { availableCents: facts.availableCents, askedCents };
  return {
    outcome: 'deny',
    rule: 'insufficient_funds',
    reason: `available ${inWords(facts.availableCents)}, asked ${inWords(askedCents)}`,
    trace: [...decision.trace, { rule: 'insufficient_funds', outcome: 'deny', figures }],
  };
}

/** The part of the amount that was already taken from the available money. */
const bookedCents = ({ before }: DecisionFacts): number => (before.isBooked ? before.collectedCents : 0);

const factsOf = (candidate: Candidate): IntentFacts => ({
  id: candidate.id,
  expectedAmountCents: candidate.expectedAmountCents,
  expectedMerchant: candidate.expectedMerchant,
  status: 'approved',
  autoApproved: candidate.isAutoApproved,
  attestedAt: candidate.attestedAt,
  tolerancePercent: candidate.tolerancePercent,
});

const atMost = 8;

/** The highest amount that limits and money allow, found by repeated evaluation; undefined when another rule refuses. */
function mostAllowed(
  facts: DecisionFacts,
  found: Found,
  whole: SpendingDecision,
): { amountCents: number; decision: SpendingDecision } | undefined {
  let decision = whole;
  let amountCents = facts.spending.request.amountCents;
  for (let round = 0; round < atMost; round++) {
    const room = roomIn(decision, bookedCents(facts));
    // A part has to exceed the collected amount, which is booked anyway.
    if (room === undefined || room <= facts.before.collectedCents || room >= amountCents) return undefined;
    amountCents = room;
    decision = evaluate(facts, found, amountCents);
    if (decision.outcome === 'allow') return { amountCents, decision };
  }
  return undefined;
}

/** The amount that the refusing rule would have allowed; undefined where a lower amount would be refused too. */
function roomIn({ outcome, trace }: SpendingDecision, booked: number): number | undefined {
  const last = trace.at(-1);
  if (outcome !== 'deny' || last === undefined) return undefined;
  const { limitCents, spentCents = 0, availableCents } = last.figures;
  if (last.rule === 'insufficient_funds') return Number(availableCents) + booked;
  const limit = limitCents;
  return typeof limit === 'number' && typeof spentCents === 'number' ? limit - spentCents : undefined;
}

type Why = Pick<Decision, 'rule' | 'reason' | 'trace'>;

const approved = (
  outcome: 'approved' | 'partial',
  amountCents: number,
  { rule, reason, trace }: Why,
  found: Found,
): Decision => ({
  outcome,
  approvedCents: cents(amountCents),
  holdCents: cents(amountCents),
  rule,
  reason,
  trace,
  needsPerson: false,
  ...found,
});

/** Takes the place of `approved` when a simulation requests a decline. */
const declinedAsRequested: typeof approved = (_outcome, amountCents, { trace }, found) => {
  const reason = `the rules let ${inWords(amountCents)} through, and the simulation asks for a decline`;
  return declined({ rule: 'simulated_decline', reason, trace }, { ...found, mismatch: undefined });
};

const declined = ({ rule, reason, trace }: Why, { mismatch, candidate }: Found): Decision => ({
  outcome: 'declined',
  approvedCents: cents(0),
  holdCents: cents(0),
  rule,
  reason,
  trace,
  needsPerson: false,
  candidate,
  mismatch,
});
