/**
 * Goal: the intent's workflow handles decisions one at a time, expires at the deadline and is not broken by any input.
 * Method: the real dev server, activities replaced by a small row in memory.
 * @module
 */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { ApplicationFailure } from '@temporalio/common';
import fc from 'fast-check';
import type { IntentRun } from '../../../activities/spending/intent.activities.ts';
import type { Decision } from '../../../src/domains/identity/approvals/decision.messages.ts';
import type { IntentView } from '../../../src/domains/spending/intents/intent.messages.ts';
import { type IntentStatus, moveIntent } from '../../../src/domains/spending/intents/intent.rules.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { anIntentRun } from '../../support/intent-view.ts';
import { updateRun } from '../../support/update-run.ts';
import { startWorkflowWorld, type WorkflowWorld } from '../../support/workflow-world.ts';
import { eventually } from '../../support/world.ts';

type Row = {
  status: IntentStatus;
  waitMs: number;
  loadable: boolean;
  decisions: Decision[];
  running: number;
  most: number;
};
const rows = new Map<string, Row>();
const rowOf = (id: string): Row => rows.get(id) as Row;

const stateOf = (id: string): IntentRun => {
  const { status, waitMs, decisions } = rowOf(id);
  return anIntentRun(id, status, { deadlineInMs: waitMs, version: 1 + decisions.length });
};

const activities = {
  readIntent: async (id: string): Promise<IntentRun> => {
    if (!rowOf(id).loadable) throw new Error('the database is away');
    return stateOf(id);
  },
  decideIntent: async (id: string, decision: Decision): Promise<IntentRun> => {
    const row = rowOf(id);
    row.running += 1;
    row.most = Math.max(row.most, row.running);
    await new Promise((resolve) => setTimeout(resolve, 5));
    row.running -= 1;
    const seen = row.decisions.some(({ causeId }) => causeId === decision.causeId);
    const move = moveIntent(
      { status: row.status, matchedTransactionId: null, transferId: null, openPaymentId: null, isRecurring: false },
      decision.decision,
      seen,
    );
    if (move.outcome === 'refused')
      throw ApplicationFailure.create({ message: move.why, type: 'invalid_state', nonRetryable: true });
    row.decisions.push(decision);
    row.status = move.next;
    return stateOf(id);
  },
  expireIntent: async (id: string): Promise<IntentRun> => {
    rowOf(id).status = 'expired';
    return stateOf(id);
  },
};

let world: WorkflowWorld;
let id: string;
beforeAll(async () => {
  world = await startWorkflowWorld(activities);
});
afterAll(async () => {
  await world.close();
});
beforeEach(() => {
  id = newId('intent');
  rows.set(id, { status: 'pending_approval', waitMs: 3_600_000, loadable: true, decisions: [], running: 0, most: 0 });
});

const started = () => world.start('intentLifecycle', `intent/${id}`, id);
const approve = (causeId: string): Decision => ({
  decision: 'approve',
  actor: 'key',
  by: 'key_aaaaaaaa',
  causeId,
  requestId: causeId,
});

test('an approval by update answers with the new state, and a later denial is refused with a message', async () => {
  const handle = await started();
  const view = await updateRun<IntentView>(handle, 'decide', [approve('a')]);
  expect(view.status).toBe('approved');
  const denial = updateRun(handle, 'decide', [{ ...approve('b'), decision: 'deny' }]);
  await expect(denial).rejects.toMatchObject({
    cause: { type: 'invalid_state', message: expect.stringMatching(/cannot deny an intent that is approved/) },
  });
  await updateRun(handle, 'decide', [{ ...approve('c'), decision: 'cancel' }]);
  expect(await handle.result()).toMatchObject({ status: 'cancelled' });
});

test('a step needs no server task until the database is away: then operators see it waiting', async () => {
  rowOf(id).loadable = false;
  const handle = await started();
  const waiting = await eventually(
    async () => (await handle.describe()).raw.pendingActivities ?? [],
    ([first]) => (first?.attempt ?? 0) >= 2,
  );
  expect(waiting).toMatchObject([{ activityType: { name: 'readIntent' }, lastFailure: { message: 'Error' } }]);
  rowOf(id).loadable = true;
  await updateRun<IntentView>(handle, 'decide', [approve('a')]);
  await updateRun(handle, 'decide', [{ ...approve('b'), decision: 'cancel' }]);
  await handle.result();
  const { events = [] } = await handle.fetchHistory();
  const scheduled = events?.flatMap(({ activityTaskScheduledEventAttributes: task }) => task?.activityType?.name ?? []);
  expect(scheduled).toEqual(['readIntent']);
});

test('a person’s signal approves; a wake makes the run read changes of others', async () => {
  const handle = await started();
  await handle.signal('decide', { decision: 'approve', by: 'anna' });
  await eventually(
    async () => rowOf(id).status,
    (status) => status === 'approved',
  );
  expect(rowOf(id).decisions[0]).toMatchObject({ actor: 'signal', by: 'anna' });
  rowOf(id).status = 'completed';
  await handle.signal('wake');
  expect(await handle.result()).toMatchObject({ status: 'completed' });
});

test('a deadline that has passed expires the intent', async () => {
  rowOf(id).waitMs = 0;
  expect(await (await started()).result()).toMatchObject({ status: 'expired' });
});

test('a decision that arrives before the first read of the row waits for it', async () => {
  rowOf(id).loadable = false;
  const handle = await started();
  const answer = updateRun<IntentView>(handle, 'decide', [approve('early')]);
  rowOf(id).loadable = true;
  expect((await answer).status).toBe('approved');
  await handle.terminate();
});

test('many concurrent decisions are handled one at a time', async () => {
  const handle = await started();
  await Promise.all(Array.from({ length: 8 }, (_, i) => updateRun(handle, 'decide', [approve(`p${i}`)])));
  expect(rowOf(id).most).toBe(1);
  await handle.terminate();
});

test('200 arbitrary signals do not end the run, and ignored ones are named', async () => {
  const handle = await started();
  const harmless = fc.jsonValue().filter((value) => !/approve|deny|cancel/i.test(JSON.stringify(value)));
  const typed = [
    ...fc.sample(harmless, 195),
    undefined,
    'x'.repeat(500),
    null,
    { decision: { approve: true } },
    [['approve']],
  ];
  await Promise.all(typed.map((value) => handle.signal('decide', value)));
  const view = await updateRun<IntentView>(handle, 'decide', [approve('still here')]);
  expect(view.status).toBe('approved');
  expect(await world.detailsOf(handle)).toMatch(/was ignored/);
  await handle.terminate();
});

test('signals with no data, an unknown encoding or 100 KB of text do not block the run', async () => {
  const handle = await started();
  const { workflowService } = world.client.connection;
  const send = (payloads: { metadata?: Record<string, Uint8Array>; data?: Uint8Array }[]) =>
    workflowService.signalWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId: handle.workflowId },
      signalName: 'decide',
      input: { payloads },
    });
  const encoding = (name: string) => ({ encoding: new TextEncoder().encode(name) });
  await send([]);
  await send([{ metadata: encoding('binary/unheard-of'), data: new Uint8Array([1, 2, 3]) }]);
  await send([{ metadata: encoding('json/plain'), data: new TextEncoder().encode('{not json') }]);
  await send([
    { metadata: encoding('json/plain'), data: new TextEncoder().encode(JSON.stringify('y'.repeat(100_000))) },
  ]);
  await send([{}]);
  const view = await updateRun<IntentView>(handle, 'decide', [approve('alive')]);
  expect(view.status).toBe('approved');
  await handle.terminate();
});
