/**
 * Goal: the checkout's process pays once, finds out however long it takes, and can be lost and started again. Method:
 * the real dev server, activities replaced by rows in memory.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { WithStartWorkflowOperation, type WorkflowHandle } from '@temporalio/client';
import type { CheckoutNext } from '../../../activities/payments/checkout.activities.ts';
import type { CheckoutView } from '../../../src/domains/payments/checkout/checkout.messages.ts';
import { type CheckoutStatus, isFinalCheckout } from '../../../src/domains/payments/checkout/checkout.rules.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { startWorkflowWorld, type WorkflowWorld } from '../../support/workflow-world.ts';
import { eventually } from '../../support/world.ts';

type Row = {
  intentId: string;
  status: CheckoutStatus;
  waitMs: number;
  offers: CheckoutStatus[];
  /** What each payment makes of the row; `paying` means that the outcome is unknown. */
  pays: CheckoutStatus[];
  done: string[];
  faults: number;
};
const rows = new Map<string, Row>();
const latest = new Map<string, string>();

const aCheckout = (over: Partial<Row> = {}): { intentId: string; id: string; row: Row } => {
  const id = newId('checkout');
  const intentId = over.intentId ?? newId('intent');
  const row: Row = {
    status: 'open',
    waitMs: 0,
    offers: ['offered'],
    pays: ['paid'],
    done: [],
    faults: 0,
    ...over,
    intentId,
  };
  rows.set(id, row);
  latest.set(intentId, id);
  return { intentId, id, row };
};
const rowOf = (id: string): Row => rows.get(id) as Row;
const viewOf = (checkoutId: string): CheckoutView => ({
  checkoutId,
  intentId: rowOf(checkoutId).intentId,
  agentId: 'ag_aaaaaaaa',
  status: rowOf(checkoutId).status,
  amountCents: 1_250,
  transactionId: null,
  code: null,
});

const activities = {
  nextCheckoutStep: async (intentId: string): Promise<CheckoutNext> => {
    const id = latest.get(intentId);
    if (id === undefined) return { kind: 'none', waitMs: 0, until: null, view: null };
    const row = rowOf(id);
    const view = viewOf(id);
    if (isFinalCheckout(row.status)) return { kind: 'final', waitMs: 0, until: null, view };
    if (row.status === 'open') return { kind: 'read_offer', waitMs: 0, until: null, view };
    if (row.status === 'paying' && row.waitMs > 0)
      return { kind: 'wait', waitMs: row.waitMs, until: '2026-03-01T12:00:00.000Z', view };
    return { kind: 'pay', waitMs: 0, until: null, view };
  },
  readCheckout: async (id: string) => viewOf(id),
  readOffer: async (id: string) => step(id, 'offer', rowOf(id).offers),
  mintAndPay: async (id: string) => step(id, 'pay', rowOf(id).pays),
};

async function step(id: string, name: string, outcomes: CheckoutStatus[]): Promise<CheckoutView> {
  const row = rowOf(id);
  if (row.faults-- > 0) throw new Error('the world is away');
  row.done.push(name);
  row.status = outcomes.shift() ?? row.status;
  return viewOf(id);
}

let world: WorkflowWorld;
beforeAll(async () => {
  world = await startWorkflowWorld(activities);
}, 60_000);
afterAll(() => world.close());

const workflowId = (intentId: string): string => `checkout/${intentId}`;
const start = (intentId: string): Promise<WorkflowHandle> => world.start('checkout', workflowId(intentId), intentId);
const pay = (handle: WorkflowHandle, checkoutId: string): Promise<CheckoutView> =>
  handle.executeUpdate<CheckoutView, [{ checkoutId: string }]>('pay', { args: [{ checkoutId }] });

test('reads the offer, pays, answers, and ends', async () => {
  const { intentId, id, row } = aCheckout({ faults: 2 });
  const handle = await start(intentId);
  expect(await pay(handle, id)).toMatchObject({ checkoutId: id, status: 'paid' });
  expect(await handle.result()).toMatchObject({ status: 'paid' });
  expect(row.done).toEqual(['offer', 'pay']);
});

test('a refused offer is answered, and nothing is paid', async () => {
  const { intentId, id, row } = aCheckout({ offers: ['refused'] });
  const handle = await start(intentId);
  expect(await pay(handle, id)).toMatchObject({ status: 'refused' });
  await handle.result();
  expect(row.done).toEqual(['offer']);
});

test('lost and started again it goes on from the row', async () => {
  const { intentId, row } = aCheckout({ status: 'offered' });
  expect(await (await start(intentId)).result()).toMatchObject({ status: 'paid' });
  expect(row.done).toEqual(['pay']);
});

test('a run that finds its row final, or none, ends', async () => {
  expect(await (await start(aCheckout({ status: 'paid' }).intentId)).result()).toMatchObject({ status: 'paid' });
  expect(await (await start(newId('intent'))).result()).toBeNull();
});

test('an update that names no checkout is refused in words, and the run goes on', async () => {
  const { intentId, id } = aCheckout({ pays: ['paying'], waitMs: 3_600_000 });
  const handle = await start(intentId);
  await pay(handle, id);
  for (const typed of [[], [null], ['pay'], [{ checkoutId: 42 }]]) {
    await expect(handle.executeUpdate('pay', { args: typed as never })).rejects.toMatchObject({
      cause: { message: expect.stringMatching(/has to name a checkout/) },
    });
  }
  await handle.signal('wake');
  expect((await handle.describe()).status.name).toBe('RUNNING');
  await handle.terminate();
}, 30_000);

test('an unknown outcome is answered as such, and resolved by the network', async () => {
  const { intentId, id, row } = aCheckout({ pays: ['paying'], waitMs: 3_600_000 });
  const handle = await start(intentId);
  expect(await pay(handle, id)).toMatchObject({ status: 'paying' });
  expect(await world.detailsOf(handle)).toMatch(
    /The outcome of 12.50 EUR for ag_\w+ is not known yet; the shop is asked again at 2026-03-01T12:00:00.000Z/,
  );
  row.status = 'paid'; // As the authorization writes it, with the wake.
  await handle.signal('wake', { anything: ['at', 'all'] });
  expect(await handle.result()).toMatchObject({ status: 'paid' });
  expect(row.done).toEqual(['offer', 'pay']);
}, 30_000);

test('the shop is asked again when its time has come', async () => {
  const { intentId, row } = aCheckout({ pays: ['paying', 'failed'], waitMs: 300 });
  const handle = await start(intentId);
  await eventually(
    async () => row.done.length,
    (steps) => steps === 2,
  );
  row.waitMs = 0;
  expect(await handle.result()).toMatchObject({ status: 'failed' });
  expect(row.done).toEqual(['offer', 'pay', 'pay']);
});

test('another checkout of the same intent gets its own answer, also while the first run ends', async () => {
  const first = aCheckout({ offers: ['refused'] });
  const { client } = world;
  const handle = await start(first.intentId);
  expect(await pay(handle, first.id)).toMatchObject({ status: 'refused' });
  const second = aCheckout({ intentId: first.intentId });
  const { taskQueue } = await handle.describe();
  const startWorkflowOperation = new WithStartWorkflowOperation('checkout', {
    workflowId: workflowId(first.intentId),
    taskQueue,
    args: [{ id: first.intentId }],
    workflowIdConflictPolicy: 'USE_EXISTING',
  });
  const answer = await client.workflow.executeUpdateWithStart('pay', {
    startWorkflowOperation,
    args: [{ checkoutId: second.id }],
  });
  expect(answer).toMatchObject({ checkoutId: second.id, status: 'paid' });
  expect(second.row.done).toEqual(['offer', 'pay']);
});
