/**
 * Runs workflows and activities while Temporal is reachable. A worker that loses its server for long is replaced by a
 * new one. Knows neither domains nor what the activities do.
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
import { stopTimes } from '../platform/stop-times.ts';
import { activityFailures } from './activity-failures.ts';
import { converterPath, type TemporalOptions } from './connection.ts';
import { failingTaskReporter, type RunNamed } from './failing-tasks.ts';

export type RunningWorker = { stop(): Promise<void>; isRunning(): boolean };

type Options = TemporalOptions & {
  taskQueue: string;
  activities: object;
  /** Bundled once for all queues of a process. */
  workflowBundle: NonNullable<WorkerOptions['workflowBundle']>;
  log: Logger;
  size?: WorkerSize;
  /** Where the SDK serves its metrics, `host:port`; the first worker of a process decides. Absent = nowhere. */
  metricsAddress?: string | undefined;
};

/** How much of the machine one worker may take. */
export type WorkerSize = {
  readonly activitySlots: number;
  readonly workflowSlots: number;
  /** Workflow runs that are kept in memory between their tasks; about 0.5 MB each. */
  readonly cachedRuns: number;
};

export const defaultSize: WorkerSize = { activitySlots: 40, workflowSlots: 40, cachedRuns: 400 };

const retryMs = 1_000;

export function startWorker(options: Options): RunningWorker {
  speakThrough(options.log, options.metricsAddress);
  const { activitySlots, workflowSlots, cachedRuns } = options.size ?? defaultSize;
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
    findRun = (runId) => runOf(connection, options.namespace, runId);
    try {
      current = await Worker.create({
        connection,
        namespace: options.namespace,
        taskQueue: options.taskQueue,
        activities: options.activities,
        workflowBundle: options.workflowBundle,
        dataConverter: { payloadConverterPath: converterPath },
        maxCachedWorkflows: cachedRuns,
        maxConcurrentActivityTaskExecutions: activitySlots,
        maxConcurrentWorkflowTaskExecutions: workflowSlots,
        shutdownGraceTime: stopTimes.drainMs,
        shutdownForceTime: stopTimes.forceMs,
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

/** Through the worker's newest connection. */
let findRun: ((runId: string) => Promise<RunNamed | undefined>) | undefined;

async function runOf(connection: NativeConnection, namespace: string, runId: string): Promise<RunNamed | undefined> {
  const query = `RunId = '${runId.replaceAll("'", '')}'`;
  const { executions } = await connection.workflowService.listWorkflowExecutions({ namespace, query, pageSize: 1 });
  const [found] = executions ?? [];
  const workflowId = found?.execution?.workflowId;
  return workflowId == null ? undefined : { workflowId, workflowType: found?.type?.name ?? '' };
}

let spoken = false;

/** The SDK's own messages go into the process' log, once per process; its routine ones do not. */
function speakThrough(log: Logger, metricsAddress: string | undefined): void {
  if (spoken) return;
  spoken = true;
  const sdk = log.child({ part: 'temporal-sdk' });
  const nameRun = failingTaskReporter(async (runId) => findRun?.(runId), sdk);
  Runtime.install({
    logger: new DefaultLogger('WARN', ({ level, message, meta }) => {
      if (level === 'ERROR') sdk.error({ ...meta }, message);
      else sdk.warn({ ...meta }, message);
      const runId: unknown = meta?.run_id ?? meta?.runId;
      if (/^Failing workflow/.test(message) && typeof runId === 'string') nameRun(runId);
    }),
    telemetryOptions: {
      logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }) },
      ...(metricsAddress === undefined ? {} : { metrics: { prometheus: { bindAddress: metricsAddress } } }),
    },
  });
}
