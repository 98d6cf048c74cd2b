/**
 * The one line that tells an operator what a run was made for: ids only, fixed at the start of the run. What it waits
 * for now is in its current details.
 * @module
 */
import type { WorkflowRun } from '../platform/workflow-runs.ts';

type Made = Pick<WorkflowRun, 'workflow' | 'subjectId' | 'agentId'>;

export function summaryOf({ workflow, subjectId, agentId }: Made): string {
  const madeFor = sentences[workflow];
  const agent = agentId === null ? '' : ` of agent ${agentId}`;
  return madeFor === undefined ? `${subjectId}${agent}` : madeFor(subjectId, agent);
}

const sentences: Readonly<Record<string, (subjectId: string, ofAgent: string) => string>> = {
  intentLifecycle: (intentId, ofAgent) => `Intent ${intentId}${ofAgent}: to be decided, paid or expired`,
  cardLifecycle: (cardId, ofAgent) => `Card ${cardId}${ofAgent}: issued, kept in step with the processor, closed`,
  checkout: (intentId, ofAgent) => `Checkout of intent ${intentId}${ofAgent}: paid at the shop, or known not to be`,
  agentPolicy: (agentId) => `Policy of agent ${agentId}: when it expires, acted upon once`,
  simulation: (simulationId, ofAgent) =>
    `Simulation ${simulationId}${ofAgent}: a card charged by the simulated network`,
  webhookEndpoint: (webhookId) => `Subscription ${webhookId}: failed deliveries, attempted again until none waits`,
};
