/** The public interface of policies: the spending decision and its rules. @module */
export { maxChargeCentsFor } from './intent-match.rules.ts';
export { PolicySchema } from './policy.entity.ts';
export { tolerancesOf } from './policy.queries.ts';
export { type CardControls, holderStatuses, type RequestFacts, type RiskFacts } from './policy.rules.ts';
export { policyVersionWire, traceWire } from './policy.wire.ts';
export { policyVersionOut, traceOut } from './policy-shapes.contract.ts';
export { findPolicyVersion, type PolicyVersion } from './policy-version.queries.ts';
export { spendingCounters } from './spending-counters.queries.ts';
