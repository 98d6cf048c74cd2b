/** Finds a run that no address names, as an operator does: by its workflow and agent. @module */
import type { Client } from '@temporalio/client';
import { until } from './stage.ts';

export const runOf =
  (client: Client) =>
  (workflow: string, agentId: string): Promise<string> =>
    until(
      async () => {
        const query = `WorkflowType = '${workflow}' AND BursarAgentId = '${agentId}'`;
        for await (const { workflowId } of client.workflow.list({ query })) return workflowId;
        return '';
      },
      (workflowId) => workflowId !== '',
      `a run of ${workflow} for ${agentId}`,
    );
