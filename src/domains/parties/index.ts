/** The public interface of parties: customers, limits and agents. @module */

export { lockAgent } from './agents/agent.queries.ts';
export type { Parties } from './customers/customer.routes.ts';
export { findPlan, lockPlan } from './customers/customer.service.ts';
export { planLimits, whyFull } from './customers/plan.rules.ts';
