/**
 * The worker as one object: Temporal workers for each queue, and the background loops, which run with Temporal away
 * too. `worker.ts` runs it as a process, tests run it inside theirs.
 * @module
 */
import { startListener } from '../db/listener.ts';
import { createSender } from '../domains/delivery/webhooks/delivery.send.service.ts';
import { signingKeyFrom } from '../domains/treasury/ledger/checkpoint.rules.ts';
import { startWorkerMetrics } from '../http/worker-metrics.ts';
import { second } from '../kernel/instant.ts';
import { createOutbound } from '../outbound/outbound.ts';
import { doneWithin, stopTimes } from '../platform/stop-times.ts';
import { claimLimits, deliveriesChannel, startDeliveryRelay } from '../relay/deliveries.ts';
import { startHeartbeats } from '../relay/heartbeats-loop.ts';
import { createRetrySender } from '../relay/retries.ts';
import { freePort } from '../supervisor/ports.ts';
import { bundleWorkflows } from '../temporal/bundle.ts';
import { countRuns } from '../temporal/run-counts.ts';
import { taskQueues } from '../temporal/task-queues.ts';
import { startWorker } from '../temporal/worker.ts';
import { refreshApprovalLinks } from '../usecases/identity/refresh-approval-links.ts';
import { publishSealersKey } from '../usecases/identity/signing-keys.ts';
import { bankFolderMark } from './bank-folder-mark.ts';
import { type Config, urlRulesOf } from './config.ts';
import { type Infrastructure, openInfrastructure } from './infrastructure.ts';
import { approvalSubjects, backgroundLoops, entities, workerActivities, workflows } from './modules/index.ts';
import type { LoopRegistration, RunningLoop } from './modules/module.ts';
import { portsOf } from './ports.ts';

export type RunningWorkerProcess = { stop(): Promise<void> };

/** `bundlePath`: workflows bundled before, as tests do once for all files. */
export async function startWorkerProcess(config: Config, bundlePath?: string): Promise<RunningWorkerProcess> {
  const infrastructure = await openInfrastructure(config, { name: 'worker', entities, workflows });
  const { database, clock, vault, log } = infrastructure;
  await refreshApprovalLinks({ database })(config.publicUrl);
  await publishOwnCheckpointKey(infrastructure);
  const outbound = createOutbound(urlRulesOf(config));
  const gapsMs = config.BURSAR_WEBHOOK_GAPS_SECONDS.map((gapSeconds) => gapSeconds * second);
  const send = createSender({ outbound, vault, httpsOnly: config.BURSAR_WEBHOOKS_HTTPS_ONLY });

  const isWanted = (loop: Config['BURSAR_WORKER_LOOPS'][number]): boolean => config.BURSAR_WORKER_LOOPS.includes(loop);
  const deliveries = !isWanted('deliveries') ? undefined : startDeliveryRelay({ database, clock, send, log, gapsMs });
  const retries = createRetrySender({ database, clock, send, log, limits: claimLimits, gapsMs });
  const loops = backgroundLoops.filter(({ group }) => isWanted(group)).map(startedIn(infrastructure));
  const listener = startListener({
    url: config.DATABASE_URL,
    log,
    channels: {
      [deliveriesChannel]: () => deliveries?.wake(),
      ...wakesByChannel(loops),
    },
    applicationName: 'bursar-worker-listener',
    onListening: () => {
      deliveries?.wake();
      for (const { running } of loops) running.wake?.();
    },
  });
  const heart = deliveries && startHeartbeats(infrastructure, { webhookPoller: deliveries });
  const { BURSAR_METRICS_PORT: metricsPort } = config;
  const metricsAddress = metricsPort === undefined ? undefined : `127.0.0.1:${await freePort()}`;

  const workflowBundle = bundlePath === undefined ? { code: await bundleWorkflows() } : { codePath: bundlePath };
  const ports = portsOf(config, outbound, bankFolderMark(database));
  const whyNot = await ports.bankRail.prepare?.();
  if (whyNot !== undefined) log.error(`the bank ${whyNot}: no payment is sent, and transfers wait`);
  const activities = workerActivities({ ...infrastructure, ports, retries });
  const queues = taskQueues(config.BURSAR_TASK_QUEUE_PREFIX);
  const size = {
    activitySlots: config.BURSAR_WORKER_ACTIVITY_SLOTS,
    workflowSlots: config.BURSAR_WORKER_WORKFLOW_SLOTS,
    cachedRuns: config.BURSAR_WORKER_CACHED_RUNS,
  };
  const workers = config.BURSAR_WORKER_QUEUES.map((queue) =>
    startWorker({
      address: config.TEMPORAL_ADDRESS,
      namespace: config.TEMPORAL_NAMESPACE,
      security: config.temporalSecurity,
      taskQueue: queues[queue],
      size,
      metricsAddress,
      activities,
      workflowBundle,
      log,
    }),
  );

  const metrics =
    metricsPort === undefined || metricsAddress === undefined
      ? undefined
      : await startWorkerMetrics(
          { ...infrastructure, runCounts: () => countRuns(infrastructure.temporal) },
          metricsPort,
          metricsAddress,
        );

  const parts = [deliveries, retries, heart, ...loops.map(({ running }) => running), ...workers];
  return {
    // All parts at once: each has its own limit, and together they stay below the time of the kill.
    stop: async () => {
      const drained = Promise.all([metrics, listener, ...parts].map((part) => part?.stop()));
      const isDrained = await doneWithin(stopTimes.forceMs + graceMs, drained);
      if (!isDrained) log.warn('stopped before everything under way had ended; it is repeated elsewhere');
      const closed = outbound.close().then(() => infrastructure.close());
      if (!(await doneWithin(stopTimes.closeMs, closed))) log.warn('connections were left open at the stop');
    },
  };
}

type StartedLoop = LoopRegistration & { readonly running: RunningLoop };

const startedIn =
  (infrastructure: Infrastructure) =>
  (loop: LoopRegistration): StartedLoop => ({
    ...loop,
    running: loop.start(infrastructure, approvalSubjects(infrastructure)),
  });

/** Every channel with a function that wakes all loops of that channel. */
function wakesByChannel(loops: readonly StartedLoop[]): Record<string, () => void> {
  const channels = new Set(loops.flatMap(({ wokenBy }) => wokenBy ?? []));
  const wake = (channel: string): void => {
    for (const { wokenBy, running } of loops) if (wokenBy === channel) running.wake?.();
  };
  return Object.fromEntries([...channels].map((channel) => [channel, () => wake(channel)]));
}

/** For the worker's own forced end to come first. */
const graceMs = 500;

/** Before the sealer signs with it. A worker that seals nothing may have no key. */
async function publishOwnCheckpointKey({ database, config }: Infrastructure): Promise<void> {
  const pem = config.BURSAR_SIGNING_KEY;
  if (pem !== undefined) await publishSealersKey({ database })(signingKeyFrom(pem));
}
