/** The public face of parties: customers and agents, for whom everything is done. @module */
import { AgentRow } from './agents/agent.entity.ts';
import { CustomerRow } from './customers/customer.entity.ts';

export { type AgentRecord, type AgentWalletRecord, agentsArea } from './agents/agent.contract.ts';
export { agentNames, agentsInPlan, lockAgent } from './agents/agent.queries.ts';
export {
  type AgentDeps,
  type AgentFilter,
  type AgentName,
  type AgentOrder,
  agentHandlers,
} from './agents/agent.routes.ts';
export { type AgentStatus, commandFor, type Funding, spendableCents, whyNoFunds } from './agents/agent.rules.ts';
export {
  type AgentChange,
  agentBecomesVisible,
  changeAgent,
  insertAgent,
  type MovedAgent,
  moveAgentRow,
  ownedRow,
} from './agents/agent.service.ts';
export { type CustomerRecord, customersArea } from './customers/customer.contract.ts';
export { type CustomerDeps, customerHandlers, type EnsureCustomer } from './customers/customer.routes.ts';
export type { DefaultPolicy } from './customers/customer.rules.ts';
export { insertCustomer, lockPlan, type NewCustomer, updateCustomer } from './customers/customer.service.ts';
export { type Plan, planLimits, whyFull } from './customers/plan.rules.ts';
export { AgentRow, CustomerRow };

export const partiesEntities = [CustomerRow, AgentRow] as const;
