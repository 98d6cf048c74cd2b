/**
 * Runs workflows and activities while Temporal is there, and comes back when it is: a worker that loses its server
 * for long is made anew. Knows neither domains nor what the activities do.
 * @module
 */
import {
  DefaultLogger,
  makeTelemetryFilterString,
  NativeConnection,
  Runtime,
  Worker,
  type WorkerOptions,
} from '@temporalio/worker';
import type { Logger } from '../platform/log.ts';
import { activityFailures } from './activity-failures.ts';
import { converterPath, type TemporalOptions } from './connection.ts';

export type RunningWorker = { stop(): Promise<void>; isRunning(): boolean };

type Options = TemporalOptions & {
  taskQueue: string;
  activities: object;
  /** Bundled once for all queues of a process. */
  workflowBundle: NonNullable<WorkerOptions['workflowBundle']>;
  log: Logger;
};

const retryMs = 1_000;
const drainMs = 10_000;

export function startWorker(options: Options): RunningWorker {
  speakThrough(options.log);
  let current: Worker | undefined;
  let stopping = false;
  let wake: (() => void) | undefined;

  const run = async (): Promise<void> => {
    while (!stopping) {
      try {
        await once();
      } catch (error) {
        if (stopping) return;
        options.log.warn({ err: error, taskQueue: options.taskQueue }, 'Temporal is away; the worker tries again');
        await new Promise<void>((resolve) => {
          wake = resolve;
          setTimeout(resolve, retryMs);
        });
      }
    }
  };

  const once = async (): Promise<void> => {
    const connection = await NativeConnection.connect({ address: options.address, ...options.security });
    try {
      current = await Worker.create({
        connection,
        namespace: options.namespace,
        taskQueue: options.taskQueue,
        activities: options.activities,
        workflowBundle: options.workflowBundle,
        dataConverter: { payloadConverterPath: converterPath },
        maxCachedWorkflows: 400,
        maxConcurrentActivityTaskExecutions: 40,
        shutdownGraceTime: drainMs,
        interceptors: { activity: [activityFailures(options.log)] },
      });
      const ended = current.run();
      // Only a worker that runs can be shut down, and gives its threads back.
      if (stopping) current.shutdown();
      await ended;
    } finally {
      current = undefined;
      await connection.close();
    }
  };

  const ended = run();
  return {
    isRunning: () => current?.getState() === 'RUNNING',
    stop: async () => {
      stopping = true;
      wake?.();
      if (current?.getState() === 'RUNNING') current.shutdown();
      await ended;
    },
  };
}

let spoken = false;

/** The SDK's own messages go into the process' log, once per process; its routine ones do not. */
function speakThrough(log: Logger): void {
  if (spoken) return;
  spoken = true;
  const sdk = log.child({ part: 'temporal-sdk' });
  Runtime.install({
    logger: new DefaultLogger('WARN', ({ level, message, meta }) => {
      if (level === 'ERROR') sdk.error({ ...meta }, message);
      else sdk.warn({ ...meta }, message);
    }),
    telemetryOptions: {
      logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' }) },
    },
  });
}
