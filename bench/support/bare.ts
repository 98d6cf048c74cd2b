/** Starts and asks the bare workflows: what the same server and the same worker do without Bursar. @module */
import { randomUUID } from 'node:crypto';
import { Client, Connection, WithStartWorkflowOperation } from '@temporalio/client';
import { converterPath } from '../../src/temporal/connection.ts';
import type { Steps } from '../floor/bare-workflows.ts';
import { startProgram } from './program.ts';
import type { Ending } from './run.ts';

export type Bare = {
  readonly client: Client;
  readonly pid: number;
  /** Workflows with one activity, this many at a time; answers how many ended. */
  run(seconds: number, atOnce: number): Promise<number>;
  /** Workflows with several activities, two of which request the address; answers how long each took, in ms. */
  runSteps(steps: Steps, seconds: number, atOnce: number): Promise<number[]>;
  /** One of these; answers its id when it has ended. */
  runStepsOnce(steps: Steps): Promise<string>;
  /** A workflow that waits for `decide`. */
  wait(): Promise<string>;
  decide(workflowId: string): Promise<void>;
};

const taskQueue = 'bench-bare';

export async function startBare(address: string, atEnd: Ending, databaseUrl?: string): Promise<Bare> {
  const env = { TEMPORAL_ADDRESS: address, ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }) };
  const worker = await startProgram('bench/floor/bare-worker.ts', env, atEnd);
  const connection = await Connection.connect({ address });
  atEnd(() => connection.close());
  const client = new Client({ connection, dataConverter: { payloadConverterPath: converterPath } });
  const runStepsOnce = async (steps: Steps): Promise<string> => {
    const workflowId = `bare/${randomUUID()}`;
    const startWorkflowOperation = new WithStartWorkflowOperation('bareSteps', {
      workflowId,
      taskQueue,
      args: [steps],
      workflowIdConflictPolicy: 'USE_EXISTING',
    });
    await client.workflow.executeUpdateWithStart('ended', { startWorkflowOperation });
    return workflowId;
  };
  const options = (id: string) => ({ workflowId: `bare/${id}`, taskQueue, args: [{ id }] as [{ id: string }] });
  return {
    client,
    pid: worker.pid,
    run: async (seconds, atOnce) => {
      const until = performance.now() + seconds * 1_000;
      let count = 0;
      const one = async (): Promise<void> => {
        while (performance.now() < until) {
          await client.workflow.execute('bare', options(randomUUID()));
          count += 1;
        }
      };
      await Promise.all(Array.from({ length: atOnce }, one));
      return count;
    },
    runSteps: async (steps, seconds, atOnce) => {
      const until = performance.now() + seconds * 1_000;
      const took: number[] = [];
      const one = async (): Promise<void> => {
        while (performance.now() < until) {
          const start = performance.now();
          await runStepsOnce(steps);
          took.push(performance.now() - start);
        }
      };
      await Promise.all(Array.from({ length: atOnce }, one));
      return took;
    },
    runStepsOnce,
    wait: async () => (await client.workflow.start('bareUpdate', options(randomUUID()))).workflowId,
    decide: async (workflowId) => {
      const startWorkflowOperation = new WithStartWorkflowOperation('bareUpdate', {
        ...options(workflowId.slice('bare/'.length)),
        workflowIdConflictPolicy: 'USE_EXISTING',
      });
      await client.workflow.executeUpdateWithStart('decide', { startWorkflowOperation, args: ['approve'] });
    },
  };
}
