/**
 * Goal: an intent, or a subscription's retries, that lives long goes on under the same id with a fresh history, and nothing that was sent to it is
 * lost on the way. Method: a separate dev server that suggests this after few events; the row is in memory.
 * @module
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { IntentRun } from '../../../activities/spending/intent.activities.ts';
import type { EndpointChange, EndpointNext } from '../../../src/domains/delivery/webhooks/endpoint.messages.ts';
import type { Decision } from '../../../src/domains/identity/approvals/decision.messages.ts';
import type { IntentView } from '../../../src/domains/spending/intents/intent.messages.ts';
import { type IntentStatus, moveIntent } from '../../../src/domains/spending/intents/intent.rules.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { createLogger } from '../../../src/platform/log.ts';
import { freePort } from '../../../src/supervisor/ports.ts';
import { temporalBinary } from '../../../src/supervisor/temporal-binary.ts';
import { startTemporal, type Temporal } from '../../../src/supervisor/temporal-server.ts';
import { searchAttributes } from '../../../src/temporal/gateway.ts';
import { setUpTemporal } from '../../../src/temporal/set-up.ts';
import { type RunningWorker, startWorker } from '../../../src/temporal/worker.ts';
import { anIntentRun } from '../../support/intent-view.ts';
import { type OpenTemporal, openTemporal } from '../../support/operator-view.ts';
import { updateRun } from '../../support/update-run.ts';
import { eventually } from '../../support/world.ts';

const suggestedAfter = 40;
const taskQueue = 'long-runs';

let status: IntentStatus;
let decided: Decision[];
let holdDecisions: Promise<void> | undefined;

const next = (): IntentRun => anIntentRun(id, status, { version: 1 + decided.length });
const activities = {
  readIntent: async (): Promise<IntentRun> => next(),
  decideIntent: async (_id: string, decision: Decision): Promise<IntentRun> => {
    await holdDecisions;
    if (decided.some(({ causeId }) => causeId === decision.causeId)) return next();
    decided.push(decision);
    const move = moveIntent(
      { status, matchedTransactionId: null, transferId: null, openPaymentId: null, isRecurring: false },
      decision.decision,
      false,
    );
    if (move.outcome !== 'refused') status = move.next;
    return next();
  },
  expireIntent: async (): Promise<IntentRun> => next(),
  readWebhookEndpoint: async (webhookId: string): Promise<EndpointNext> => ({
    kind: isOver ? 'final' : 'wait',
    waitMs: 3_600_000,
    view: {
      webhookId,
      stage: 'retrying',
      waiting: 1,
      underWay: 0,
      oldestAt: null,
      nextAttemptAt: null,
      lastStatus: 503,
      lastOutcome: 'failure',
    },
  }),
  retryDeliveriesNow: async (): Promise<EndpointChange> => {
    retriedNow += 1;
    return { deliveries: 1 };
  },
};
let retriedNow: number;
let isOver: boolean;

let dir: string;
let server: Temporal;
let worker: RunningWorker;
let temporal: OpenTemporal;
let id: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'bursar-long-'));
  const binary = await temporalBinary({ dir, say: () => undefined });
  const settings = [`limit.historyCount.suggestContinueAsNew=${suggestedAfter}`];
  server = await startTemporal({ binary, dir, port: await freePort(), settings });
  await setUpTemporal({ address: server.address, namespace: 'default' });
  worker = startWorker({
    address: server.address,
    namespace: 'default',
    taskQueue,
    activities,
    workflowBundle: { codePath: process.env.TEST_BUNDLE ?? '' },
    log: createLogger({ name: 'test-worker', level: 'silent' }),
  });
  temporal = await openTemporal(server.address);
});
afterAll(async () => {
  await worker.stop();
  await temporal.close();
  await server.stop();
  await rm(dir, { recursive: true, force: true });
});
beforeEach(() => {
  id = newId('intent');
  status = 'pending_approval';
  decided = [];
  holdDecisions = undefined;
  retriedNow = 0;
  isOver = false;
});

const started = async (): Promise<string> => {
  const workflowId = `intent/${id}`;
  await temporal.client.workflow.start('intentLifecycle', {
    workflowId,
    taskQueue,
    args: [{ id }],
    typedSearchAttributes: [
      { key: searchAttributes.agentId, value: 'ag_aaaaaaaa' },
      { key: searchAttributes.stage, value: 'started' },
    ],
  });
  return workflowId;
};
const latest = (workflowId: string) => temporal.client.workflow.getHandle(workflowId);
const runIdOf = async (workflowId: string): Promise<string> => (await latest(workflowId).describe()).runId;
const approve = (causeId: string): Decision => ({
  decision: 'approve',
  actor: 'key',
  by: 'key_aaaaaaaa',
  causeId,
  requestId: causeId,
});
const junk = (workflowId: string, count: number) =>
  Promise.all(Array.from({ length: count }, (_, i) => latest(workflowId).signal('decide', { nonsense: i })));

test('ignored signals make it continue as new; the new run handles later ones', async () => {
  const workflowId = await started();
  const first = await runIdOf(workflowId);
  for (let round = 0; round < 12; round++) await junk(workflowId, 5);
  await eventually(
    () => runIdOf(workflowId),
    (runId) => runId !== first,
  );
  await latest(workflowId).signal('decide', { decision: 'approve', by: 'anna' });
  await eventually(
    async () => status,
    (now) => now === 'approved',
  );
  expect(decided).toHaveLength(1);
  expect((await latest(workflowId).fetchHistory()).events?.length).toBeLessThan(4 * suggestedAfter);

  const shown = await eventually(
    () => temporal.viewOf(workflowId),
    (run) => run.attributes.BursarStage === 'approved' && run.details.includes('Approved, waiting'),
  );
  // The summary stays with the first run (the SDK carries none over); what the run waits for and is found by goes on.
  expect(shown).toMatchObject({
    type: 'intentLifecycle',
    status: 'RUNNING',
    details: expect.stringMatching(
      /^12\.50 EUR for agent ag_aaaaaaaa\. Approved, waiting for the payment until .*\.$/m,
    ),
    attributes: { BursarAgentId: 'ag_aaaaaaaa', BursarStage: 'approved' },
  });
  await latest(workflowId).signal('decide', 'cancel');
  expect(await latest(workflowId).result()).toMatchObject({ status: 'cancelled' });
});

test('an update in flight is answered before the run continues as new', async () => {
  const workflowId = await started();
  const first = await runIdOf(workflowId);
  let release: () => void = () => undefined;
  holdDecisions = new Promise((resolve) => {
    release = resolve;
  });
  const answer = updateRun<IntentView>(latest(workflowId), 'decide', [approve('held')]);
  await eventually(
    () => temporal.historyOf(workflowId),
    ({ events }) => (events ?? []).some((event) => event.workflowExecutionUpdateAcceptedEventAttributes != null),
  );
  for (let round = 0; round < 12; round++) await junk(workflowId, 5);
  expect(await runIdOf(workflowId)).toBe(first);
  release();
  expect(await answer).toMatchObject({ status: 'approved' });
  await eventually(
    () => runIdOf(workflowId),
    (runId) => runId !== first,
  );
  expect(decided.map(({ causeId }) => causeId)).toEqual(['held']);
  await latest(workflowId).terminate();
});

test('each of many decisions at the boundary is applied once', async () => {
  const workflowId = await started();
  const first = await runIdOf(workflowId);
  for (let wave = 0; wave < 8; wave++) {
    const sent = [1, 2, 3, 4, 5].map((i) =>
      latest(workflowId).signal('decide', { decision: 'approve', by: `anna ${wave} ${i}` }),
    );
    await Promise.all(sent);
    await eventually(
      async () => decided.length,
      (count) => count >= 5 * (wave + 1),
    );
  }
  // On a busy machine the waves may leave it no pause before their end.
  await eventually(
    () => runIdOf(workflowId),
    (runId) => runId !== first,
  );
  expect(decided).toHaveLength(40);
  expect(new Set(decided.map(({ by }) => by)).size).toBe(40);
  await latest(workflowId).terminate();
});

test("a subscription's retries go on with a fresh history, and every message that was sent is carried out", async () => {
  const webhookId = newId('webhook');
  const workflowId = `webhook-endpoint/${webhookId}`;
  await temporal.client.workflow.start('webhookEndpoint', { workflowId, taskQueue, args: [{ id: webhookId }] });
  const first = await runIdOf(workflowId);
  const answers: unknown[] = [];
  for (let wave = 0; wave < 10; wave++) {
    const sent = [1, 2].flatMap((number) => [
      latest(workflowId).signal('retry-now'),
      latest(workflowId).signal('give-up', { nonsense: wave }),
      updateRun(latest(workflowId), 'retry-now', ['all'], `${wave}-${number}`).then((answer) => answers.push(answer)),
    ]);
    await Promise.all(sent);
  }
  // A task that collides with a message is run again, and its steps with it.
  await eventually(
    async () => retriedNow,
    (count) => count >= 40,
  );
  expect(answers).toEqual(Array.from({ length: 20 }, () => ({ deliveries: 1 })));
  // On a busy machine the waves may leave it no pause before their end.
  await eventually(
    () => runIdOf(workflowId),
    (runId) => runId !== first,
  );
  isOver = true;
  await latest(workflowId).signal('wake');
  expect(await latest(workflowId).result()).toMatchObject({ webhookId });
});
