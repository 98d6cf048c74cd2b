/** The public interface of policies: the spending decision and its rules. @module */
export { type AttestationTerms, attestedUntil, whyUnattested } from './attestation.rules.ts';
export { maxChargeCentsFor, tolerancePercentOf } from './intent-match.rules.ts';
export { policiesArea } from './policy.contract.ts';
export { PolicyRow, PolicySchema } from './policy.entity.ts';
export type { PolicyExpiryView } from './policy.messages.ts';
export { type AgentStanding, agentStanding, policyOfAgent, tolerancesOf } from './policy.queries.ts';
export {
  type CardFacts,
  type CounterFacts,
  type ExpirationAction,
  evaluateSpending,
  expiryOf,
  holderStatuses,
  type IntentFacts,
  type Policy,
  policyCheckOf,
  type RequestFacts,
  type RiskFacts,
  type SpendingDecision,
  type SpendingFacts,
  type SpendingPhase,
} from './policy.rules.ts';
export { copyPolicyFor, removePolicyOf, replaceRules } from './policy.service.ts';
export { policyOf } from './policy.wire.ts';
export { nextExpiryStep } from './policy-expiry.rules.ts';
export { lockExpiredPolicy, markExpired } from './policy-expiry.service.ts';
export { spendingCounters } from './spending-counters.queries.ts';
