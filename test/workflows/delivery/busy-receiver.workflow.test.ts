/**
 * Goal: a run whose receiver has no free place looks again less and less often. Method: the workflow alone on the real
 * dev server; each wait is read from its history and cut short by a wake.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import type { DeliveryNext, DeliveryView } from '../../../src/domains/delivery/index.ts';
import { startWorkflowWorld, type WorkflowWorld } from '../../support/workflow-world.ts';
import { eventually } from '../../support/world.ts';

const view: DeliveryView = {
  deliveryId: 'whd_1',
  webhookId: 'wh_1',
  event: 'policy.created',
  status: 'pending',
  attemptsMade: 1,
  maxAttempts: 5,
  lastStatus: null,
};
const due: DeliveryNext = { kind: 'attempt', waitMs: 0, until: null, view };
/** Whether an attempt finds a place; none when there is no more. */
let outcomes: boolean[];

let world: WorkflowWorld;
beforeAll(async () => {
  world = await startWorkflowWorld({
    nextWebhookDeliveryStep: async () => due,
    attemptWebhookDelivery: async () => outcomes.shift() ?? false,
  });
});
afterAll(() => world.close());

const begin = () => world.start('webhookDelivery', `webhook-delivery/${randomUUID()}`, 'whd_1');
const waitsOf = async (handle: WorkflowHandle): Promise<number[]> => {
  const { events } = await handle.fetchHistory();
  return (events ?? []).flatMap(({ timerStartedEventAttributes: timer }) =>
    timer == null ? [] : [Number(timer.startToFireTimeout?.seconds)],
  );
};
const wakeAfterWait = async (handle: WorkflowHandle, count: number): Promise<void> => {
  await eventually(
    () => waitsOf(handle),
    (waits) => waits.length === count,
  );
  await handle.signal('wake');
};

test('each vain look doubles the wait, up to a minute', async () => {
  outcomes = [];
  const handle = await begin();
  for (let count = 1; count <= 7; count++) await wakeAfterWait(handle, count);
  expect((await waitsOf(handle)).slice(0, 7)).toEqual([2, 4, 8, 16, 32, 60, 60]);
  await handle.terminate('test');
});

test('an attempt that was made begins the waits anew', async () => {
  outcomes = [false, false, true, false];
  const handle = await begin();
  for (let count = 1; count <= 3; count++) await wakeAfterWait(handle, count);
  expect((await waitsOf(handle)).slice(0, 3)).toEqual([2, 4, 2]);
  await handle.terminate('test');
});
