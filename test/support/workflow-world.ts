/**
 * A Temporal worker with fake activities on a separate queue, for tests of a workflow's logic on the real dev server.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { createLogger } from '../../src/platform/log.ts';
import { converterPath } from '../../src/temporal/connection.ts';
import { searchAttributes } from '../../src/temporal/gateway.ts';
import { type RunningWorker, startWorker } from '../../src/temporal/worker.ts';

export type WorkflowWorld = {
  readonly client: Client;
  start(workflow: string, workflowId: string, subjectId: string): Promise<WorkflowHandle>;
  /** As a person starts one by hand, with any arguments. */
  startRaw(workflow: string, workflowId: string, args: readonly unknown[]): Promise<WorkflowHandle>;
  /** What an operator reads at the top of the run. */
  detailsOf(handle: WorkflowHandle): Promise<string>;
  close(): Promise<void>;
};

/** `codePath` names a bundle of other workflows than the project's. */
export async function startWorkflowWorld(
  activities: object,
  codePath = process.env.TEST_BUNDLE,
): Promise<WorkflowWorld> {
  const address = process.env.TEST_TEMPORAL;
  if (address === undefined || codePath === undefined) throw new Error('this test needs the shared stack');
  const taskQueue = `w-${randomUUID()}`;
  const connection = await Connection.connect({ address });
  const client = new Client({ connection, dataConverter: { payloadConverterPath: converterPath } });
  const worker: RunningWorker = startWorker({
    address,
    namespace: 'default',
    taskQueue,
    activities,
    workflowBundle: { codePath },
    log: createLogger({ name: 'test-worker', level: 'silent' }),
  });
  return {
    client,
    start: (workflow, workflowId, subjectId) =>
      client.workflow.start(workflow, {
        workflowId,
        taskQueue,
        args: [{ id: subjectId }],
        typedSearchAttributes: new TypedSearchAttributes([{ key: searchAttributes.stage, value: 'started' }]),
      }),
    startRaw: (workflow, workflowId, args) =>
      client.workflow.start(workflow, { workflowId, taskQueue, args: [...args] }),
    detailsOf: (handle) => handle.query<string>('__temporal_workflow_metadata').then((found) => JSON.stringify(found)),
    close: async () => {
      await worker.stop();
      await connection.close();
    },
  };
}
