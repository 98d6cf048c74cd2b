/**
 * Goal: a worker that stops, or a step that hangs, in the middle of a decision costs the run nothing: it goes on, and
 * the decision is carried out and answered. Method: the real dev server, one worker after another, activities in memory.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { IntentRun } from '../../../activities/spending/intent.activities.ts';
import type { Decision } from '../../../src/domains/identity/approvals/decision.messages.ts';
import type { IntentView } from '../../../src/domains/spending/intents/intent.messages.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { createLogger } from '../../../src/platform/log.ts';
import { type RunningWorker, startWorker } from '../../../src/temporal/worker.ts';
import { anIntentRun } from '../../support/intent-view.ts';
import { type OpenTemporal, openTemporal } from '../../support/operator-view.ts';
import { updateRun } from '../../support/update-run.ts';
import { eventually } from '../../support/world.ts';

const address = process.env.TEST_TEMPORAL ?? '';
let temporal: OpenTemporal;
beforeAll(async () => {
  temporal = await openTemporal(address);
});
afterAll(() => temporal.close());

/** Longer than a step may take within the run's own task, and than a worker waits for it. */
const hangs = { 'ends in time': 1_500, 'takes too long': 6_500 } as const;

test.each(Object.entries(hangs))('the worker stops while a step of a run %s', async (_how, hangMs) => {
  const id = newId('intent');
  const taskQueue = `drains-${randomUUID()}`;
  const asked: string[] = [];
  let status: IntentView['status'] = 'pending_approval';
  const next = (): IntentRun => anIntentRun(id, status);
  const activities = {
    readIntent: async () => next(),
    decideIntent: async (_id: string, { causeId }: Decision) => {
      asked.push(causeId);
      if (asked.length === 1) await sleep(hangMs);
      status = 'approved';
      return next();
    },
  };
  const work = (): RunningWorker =>
    startWorker({
      address,
      namespace: 'default',
      taskQueue,
      activities,
      workflowBundle: { codePath: process.env.TEST_BUNDLE ?? '' },
      log: createLogger({ name: 'test-worker', level: 'silent' }),
    });
  const first = work();
  const workflowId = `intent/${id}`;
  const handle = await temporal.client.workflow.start('intentLifecycle', { workflowId, taskQueue, args: [{ id }] });
  const decision = {
    decision: 'approve',
    actor: 'key',
    by: 'key_aaaaaaaa',
    causeId: 'once',
    requestId: 'once',
  } as const;
  const answer = updateRun<IntentView>(handle, 'decide', [decision]);
  await eventually(
    async () => asked.length,
    (count) => count === 1,
  );
  await first.stop();
  const second = work();
  try {
    expect(await answer).toMatchObject({ status: 'approved' });
    expect(new Set(asked)).toEqual(new Set(['once']));
    expect((await handle.describe()).status.name).toBe('RUNNING');
  } finally {
    await handle.terminate();
    await second.stop();
  }
});
