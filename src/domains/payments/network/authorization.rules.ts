/**
 * The decision on one authorization: which intent it belongs to, whether the rules allow it, whether the money is
 * there, and the messages that the network sent before it. Pure; the very facts go into the record of the decision.
 * @module
 */
import { type Cents, cents, inWords, least, subtract, zero } from '../../../kernel/money.ts';
import { whyUnattested } from '../../spending/policies/attestation.rules.ts';
import {
  evaluateSpending,
  type IntentFacts,
  type MatchableIntent,
  matchIntent,
  type Policy,
  type SpendingDecision,
  type SpendingFacts,
  type TraceEntry,
} from '../../spending/policies/policy.rules.ts';

export type Candidate = MatchableIntent & {
  readonly id: string;
  readonly expectedMerchant: string | null;
  readonly isAutoApproved: boolean;
  readonly attestedAt: Date | null;
  /** Set where a confirm has written the transaction that the authorization is to link. */
  readonly transactionId?: string | undefined;
};

/** The checkout whose payment token the charge carries: paid for one intent, once, up to its ceiling. */
export type TokenFacts = {
  readonly intentId: string;
  readonly isUsed: boolean;
  readonly ceilingCents: number | null;
};

/** A charge on request: paid for by the intent that it names, where it names one, and declined where that is wanted. */
export type SimulatedFacts = { readonly intentId: string | null; readonly wanted: 'approve' | 'decline' };

export type DecisionFacts = {
  /** Everything but the intent, which is found here. */
  readonly spending: Omit<SpendingFacts, 'intent'>;
  readonly candidates: readonly Candidate[];
  /** Null for a charge that carries no payment token. */
  readonly token: TokenFacts | null;
  readonly simulation?: SimulatedFacts | undefined;
  readonly availableCents: number;
  readonly partialSupported: boolean;
  readonly before: SaidBefore;
};

/** What the network has said about an authorization before it sent it. */
export type SaidBefore = {
  /** All of it was given back. */
  readonly isReversed: boolean;
  /** What was collected; 0 where nothing was. It stays booked, whatever is decided. */
  readonly collectedCents: Cents;
  /** The last clearing has come: nothing is held any more. */
  readonly isFinal: boolean;
  /** It was taken from the available money already; otherwise it is booked with the decision. */
  readonly isBooked: boolean;
};
export const nothingSaid: SaidBefore = {
  isReversed: false,
  collectedCents: zero,
  isFinal: false,
  isBooked: false,
};

export type IntentMismatch = {
  readonly intentId: string;
  readonly reason: string;
  readonly misfits: readonly string[];
};

export type Decision = {
  readonly outcome: 'approved' | 'partial' | 'declined';
  readonly approvedCents: Cents;
  /** What is held. Less than approved only where money was collected before it was asked for. */
  readonly holdCents: Cents;
  readonly rule: string;
  readonly reason: string;
  readonly trace: readonly TraceEntry[];
  readonly candidate: Candidate | undefined;
  /** Declined only because no person has approved it yet. */
  readonly needsPerson: boolean;
  /** The intent that came near, and why it did not fit. */
  readonly mismatch: IntentMismatch | undefined;
};

/**
 * The rules see the whole amount, and the counters without what was collected of it before: so limits, intent and
 * policy decide on the rest as on any charge.
 */
export function decideAuthorization(facts: DecisionFacts): Decision {
  const { before, spending } = facts;
  const { request } = spending;
  const found = findIntent(facts);
  const told = { candidate: found.candidate, mismatch: found.mismatch };
  if (before.isReversed) {
    const reason = `the network reversed ${inWords(request.amountCents)} before it asked for them`;
    return declined({ rule: 'reversed_before', reason, trace: [] }, { ...told, mismatch: undefined });
  }
  if (isCollected(facts)) return collected('approved', request.amountCents, facts, told);
  const misuse = tokenMisuse(facts, found) ?? simulationMisfit(facts, found);
  if (misuse !== undefined) return declined(misuse, told);
  const whole = evaluate(facts, found, request.amountCents);
  const through = facts.simulation?.wanted === 'decline' ? declinedAsWanted : approved;
  const holding = (decision: Decision): Decision => ({ ...decision, holdCents: holdOf(decision, before) });
  if (whole.outcome === 'allow') return holding(through('approved', request.amountCents, whole, told));
  const takesParts = facts.partialSupported && request.kind !== 'verification';
  const part = takesParts ? mostAllowed(facts, found, whole) : undefined;
  if (part !== undefined) {
    const reason = `${inWords(part.amountCents)} approved: ${whole.reason}`;
    return holding(through('partial', part.amountCents, { ...part.decision, rule: whole.rule, reason }, told));
  }
  if (takesParts && before.collectedCents > 0) return collected('partial', before.collectedCents, facts, told, whole);
  const needsPerson = whole.outcome === 'needs_approval' && !before.isFinal;
  return { ...declined(whole, told), needsPerson };
}

/** Nothing is left to decide on. An account check asks for no money, so none was collected for it. */
const isCollected = ({ before, spending: { request } }: DecisionFacts): boolean =>
  request.kind !== 'verification' && before.collectedCents >= request.amountCents;

/** No more than the network collected, with the refusal of the rest where there is one. */
function collected(
  outcome: 'approved' | 'partial',
  amountCents: number,
  { before, availableCents }: DecisionFacts,
  told: Told,
  refused?: Why,
): Decision {
  const words = `the network had collected ${inWords(before.collectedCents)} before it asked`;
  const why =
    refused === undefined
      ? { rule: 'cleared_before', reason: words, trace: [] }
      : { ...refused, reason: `${words}; no more than that: ${refused.reason}` };
  const decision = approved(outcome, amountCents, why, told);
  // Its clearing is booked next, from the hold; of a refused charge it is booked as one without a hold.
  const isHeld = outcome === 'approved' && !before.isBooked;
  return { ...decision, holdCents: isHeld ? least(amountCents, availableCents) : zero };
}

/** What is collected before is booked out of the hold, unless it was booked before. */
function holdOf({ holdCents }: Decision, { collectedCents, isFinal, isBooked }: SaidBefore): Cents {
  if (!isBooked) return holdCents;
  return isFinal ? zero : cents(Math.max(0, holdCents - collectedCents));
}

type Found = { readonly candidate: Candidate | undefined; readonly mismatch: Decision['mismatch'] };

/** Account checks consume no intent. */
function findIntent({ spending: { request, policy, at }, candidates }: DecisionFacts): Found {
  if (request.kind === 'verification') return { candidate: undefined, mismatch: undefined };
  const { amountCents, merchant, recurring } = request;
  const charge = { amountCents, merchant, recurring };
  const match = matchIntent(attestedFirst(candidates, policy, at), charge, policy?.amountTolerancePercent);
  if (match.outcome === 'matched') return { candidate: match.intent, mismatch: undefined };
  if (match.outcome === 'none') return { candidate: undefined, mismatch: undefined };
  return {
    candidate: undefined,
    mismatch: { intentId: match.intent.id, reason: match.reason, misfits: match.misfits.map(({ field }) => field) },
  };
}

/** Ties go to the first: of two that fit alike, the one that a passkey stands by is meant. */
function attestedFirst(candidates: readonly Candidate[], policy: Policy | null, at: Date): readonly Candidate[] {
  if (policy?.requireAttestation !== true) return candidates;
  const isAttested = ({ attestedAt }: Candidate): boolean => whyUnattested(policy, attestedAt, at) === undefined;
  return [...candidates.filter(isAttested), ...candidates.filter((one) => !isAttested(one))];
}

/** A payment token pays only for its intent, whatever else the rules would allow. */
function tokenMisuse({ token, spending }: DecisionFacts, { candidate, mismatch }: Found): Why | undefined {
  const { kind, amountCents } = spending.request;
  if (token === null || kind === 'verification') return undefined;
  if (token.isUsed) return { rule: 'token_used', reason: 'the payment token was used before', trace: [] };
  const ceilingCents = token.ceilingCents ?? 0;
  if (amountCents > ceilingCents) {
    const reason = `the payment token is for up to ${inWords(ceilingCents)}, asked ${inWords(amountCents)}`;
    return { rule: 'over_ceiling', reason, trace: [] };
  }
  if (candidate?.id === token.intentId) return undefined;
  const why = mismatch?.reason ?? `intent ${token.intentId} of its checkout is not open any more`;
  return { rule: 'checkout_intent', reason: `the payment token pays for nothing: ${why}`, trace: [] };
}

/** A caller that names an intent wants that intent paid, and no other way through the rules. */
function simulationMisfit({ simulation }: DecisionFacts, { candidate, mismatch }: Found): Why | undefined {
  if (simulation?.intentId == null || candidate?.id === simulation.intentId) return undefined;
  const why = mismatch?.reason ?? 'it is not open for this card and this charge any more';
  return { rule: 'simulation_intent', reason: `the simulation names intent ${simulation.intentId}: ${why}`, trace: [] };
}

/** The spending rules, and then the money: a rule's refusal says more than an empty wallet. */
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

/** Of the amount, what has left the available money before. */
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

/** The most that limits and money let through, each asked in turn; undefined when another rule refuses. */
function mostAllowed(
  facts: DecisionFacts,
  found: Found,
  whole: SpendingDecision,
): { amountCents: number; decision: SpendingDecision } | undefined {
  let decision = whole;
  let amountCents = facts.spending.request.amountCents;
  for (let round = 0; round < atMost; round++) {
    const room = roomIn(decision, bookedCents(facts));
    // No more than was collected is no part of the rest.
    if (room === undefined || room <= facts.before.collectedCents || room >= amountCents) return undefined;
    amountCents = room;
    decision = evaluate(facts, found, amountCents);
    if (decision.outcome === 'allow') return { amountCents, decision };
  }
  return undefined;
}

/** How much the refusing rule would have let through; undefined where less would not help. */
function roomIn({ outcome, trace }: SpendingDecision, booked: number): number | undefined {
  const last = trace.at(-1);
  if (outcome !== 'deny' || last === undefined) return undefined;
  const { limitCents, spentCents = 0, availableCents } = last.figures;
  if (last.rule === 'insufficient_funds') return Number(availableCents) + booked;
  const limit = limitCents;
  return typeof limit === 'number' && typeof spentCents === 'number' ? limit - spentCents : undefined;
}

type Told = Pick<Decision, 'candidate' | 'mismatch'>;
type Why = Pick<Decision, 'rule' | 'reason' | 'trace'>;

const approved = (
  outcome: 'approved' | 'partial',
  amountCents: number,
  { rule, reason, trace }: Why,
  told: Told,
): Decision => ({
  outcome,
  approvedCents: cents(amountCents),
  holdCents: cents(amountCents),
  rule,
  reason,
  trace,
  needsPerson: false,
  ...told,
});

/** In the place of an approval. */
const declinedAsWanted: typeof approved = (_outcome, amountCents, { trace }, told) => {
  const reason = `the rules let ${inWords(amountCents)} through, and the simulation asks for a decline`;
  return declined({ rule: 'simulated_decline', reason, trace }, { ...told, mismatch: undefined });
};

const declined = ({ rule, reason, trace }: Why, { mismatch, candidate }: Told): Decision => ({
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
