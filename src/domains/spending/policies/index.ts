/** The public face of policies: the spending decision, and the rules it judges by. @module */
export { type AttestationTerms, attestedUntil, whyUnattested } from './attestation.rules.ts';
export { mostFor, tolerancePercentOf } from './intent-match.rules.ts';
export { policiesArea } from './policy.contract.ts';
export { PolicyRow } from './policy.entity.ts';
export type { PolicyExpiryView } from './policy.messages.ts';
export { type AgentStanding, agentStanding, policyOfAgent, tolerancesOf } from './policy.queries.ts';
export { policyHandlers } from './policy.routes.ts';
export {
  type CardFacts,
  type CounterFacts,
  type ExpirationAction,
  expiryOf,
  judgeSpending,
  type MerchantFacts,
  noSpending,
  type Policy,
  policyCheckOf,
  type RequestFacts,
  type RiskFacts,
  type SpendingFacts,
  type Verdict,
} from './policy.rules.ts';
export { adoptRules, copyPolicyFor, removePolicyOf } from './policy.service.ts';
export { policyOf } from './policy.wire.ts';
export { nextExpiryStep } from './policy-expiry.rules.ts';
export { lockLapsedPolicy, markExpired } from './policy-expiry.service.ts';
