/** What an operator can read of a run through Temporal's API, and nothing else: no database, no HTTP. @module */
import { Client, Connection, WorkflowNotFoundError } from '@temporalio/client';
import { converterPath } from '../../src/temporal/connection.ts';
import type { History } from './history-json.ts';
import { eventually } from './world.ts';

export type RunView = {
  readonly id: string;
  readonly type: string;
  readonly taskQueue: string;
  readonly status: string;
  readonly summary: string | undefined;
  /** The text at the top of the run, paragraph by paragraph: the present, then what was ignored. */
  readonly details: string;
  readonly attributes: Readonly<Record<string, unknown>>;
};

export type OpenTemporal = {
  /** A run begins a moment after its row is answered. */
  started(workflowId: string): Promise<void>;
  viewOf(workflowId: string): Promise<RunView>;
  signal(workflowId: string, name: string, input?: unknown): Promise<void>;
  historyOf(workflowId: string): Promise<History>;
  readonly client: Client;
  close(): Promise<void>;
};

export async function openTemporal(
  address = process.env.TEST_TEMPORAL ?? '',
  namespace = 'default',
): Promise<OpenTemporal> {
  const connection = await Connection.connect({ address });
  const client = new Client({ connection, namespace, dataConverter: { payloadConverterPath: converterPath } });
  return {
    client,
    started: async (workflowId) => {
      await eventually(
        () => isThere(client, workflowId),
        (there) => there,
      );
    },
    viewOf: async (workflowId) => {
      const handle = client.workflow.getHandle(workflowId);
      const found = await handle.describe();
      const metadata = await handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata');
      return {
        id: found.workflowId,
        type: found.type,
        taskQueue: found.taskQueue,
        status: found.status.name,
        summary: await found.staticSummary(),
        details: (metadata.currentDetails ?? '').replaceAll('\n\n', '\n'),
        attributes: Object.fromEntries(
          found.typedSearchAttributes
            .getAll()
            .map(({ key, value }) => [key.name, value] as const)
            .filter(([name]) => name.startsWith('Bursar')),
        ),
      };
    },
    signal: async (workflowId, name, input) => {
      await client.workflow.getHandle(workflowId).signal(name, ...(input === undefined ? [] : [input]));
    },
    historyOf: (workflowId) => client.workflow.getHandle(workflowId).fetchHistory(),
    close: () => connection.close(),
  };
}

async function isThere(client: Client, workflowId: string): Promise<boolean> {
  try {
    await client.workflow.getHandle(workflowId).describe();
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
