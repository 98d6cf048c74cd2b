/**
 * Whether money may be spent: the one pure evaluation of declaration, approval, execute, the network's authorization
 * and `simulate`. Time, policy and sums are arguments.
 * @module
 */
import { inWords } from '../../../kernel/money.ts';
import { lifted } from './lifting.rules.ts';
import type { Finding } from './merchant-checks.rules.ts';
import { holderChecks, policyFindings } from './spending-checks.rules.ts';
import type { SpendingDecision, SpendingFacts, TraceEntry } from './spending-facts.rules.ts';

export {
  type IntentMatch,
  type MatchableIntent,
  type Misfit,
  matchIntent,
  maxChargeCentsFor,
  misfitsOf,
} from './intent-match.rules.ts';
export { mayBeAllowedOnce } from './lifting.rules.ts';
export {
  isSameMerchant,
  isStillMerchant,
  type MerchantFacts,
  merchantInWords,
  normalised,
  resembles,
} from './merchant-match.rules.ts';
export { expiryOf } from './policy-expiry.rules.ts';
export {
  type CardControls,
  type CardFacts,
  type CounterFacts,
  type ExpirationAction,
  expirationActions,
  type Figures,
  type HolderStatus,
  holderStatuses,
  type IntentFacts,
  noSpending,
  type PayeeMismatch,
  type Policy,
  type PolicyTerms,
  payeeMismatches,
  type RequestFacts,
  type RiskFacts,
  type SpendingDecision,
  type SpendingFacts,
  type SpendingPhase,
  type TraceEntry,
  traceOutcomes,
} from './spending-facts.rules.ts';

/** The first refusal decides; without one the first rule that wants a person does; otherwise it is allowed. */
export function evaluateSpending(facts: SpendingFacts): SpendingDecision {
  const trace: TraceEntry[] = [];
  let asking: Finding | undefined;
  for (const found of findings(facts)) {
    const finding = lifted(found, facts);
    const { reason: _words, ...entry } = finding;
    trace.push(entry);
    if (finding.outcome === 'deny') return { outcome: 'deny', rule: finding.rule, reason: finding.reason, trace };
    if (finding.outcome === 'needs_approval') asking ??= finding;
  }
  if (asking !== undefined) return { outcome: 'needs_approval', rule: asking.rule, reason: asking.reason, trace };
  const reason = `${inWords(facts.request.amountCents)} is within all rules`;
  return { outcome: 'allow', rule: 'within_rules', reason, trace };
}

function* findings(facts: SpendingFacts): Generator<Finding> {
  const holder = holderChecks(facts);
  if (holder !== undefined) yield holder;
  else if (facts.policy !== null) yield* policyFindings(facts, facts.policy);
}

/** The short form that intents and `simulate` show. */
export const policyCheckOf = ({ outcome, reason }: SpendingDecision): PolicyCheck => ({
  allowed: outcome !== 'deny',
  requiresApproval: outcome === 'needs_approval',
  reason: outcome === 'allow' ? null : reason,
});
export type PolicyCheck = { allowed: boolean; requiresApproval: boolean; reason: string | null };
