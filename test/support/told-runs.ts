/**
 * What is known of workflow runs that did not get on, for the error of a test: their rows, and what Temporal says of
 * them. Changes nothing.
 * @module
 */
import { Connection } from '@temporalio/client';
import type { Installation } from './installation.ts';

const lastEvents = 40;

/** One line for each run. */
export async function toldRuns(site: Installation, ids: readonly string[]): Promise<string> {
  const connection = await Connection.connect({ address: site.ready.temporalAddress });
  try {
    const rows = await site.sql<{ id: string }>('select * from workflow_runs where id = any($1)', [ids]);
    const lines = rows.map(async (row) =>
      JSON.stringify({ row, ...(await temporalSays(connection, site.ready.temporalNamespace, row.id)) }),
    );
    return (await Promise.all(lines)).join('\n');
  } finally {
    await connection.close();
  }
}

async function temporalSays(connection: Connection, namespace: string, workflowId: string): Promise<object> {
  const execution = { workflowId };
  try {
    const { workflowExecutionInfo, pendingActivities, pendingWorkflowTask } =
      await connection.workflowService.describeWorkflowExecution({ namespace, execution });
    const { history } = await connection.workflowService.getWorkflowExecutionHistory({ namespace, execution });
    const events = history?.events?.slice(-lastEvents) ?? [];
    return { info: workflowExecutionInfo, pendingActivities, pendingWorkflowTask, events };
  } catch (error) {
    return { temporal: String(error) };
  }
}
