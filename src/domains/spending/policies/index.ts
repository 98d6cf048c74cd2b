/** The public face of policies: the spending decision, and the rules it judges by. @module */
export { type AttestationTerms, attestedUntil, whyUnattested } from './attestation.rules.ts';
export { matchIntent, misfitsOf, mostFor, tolerancePercentOf } from './intent-match.rules.ts';
export { type PolicyWire, policiesArea, policyOut, traceOut } from './policy.contract.ts';
export { PolicyRow } from './policy.entity.ts';
export { agentPolicyProcessId, type PolicyExpiryView } from './policy.messages.ts';
export {
  type AgentStanding,
  agentStanding,
  findPolicy,
  listPolicies,
  policyOfAgent,
  tolerancesOf,
} from './policy.queries.ts';
export { type PolicyDeps, policyHandlers } from './policy.routes.ts';
export {
  type CardFacts,
  type CounterFacts,
  type ExpirationAction,
  expiryOf,
  type HolderStatus,
  type IntentFacts,
  isSameMerchant,
  judgeSpending,
  type MatchableIntent,
  type MerchantFacts,
  normalised,
  noSpending,
  type Policy,
  policyCheckOf,
  type RequestFacts,
  type RiskFacts,
  resembles,
  type SpendingFacts,
  type TraceEntry,
  type Verdict,
} from './policy.rules.ts';
export { adoptRules, copyPolicyFor, removePolicyOf } from './policy.service.ts';
export { policyOf, policyWire, termsOf, traceWire } from './policy.wire.ts';
export { nextExpiryStep } from './policy-expiry.rules.ts';
export { lockLapsedPolicy, markExpired } from './policy-expiry.service.ts';
export { type Preset, type PresetId, presetIds, presets } from './preset.rules.ts';
