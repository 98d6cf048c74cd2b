/** Every workflow: the bundle's only entry. @module */
export { cardLifecycle } from './cards/card-lifecycle.workflow.ts';
export { webhookEndpoint } from './delivery/webhook-endpoint.workflow.ts';
export { checkout } from './payments/checkout.workflow.ts';
export { simulation } from './payments/simulation.workflow.ts';
export { agentPolicy } from './spending/agent-policy.workflow.ts';
export { intentLifecycle } from './spending/intent-lifecycle.workflow.ts';
