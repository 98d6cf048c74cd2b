/**
 * Goal: a run whose handlers and body read the database at the same time replays. Two local activities in flight at once
 * do not, so `databaseSteps` runs them one at a time. Method: dozens of runs under updates, signals and wakes, with
 * activities that take a few milliseconds; then every history is replayed.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import type { IntentRun } from '../../../activities/spending/intent.activities.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { converterPath } from '../../../src/temporal/connection.ts';
import { aCheckoutRun } from '../../support/checkout-run.ts';
import { anIntentRun } from '../../support/intent-view.ts';
import { updateRun } from '../../support/update-run.ts';
import { startWorkflowWorld, type WorkflowWorld } from '../../support/workflow-world.ts';

const runsOfEach = 30;
const messages = 10;
const aDay = 86_400_000;

let inFlight = new Map<string, number>();
let most = 0;
/** Local activities in flight of one run, and how many there were at most. */
async function took<T>(runId: string, answer: T): Promise<T> {
  const now = (inFlight.get(runId) ?? 0) + 1;
  inFlight.set(runId, now);
  most = Math.max(most, now);
  await sleep(2 + Math.random() * 25);
  inFlight.set(runId, now - 1);
  return answer;
}

const intent = (id: string): IntentRun => anIntentRun(id, 'pending_approval', { deadlineInMs: aDay });
const activities = {
  readIntent: (id: string) => took(id, intent(id)),
  decideIntent: (id: string) => took(id, intent(id)),
  readCheckout: (id: string) => took(id, aCheckoutRun(id, 'paying', { askedAgainInMs: aDay })),
};

let world: WorkflowWorld;
beforeAll(async () => {
  world = await startWorkflowWorld(activities);
});
afterAll(async () => {
  await world.close();
});

test('sixty runs under updates, signals and wakes: one local activity at a time, and every history replays', async () => {
  inFlight = new Map();
  const runs = await Promise.all(
    Array.from({ length: runsOfEach }, async () => [await intentRun(), await checkoutRun()]),
  );
  const handles = runs.flat();
  expect(await replayFailures(handles)).toEqual([]);
  expect(most).toBe(1);
  for (const handle of handles) await handle.terminate();
}, 240_000);

const soon = () => sleep(Math.random() * 200);

async function intentRun(): Promise<WorkflowHandle> {
  const id = newId('intent');
  const handle = await world.start('intentLifecycle', `intent/${id}`, id);
  const sent = Array.from({ length: messages }, async (_, n) => {
    await soon();
    await handle.signal('wake');
    await handle.signal('decide', { decision: 'approve', by: `anna ${n}` });
    if (n < 5) await updateRun(handle, 'decide', [{ decision: 'approve', by: `otto ${n}` }]);
  });
  await Promise.all(sent);
  return handle;
}

async function checkoutRun(): Promise<WorkflowHandle> {
  const id = newId('checkout');
  const handle = await world.start('checkout', `checkout/${id}`, id);
  const closing = new AbortController();
  const pays = Array.from({ length: 5 }, async () => {
    await soon();
    await updateRun(handle, 'pay');
  });
  const wakes = (async () => {
    await sleep(7_500); // Before that no handler reads.
    while (!closing.signal.aborted) {
      await handle.signal('wake');
      await sleep(30 + Math.random() * 60);
    }
  })();
  await Promise.all(pays);
  closing.abort();
  await wakes;
  return handle;
}

async function replayFailures(handles: readonly WorkflowHandle[]): Promise<string[]> {
  const histories = await Promise.all(
    handles.map(async (handle) => ({ workflowId: handle.workflowId, history: await handle.fetchHistory() })),
  );
  const options = {
    workflowBundle: { codePath: process.env.TEST_BUNDLE ?? '' },
    dataConverter: { payloadConverterPath: converterPath },
  };
  const failed: string[] = [];
  for await (const { workflowId, error } of Worker.runReplayHistories(options, histories)) {
    if (error !== undefined) failed.push(`${workflowId}: ${error.name}`);
  }
  return failed;
}
