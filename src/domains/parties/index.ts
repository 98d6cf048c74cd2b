/** The public interface of parties: customers, limits and agents. @module */
import { AgentRow } from './agents/agent.entity.ts';

export { type AgentRecord, type AgentWalletRecord, agentsArea } from './agents/agent.contract.ts';
export { agentNames, agentsInPlan, lockAgent } from './agents/agent.queries.ts';
export type { AgentDeps, AgentName, AgentOrder } from './agents/agent.routes.ts';
export { type AgentStatus, commandFor, spendableCents, whyNoFunds } from './agents/agent.rules.ts';
export { agentBecomesVisible, changeAgent, insertAgent, moveAgentRow, ownedRow } from './agents/agent.service.ts';
export { customersArea } from './customers/customer.contract.ts';
export type { EnsureCustomer, Parties } from './customers/customer.routes.ts';
export { insertCustomer, lockPlan } from './customers/customer.service.ts';
export { planLimits, whyFull } from './customers/plan.rules.ts';
export { limitsArea } from './limits/limit.contract.ts';
export { AgentRow };
