/**
 * Goal: the process of a recurring intent goes from window to window, tells what was missed, and ends with the intent;
 * and checkouts pay in its windows. Method: real HTTP, the real worker on the real Temporal dev server, the business
 * clock moved.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { day, hour } from '../../../src/kernel/instant.ts';
import { eventNamesOf } from '../../support/events.ts';
import { clientsOf } from '../../support/factories/records.ts';
import { goTo, windowIn } from '../../support/recurring-world.ts';
import { eventually, type Owner, startWorld, type World } from '../../support/world.ts';

let world: World;
let owner: Owner;
let api: ReturnType<typeof clientsOf>;
beforeAll(async () => {
  world = await startWorld({ worker: true });
  owner = await world.owner();
  api = clientsOf(owner);
  await api.fund.fundWallet({ body: { amountEuros: 500 } });
});
afterAll(async () => {
  await world.close();
});

const declare = async (more: object = {}) => {
  const { id: agentId } = await api.agents.createAgent({ body: { name: 'subscriber' } });
  return api.intents.declareIntent({
    body: { agentId, purpose: 'music', expectedAmountEuros: 10, recurring: { cadence: 'daily' }, ...more },
  });
};
const read = (id: string) => api.intents.getIntent({ params: { id } });
const windows = async (id: string) =>
  (await api.intents.listIntentWindows({ params: { id }, query: {} })).data.map(
    ({ number, status }) => `${number} ${status}`,
  );
const execute = (intentId: string, amountCents = 1_000) =>
  api.checkout.executeCheckout({
    body: { intentId, targetUrl: `${world.sandboxUrl}/shops/sandbox-shop?amountCents=${amountCents}` },
    headers: { 'Idempotency-Key': randomUUID() },
  });

test('unpaid windows are missed in turn, and the run waits for the next one', async () => {
  const intent = await declare();
  await world.advance(3 * day);
  await eventually(
    () => windows(intent.id),
    (found) => found.length === 3,
  );
  expect(await windows(intent.id)).toEqual(['3 missed', '2 missed', '1 missed']);
  expect(await read(intent.id)).toMatchObject({ status: 'approved', window: { number: 4 } });
  expect((await eventNamesOf(world, intent.id)).filter((name) => name === 'intent_window.missed')).toHaveLength(3);
});

test('at its deadline the last window is missed as well, and it expires; it never completes', async () => {
  const intent = await declare({ ttlMinutes: 2 * 1_440 });
  await execute(intent.id);
  await eventually(
    () => windows(intent.id),
    (found) => found[0] === '1 completed',
  );
  await world.advance(2 * day + hour);
  const expired = await eventually(
    async () => (await eventNamesOf(world, intent.id)).includes('intent.expired'),
    (isSynced) => isSynced,
  );
  expect(expired).toBe(true);
  expect(await read(intent.id)).toMatchObject({ status: 'expired', window: null, completedAt: null });
  const seen = await windows(intent.id);
  expect(seen.slice(-1)).toEqual(['1 completed']);
  expect(new Set(seen.slice(0, -1).map((one) => one.split(' ')[1]))).toEqual(new Set(['missed']));
  expect(await eventNamesOf(world, intent.id)).not.toContain('intent.completed');
  const [process] = await world.sql('select is_open from workflow_runs where subject_id = $1 and workflow = $2', [
    intent.id,
    'intentLifecycle',
  ]);
  expect(process).toEqual({ is_open: false });
});

test('past its deadline it is returned as expired before its run has marked it, by id and in lists', async () => {
  const intent = await declare({ ttlMinutes: 60 });
  await world.sql(`update workflow_runs set is_open = false where subject_id = $1`, [intent.id]); // No run will mark it.
  await world.advance(2 * hour);
  expect(await world.sql('select status from intents where id = $1', [intent.id])).toEqual([{ status: 'approved' }]);
  expect(await read(intent.id)).toMatchObject({ status: 'expired', window: null });
  const listed = async (status: 'approved' | 'expired') =>
    (await api.intents.listIntents({ query: { status, limit: 100 } })).data.map(({ id }) => id);
  expect(await listed('approved')).not.toContain(intent.id);
  expect(await listed('expired')).toContain(intent.id);
});

test('a person’s approval begins the schedule', async () => {
  const intent = await declare({ expectedAmountEuros: 60, recurring: { cadence: 'monthly' } });
  expect(intent).toMatchObject({ status: 'pending_approval', window: null });
  await world.advance(10 * day);
  await api.intents.approveIntent({ params: { id: intent.id } });
  const approved = await read(intent.id);
  const { number, dueOn, from } = windowIn(approved);
  expect([number, dueOn, from]).toEqual([1, approved.approvedAt?.slice(0, 10), approved.approvedAt]);
  expect(await execute(intent.id, 6_600)).toMatchObject({ success: true });
});

test('executed once in each window; a second execution, one between windows or above the tolerance is refused and nothing is held', async () => {
  const intent = await declare({ recurring: { cadence: 'weekly', windowStartDaysBefore: 1, windowEndDaysAfter: 1 } });
  await expect(execute(intent.id, 1_101)).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining('11.01'),
  });
  const first = await execute(intent.id);
  expect(first).toMatchObject({ success: true });
  await expect(execute(intent.id)).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining(`transaction ${first.transactionId} has paid for the window`),
  });
  await goTo(world, windowIn(intent).to);
  await expect(execute(intent.id)).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining('it may be paid for next from'),
  });
  const next = windowIn(await read(intent.id));
  await goTo(world, next.from);
  expect(await execute(intent.id, 1_100)).toMatchObject({ success: true });
  await eventually(
    () => windows(intent.id),
    (found) => found.join() === '2 completed,1 completed',
  );
  expect((await read(intent.id)).status).toBe('approved');
});

test('an offer that a rule forbids fails no recurring intent', async () => {
  const intent = await declare();
  await api.policies.updateAgentPolicy({ params: { agentId: intent.agentId }, body: { blockedMccs: ['5734'] } });
  await expect(execute(intent.id)).rejects.toMatchObject({ status: 403 });
  expect(await read(intent.id)).toMatchObject({ status: 'approved', window: { number: 1 } });
  await api.policies.updateAgentPolicy({ params: { agentId: intent.agentId }, body: { blockedMccs: [] } });
  expect(await execute(intent.id)).toMatchObject({ success: true });
});

test('closing the agent ends it, also in a window that is paid for', async () => {
  const intent = await declare();
  await execute(intent.id);
  await api.agents.closeAgent({ params: { id: intent.agentId } });
  expect((await read(intent.id)).status).toBe('cancelled');
  await eventually(
    () => windows(intent.id),
    (found) => found.join() === '1 completed',
  );
});
