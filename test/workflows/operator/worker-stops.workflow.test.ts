/**
 * Goal: a worker that stops ends its threads, also when it is stopped during its start. Method: the real dev server, and
 * the handles that keep this process alive before and after.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { createLogger } from '../../../src/platform/log.ts';
import { stopTimes } from '../../../src/platform/stop-times.ts';
import { startWorker } from '../../../src/temporal/worker.ts';
import { processTimeOf } from '../../support/process-clock.ts';
import { startWorkflowWorld } from '../../support/workflow-world.ts';
import { eventually } from '../../support/world.ts';

const threads = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'MessagePort').length;

test.each([0, 20, 60, 150, 600])('stopped %i ms after its start', async (afterMs) => {
  const before = threads();
  const worker = startWorker({
    address: process.env.TEST_TEMPORAL ?? '',
    namespace: 'default',
    taskQueue: `stops-${randomUUID()}`,
    activities: {},
    workflowBundle: { codePath: process.env.TEST_BUNDLE ?? '' },
    log: createLogger({ name: 'test-worker', level: 'silent' }),
  });
  await sleep(afterMs);
  await worker.stop();
  await eventually(
    async () => threads(),
    (now) => now <= before,
  );
  expect(threads()).toBeLessThanOrEqual(before);
});

test('an activity that ignores its cancellation is given up before the process would be killed', async () => {
  let began = 0;
  const world = await startWorkflowWorld({
    readSimulation: () => {
      began += 1;
      return new Promise(() => undefined);
    },
  });
  await world.start('simulation', `simulation/${randomUUID()}`, 'sim_aaaaaaaa');
  await eventually(
    async () => began,
    (count) => count > 0,
  );
  expect(await processTimeOf(() => world.close())).toBeLessThan(stopTimes.killMs);
}, 120_000);
