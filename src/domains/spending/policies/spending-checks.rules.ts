/**
 * The rules of a spending decision, one function each, in the order of their evaluation. A rule that does not apply
 * returns nothing; one that applies returns its outcome with its figures.
 * @module
 */
import { lengthInWords, minute } from '../../../kernel/instant.ts';
import { inWords } from '../../../kernel/money.ts';
import { attestationWindowOf, whyUnattested } from './attestation.rules.ts';
import { misfitsOf } from './intent-match.rules.ts';
import {
  cardControlChecks,
  deny,
  type Finding,
  pass,
  policyMerchantChecks,
  policyPlaceChecks,
  unnamed,
} from './merchant-checks.rules.ts';
import { isDrifted, isKnown, isStillMerchant, type MerchantFacts, merchantInWords } from './merchant-match.rules.ts';
import { expiryOf, isPolicyExpired } from './policy-expiry.rules.ts';
import type { CardFacts, Policy, RequestFacts, SpendingFacts } from './spending-facts.rules.ts';

/** Several where one kind of check is made of several lists. */
type Check = (facts: SpendingFacts, policy: Policy) => Finding | undefined | readonly (Finding | undefined)[];

/** Before any policy is needed. */
export function holderChecks({ agent, card, policy, at }: SpendingFacts): Finding | undefined {
  if (agent.status !== 'active') return deny('agent_status', `the agent is ${agent.status}`, { status: agent.status });
  if (card?.isProvisioning) return deny('card_status', 'the card is not issued yet', { status: 'provisioning' });
  if (card !== undefined && card.status !== 'active') {
    return deny('card_status', `the card is ${card.status}`, { status: card.status });
  }
  const expiredAt = card === undefined ? null : expiryOfCard(card);
  if (expiredAt !== null && expiredAt <= at) {
    const expiresAt = expiredAt.toISOString();
    return deny('card_expiry', `the card expired at ${expiresAt}; rotating it issues one with a new date`, {
      expiresAt,
    });
  }
  return policy === null ? deny('no_policy', 'the agent has no policy, so nothing may be spent', {}) : undefined;
}

function expiryOfCard({ expiryMonth, expiryYear }: Pick<CardFacts, 'expiryMonth' | 'expiryYear'>): Date | null {
  return expiryMonth === null || expiryYear === null ? null : new Date(Date.UTC(expiryYear, expiryMonth));
}

const policyExpiry: Check = ({ at }, policy) => {
  const expiresAt = expiryOf(policy);
  if (expiresAt === null) return undefined;
  const figures = { expiresAt: expiresAt.toISOString() };
  if (!isPolicyExpired(policy, at)) return pass('policy_expiry', figures);
  return deny('policy_expiry', `the policy expired at ${figures.expiresAt}`, figures);
};

const firstMerchant: Check = ({ request: { merchant, mcc }, counters, phase }, { lockToFirstMerchant }) => {
  const first = counters.firstMerchant;
  if (!lockToFirstMerchant || first === null) return undefined;
  if (merchant === undefined || !isKnown(merchant)) return unnamed('first_merchant', 'merchant', '', phase);
  const figures = { first: merchantInWords(first), merchant: merchantInWords(merchant) };
  if (isStillMerchant(first, { ...merchant, mcc })) return pass('first_merchant', figures);
  const reason = `locked to its first merchant ${figures.first}, asked by ${figures.merchant}`;
  if (!isDrifted(first, merchant)) return deny('first_merchant', reason, figures);
  const categories = { firstMcc: first.mcc ?? '', mcc: mcc ?? '' };
  const of = `the category ${categories.mcc} and not ${categories.firstMcc}`;
  return deny('first_merchant', `${reason}, which has ${of}`, { ...figures, ...categories });
};

const activeHours: Check = ({ at }, { activeHoursStart, activeHoursEnd }) => {
  if (activeHoursStart === null && activeHoursEnd === null) return undefined;
  const [start, end, hour] = [activeHoursStart ?? 0, activeHoursEnd ?? 24, at.getUTCHours()];
  const isInside = start < end ? hour >= start && hour < end : start === end || hour >= start || hour < end;
  const figures = { start, end, hour };
  if (isInside) return pass('active_hours', figures);
  const reason = `active hours are ${start}:00 to ${end}:00 UTC, it is ${at.toISOString().slice(11, 16)}`;
  return deny('active_hours', reason, figures);
};

const cooldown: Check = ({ at, counters: { lastPaymentAt }, request }, { cooldownMinutes }) => {
  if (!cooldownMinutes || lastPaymentAt === null || request.recurring || isNoPayment(request)) return undefined;
  const passedMs = at.getTime() - lastPaymentAt.getTime();
  const figures = { cooldownMinutes, passedMinutes: Math.max(0, Math.floor(passedMs / minute)) };
  const leftMs = cooldownMinutes * minute - passedMs;
  if (leftMs <= 0) return pass('cooldown', figures);
  const reason = `${cooldownMinutes} min must lie between payments, ${lengthInWords(leftMs)} are left`;
  return deny('cooldown', reason, figures);
};

const singleUse: Check = ({ card, counters: { usageCount }, request }) => {
  if (card?.usage !== 'single' || isNoPayment(request)) return undefined;
  if (usageCount === 0) return pass('single_use', { usageCount });
  return deny('single_use', 'the card is for one payment and has been used', { usageCount });
};

const usageCount: Check = ({ counters, request }, { maxUsageCount }) => {
  if (maxUsageCount === null || isNoPayment(request)) return undefined;
  const figures = { maxUsageCount, usageCount: counters.usageCount };
  if (counters.usageCount < maxUsageCount) return pass('usage_count', figures);
  return deny('usage_count', `usage count ${maxUsageCount}, used ${counters.usageCount}`, figures);
};

const intentStands: Check = ({ intent, request, phase }, policy) => {
  if (phase === 'declare' || isVerification(request)) return undefined;
  if (intent === undefined) {
    const why =
      phase === 'transfer'
        ? 'the transfer names no intent, and the policy requires one'
        : 'no approved intent fits this charge';
    return policy.requireIntent ? deny('require_intent', why, {}) : undefined;
  }
  const figures = { intentId: intent.id, status: intent.status, expectedCents: intent.expectedAmountCents };
  if (intent.status !== 'approved') return deny('intent', `intent ${intent.id} is ${intent.status}`, figures);
  const [misfit] = receiversOf(request).flatMap((receiver) =>
    misfitsOf(intent, { ...request, merchant: receiver }, policy.amountTolerancePercent),
  );
  return misfit === undefined ? pass('intent', figures) : deny('intent', misfit.reason, figures);
};

/** A transfer has no merchant: its payees are compared with that of the intent. */
const receiversOf = ({ merchant, payees }: RequestFacts): readonly (MerchantFacts | undefined)[] =>
  payees === undefined || payees.length === 0 ? [merchant] : payees.map((name) => ({ name }));

const attestation: Check = ({ intent, request, phase, at }, policy) => {
  if (!policy.requireAttestation || phase === 'declare' || isVerification(request)) return undefined;
  const attestedAt = intent?.attestedAt ?? null;
  const why = whyUnattested(policy, attestedAt, at);
  const figures = { windowMinutes: attestationWindowOf(policy), attestedAt: attestedAt?.toISOString() ?? null };
  return why === undefined ? pass('attestation', figures) : deny('attestation', why, figures);
};

const autoApprove: Check = ({ request, intent, phase }, { autoApproveLimitCents }) => {
  if (autoApproveLimitCents === null || isVerification(request)) return undefined;
  const figures = { limitCents: autoApproveLimitCents, askedCents: request.amountCents };
  const isApprovedByPerson = phase !== 'declare' && intent !== undefined && !intent.autoApproved;
  if (isApprovedByPerson) return pass('auto_approve_limit', { ...figures, approvedByPerson: true });
  if (autoApproveLimitCents > 0 && request.amountCents <= autoApproveLimitCents)
    return pass('auto_approve_limit', figures);
  const most = autoApproveLimitCents > 0 ? `up to ${inWords(autoApproveLimitCents)} EUR` : 'nothing';
  const reason = `this agent may spend ${most} without asking: a person has to approve ${inWords(request.amountCents)} EUR`;
  return { rule: 'auto_approve_limit', outcome: 'needs_approval', reason, figures };
};

const risk: Check = ({ risk: { outcome, signals }, intent, phase }) => {
  const figures = { outcome, signals: signals.join(', ') };
  const why = signals.length === 0 ? 'no signal named' : figures.signals;
  if (outcome === 'deny') return deny('risk', `refused as too risky: ${why}`, figures);
  const isApprovedByPerson = phase !== 'declare' && intent !== undefined && !intent.autoApproved;
  if (outcome === 'allow' || isApprovedByPerson) return pass('risk', figures);
  return { rule: 'risk', outcome: 'needs_approval', reason: `risk asks for a review: ${why}`, figures };
};

const limits: readonly Check[] = [
  (facts, { maxTransactionCents }) => cap('max_transaction', 'transaction limit', maxTransactionCents, facts),
  (facts) => cap('card_max_transaction', 'card transaction limit', facts.card?.limits.maxTransactionCents, facts),
  (facts) =>
    sum(
      'card_daily_limit',
      'card daily limit',
      facts.card?.limits.dailyLimitCents,
      facts.counters.cardSpentTodayCents,
      facts,
    ),
  (facts) =>
    sum(
      'card_monthly_limit',
      'card monthly limit',
      facts.card?.limits.monthlyLimitCents,
      facts.counters.cardSpentThisMonthCents,
      facts,
    ),
  (facts, { dailyLimitCents }) =>
    sum('daily_limit', 'daily limit', dailyLimitCents, facts.counters.spentTodayCents, facts),
  (facts, { monthlyLimitCents }) =>
    sum('monthly_limit', 'monthly limit', monthlyLimitCents, facts.counters.spentThisMonthCents, facts),
];

const merchant: Check = (facts, policy) => policyMerchantChecks(policy, facts);
const place: Check = (facts, policy) => policyPlaceChecks(policy, facts);
const cardControls: Check = (facts) =>
  facts.card?.controls ? cardControlChecks(facts.card.controls, facts) : undefined;

/** The order of evaluating. */
const checks: readonly Check[] = [
  ...[policyExpiry, merchant, firstMerchant, place, cardControls, activeHours],
  ...[cooldown, singleUse, usageCount, ...limits, intentStands, attestation, autoApprove, risk],
];

/** Lazily: nothing after the first refusal is evaluated. */
export function* policyFindings(facts: SpendingFacts, policy: Policy): Generator<Finding> {
  for (const check of checks)
    for (const finding of [check(facts, policy)].flat()) if (finding !== undefined) yield finding;
}

const isVerification = ({ kind }: SpendingFacts['request']): boolean => kind === 'verification';
/** It uses nothing up: a check of the card, or more for a payment that counts already. */
const isNoPayment = (request: SpendingFacts['request']): boolean =>
  isVerification(request) || request.isIncrement === true;

function cap(
  rule: string,
  name: string,
  limitCents: number | null | undefined,
  { request }: SpendingFacts,
): Finding | undefined {
  if (limitCents === null || limitCents === undefined || isVerification(request)) return undefined;
  const figures = { limitCents, askedCents: request.amountCents };
  if (request.amountCents <= limitCents) return pass(rule, figures);
  return deny(rule, `${name} ${inWords(limitCents)}, asked ${inWords(request.amountCents)}`, figures);
}

function sum(
  rule: string,
  name: string,
  limitCents: number | null | undefined,
  spentCents: number,
  { request }: SpendingFacts,
): Finding | undefined {
  if (limitCents === null || limitCents === undefined || isVerification(request)) return undefined;
  const figures = { limitCents, spentCents, askedCents: request.amountCents };
  if (spentCents + request.amountCents <= limitCents) return pass(rule, figures);
  const reason = `${name} ${inWords(limitCents)}, spent ${inWords(spentCents)}, asked ${inWords(request.amountCents)}`;
  return deny(rule, reason, figures);
}
