/** The messages between the worker and the workflow of an agent's policy: names, ids and JSON-safe shapes. @module */
import type { ExpirationAction } from './policy.rules.ts';

export type PolicyExpiryView = {
  readonly agentId: string;
  /** False once the agent is closed. */
  readonly hasPolicy: boolean;
  readonly action: ExpirationAction;
  /** ISO 8601, business time; null for a policy that never expires. */
  readonly expiresAt: string | null;
};

export const agentPolicyWorkflowId = (agentId: string): string => `agent-policy/${agentId}`;
export const agentPolicyWorkflow = 'agentPolicy';
