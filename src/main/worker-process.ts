/**
 * The worker as one object: Temporal workers for each queue, and the background loops, which run with Temporal away
 * too. `worker.ts` runs it as a process, tests run it inside theirs.
 * @module
 */

import { beat } from '../platform/heartbeats.ts';
import { startListener } from '../relay/listener.ts';
import { startLoop } from '../relay/loop.ts';
import { reconcileProcesses } from '../relay/processes.ts';
import { bundleWorkflows } from '../temporal/bundle.ts';
import { taskQueues } from '../temporal/task-queues.ts';
import { startWorker } from '../temporal/worker.ts';
import { workerActivities } from './activities.ts';
import type { Config } from './config.ts';
import { entities } from './entities.ts';
import { openInfrastructure } from './infrastructure.ts';

export type RunningWorkerProcess = { stop(): Promise<void> };

/** `bundlePath`: workflows bundled before, as tests do once for all files. */
export async function startWorkerProcess(config: Config, bundlePath?: string): Promise<RunningWorkerProcess> {
  const infrastructure = await openInfrastructure(config, { name: 'worker', entities });
  const { database, log } = infrastructure;
  const workflowBundle = bundlePath === undefined ? { code: await bundleWorkflows() } : { codePath: bundlePath };
  const activities = workerActivities(infrastructure);
  const queues = taskQueues(config.BURSAR_TASK_QUEUE_PREFIX);
  const workers = Object.values(queues).map((taskQueue) =>
    startWorker({
      address: config.TEMPORAL_ADDRESS,
      namespace: config.TEMPORAL_NAMESPACE,
      taskQueue,
      activities,
      workflowBundle,
      log,
    }),
  );

  const relay = startLoop({
    name: 'relay',
    everyMs: 30_000,
    log,
    pass: async () => {
      await reconcileProcesses(infrastructure);
      await beat(database, 'relay');
    },
  });
  const listener = startListener({
    url: config.DATABASE_URL,
    log,
    channels: { bursar_processes: relay.nudge },
    onConnected: relay.nudge,
  });

  return {
    stop: async () => {
      await listener.stop();
      await relay.stop();
      await Promise.all(workers.map((worker) => worker.stop()));
      await infrastructure.close();
    },
  };
}
