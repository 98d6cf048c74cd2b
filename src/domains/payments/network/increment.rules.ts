/**
 * The decision on an increment: whether more is held for a payment that was approved. Evaluated like an authorization of
 * the whole new amount: what was approved before, or more where more was collected, and the increment. Money is asked for
 * the increment only. Pure.
 * @module
 */
import { add, type Cents, cents, inWords, subtract, zero } from '../../../kernel/money.ts';
import type { TransactionState } from '../transactions/transaction.rules.ts';
import { type Decision, type DecisionFacts, decideAuthorization, noPriorMessages } from './authorization.rules.ts';
import { explained } from './remedy.rules.ts';

export type IncrementedPayment = TransactionState & {
  readonly intentId?: string | null | undefined;
  readonly isVerification: boolean;
  readonly declineRule?: string | null | undefined;
  readonly holdExpiresAt?: Date | null | undefined;
};

export type IncrementFacts = {
  readonly payment: IncrementedPayment;
  /** By how much the hold is to grow. */
  readonly amountCents: number;
  /** Of the card: the only candidate is the payment's intent, and the counters leave the payment out. */
  readonly card: DecisionFacts;
};

/** `approvedCents` and `holdCents` are what the hold grows by. */
export function decideIncrement({ payment, amountCents, card }: IncrementFacts): Decision {
  const ended = whyNoMore(payment, card.spending.at);
  if (ended !== undefined) return refused(ended);
  const beforeCents = wholeBefore(payment);
  const wholeCents = add(beforeCents, amountCents);
  const facts: DecisionFacts = {
    ...card,
    spending: {
      ...card.spending,
      request: { ...card.spending.request, amountCents: wholeCents, isIncrement: true },
    },
    before: { ...noPriorMessages, collectedCents: beforeCents, isBooked: true },
  };
  const decision = decided(facts, beforeCents);
  const intent = payment.intentId ?? undefined;
  const grantedCents = cents(Math.max(0, subtract(decision.approvedCents, beforeCents)));
  const raising = `raising ${inWords(beforeCents)} to ${inWords(wholeCents)}`;
  if (decision.outcome !== 'declined' && decision.candidate?.id !== intent) {
    const reason = decision.mismatch?.reason ?? `intent ${intent} does not pay for this charge any more`;
    return refused({ rule: 'intent', reason: `${raising}: ${reason}`, trace: decision.trace });
  }
  const { rule } = decision;
  return {
    ...decision,
    approvedCents: grantedCents,
    holdCents: grantedCents,
    reason: `${raising}: ${decision.reason}`,
    // The payment keeps its intent, so neither another one nor a later approval would help.
    remedy: ofIntent.has(rule) ? null : (explained(facts, decision).remedy ?? null),
    needsPerson: false,
    mismatch: undefined,
  };
}

/** What the payment may cost without the increment. An advice may have approved more than there was money to hold. */
export const wholeBefore = ({
  heldCents,
  clearedCents,
  approvedCents,
  reversedCents,
}: Pick<TransactionState, 'heldCents' | 'clearedCents' | 'approvedCents' | 'reversedCents'>): Cents =>
  cents(Math.max(heldCents + clearedCents, approvedCents - reversedCents));

const ofIntent: ReadonlySet<string> = new Set(['intent_required', 'auto_approve_limit', 'risk', 'over_ceiling']);

/** A part has to exceed what the payment has; otherwise the refusal of the whole stands. */
function decided(facts: DecisionFacts, beforeCents: number): Decision {
  const whole = decideAuthorization({ ...facts, partialSupported: false });
  if (whole.outcome !== 'declined' || !facts.partialSupported) return whole;
  const part = decideAuthorization(facts);
  return part.outcome === 'partial' && part.approvedCents > beforeCents ? part : whole;
}

type Why = Pick<Decision, 'rule' | 'reason' | 'trace'>;

/** A payment that has ended, or never began, holds nothing that could grow. */
function whyNoMore(
  { status, isVerification, isFinal, approvedCents, declineRule, holdExpiresAt }: IncrementedPayment,
  at: Date,
): Why | undefined {
  const because = (rule: string, reason: string): Why => ({ rule, reason, trace: [] });
  if (isVerification) return because('authorization_ended', 'the authorization verified the card, and holds nothing');
  // Also where the network has collected a part of it nevertheless.
  if (status === 'failed' || approvedCents === 0) {
    return because('authorization_declined', `the authorization was declined by the rule ${declineRule ?? 'unknown'}`);
  }
  if (status === 'reversed') return because('authorization_ended', 'nothing of the authorization is left');
  if (status === 'completed' || isFinal) return because('authorization_ended', 'the last clearing has come');
  if (holdExpiresAt != null && holdExpiresAt <= at) {
    return because('authorization_ended', `the hold expired at ${holdExpiresAt.toISOString()}`);
  }
  return undefined;
}

const refused = (why: Why): Decision => ({
  ...why,
  outcome: 'declined',
  approvedCents: zero,
  holdCents: zero,
  candidate: undefined,
  needsPerson: false,
  mismatch: undefined,
  remedy: null,
});
