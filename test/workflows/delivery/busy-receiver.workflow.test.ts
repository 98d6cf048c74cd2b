/**
 * Goal: a run whose receiver has no free place polls at growing intervals. Method: the workflow alone on the real dev
 * server; each wait is read from its history, and a wake ends the long ones early.
 * @module
 */

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import type {
  BatchOutcome,
  EndpointNext,
  EndpointView,
} from '../../../src/domains/delivery/webhooks/endpoint.messages.ts';
import { startWorkflowWorld, type WorkflowWorld } from '../../support/workflow-world.ts';
import { eventually } from '../../support/world.ts';

const view: EndpointView = {
  webhookId: 'wh_1',
  stage: 'retrying',
  waiting: 3,
  underWay: 0,
  oldestAt: '2026-11-20T08:00:00.000Z',
  nextAttemptAt: '2026-11-20T08:01:00.000Z',
  lastStatus: 503,
  lastOutcome: 'failure',
};
const due: EndpointNext = { kind: 'attempt', waitMs: 0, view };
/** How many deliveries a batch attempts; none when there is no more. */
let outcomes: number[];

let world: WorkflowWorld;
beforeAll(async () => {
  world = await startWorkflowWorld({
    readWebhookEndpoint: async () => due,
    attemptDueDeliveries: async (): Promise<BatchOutcome> => ({ attempted: outcomes.shift() ?? 0, underWay: 0 }),
  });
});
afterAll(() => world.close());

const begin = () => world.start('webhookEndpoint', `webhook-endpoint/${randomUUID()}`, 'wh_1');
const waitsOf = async (handle: WorkflowHandle): Promise<number[]> => {
  const { events } = await handle.fetchHistory();
  return (events ?? []).flatMap(({ timerStartedEventAttributes: timer }) =>
    timer == null ? [] : [Number(timer.startToFireTimeout?.seconds)],
  );
};
/** The next wait may have begun by the time that the test sees this one. */
const wait = (handle: WorkflowHandle, count: number): Promise<number[]> =>
  eventually(
    () => waitsOf(handle),
    (waits) => waits.length >= count,
    patienceMs,
  );
/** A wake near the end of a wait may arrive during the next refresh, which no wait follows. */
const longSeconds = 8;
/** Generous, for a busy machine; no assertion depends on it. */
const patienceMs = 60_000;

test('each poll without a free place doubles the wait, up to a minute', async () => {
  outcomes = [];
  const handle = await begin();
  for (let count = 1; count <= 7; count++) {
    const waits = await wait(handle, count);
    if ((waits.at(-1) ?? 0) >= longSeconds) await handle.signal('wake');
  }
  expect((await waitsOf(handle)).slice(0, 7)).toEqual([2, 4, 8, 16, 32, 60, 60]);
  await handle.terminate('test');
}, 120_000);

test('a batch with an attempt resets the wait', async () => {
  outcomes = [0, 0, 5, 0];
  const handle = await begin();
  expect((await wait(handle, 3)).slice(0, 3)).toEqual([2, 4, 2]);
  await handle.terminate('test');
}, 120_000);
