/**
 * Goal: the run of a checkout pays once, finds out the outcome however long it takes, and can be lost and started again. Method:
 * the real dev server, activities replaced by rows in memory.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { WithStartWorkflowOperation, type WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { CheckoutView } from '../../../src/domains/payments/checkout/checkout.messages.ts';
import type { CheckoutStatus } from '../../../src/domains/payments/checkout/checkout.rules.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { aCheckoutRun } from '../../support/checkout-run.ts';
import { updateRun } from '../../support/update-run.ts';
import { startWorkflowWorld, type WorkflowWorld } from '../../support/workflow-world.ts';
import { eventually } from '../../support/world.ts';

type Row = {
  status: CheckoutStatus;
  version: number;
  waitMs: number;
  offers: CheckoutStatus[];
  /** The status after each payment; `paying` means that the outcome is unknown. */
  pays: CheckoutStatus[];
  done: string[];
  faults: number;
};
const rows = new Map<string, Row>();

const aCheckout = (over: Partial<Row> = {}): { id: string; row: Row } => {
  const id = newId('checkout');
  const row: Row = {
    status: 'open',
    version: 1,
    waitMs: 0,
    offers: ['offered'],
    pays: ['paid'],
    done: [],
    faults: 0,
    ...over,
  };
  rows.set(id, row);
  return { id, row };
};
const stateOf = (id: string) => {
  const { status, waitMs, version } = rows.get(id) as Row;
  return aCheckoutRun(id, status, { askedAgainInMs: waitMs, version });
};

const activities = {
  readCheckout: async (id: string) => {
    if (!rows.has(id))
      throw ApplicationFailure.create({ message: 'no checkout', type: 'not_found', nonRetryable: true });
    return stateOf(id);
  },
  readOffer: async (id: string) => step(id, 'offer', (rows.get(id) as Row).offers),
  mintAndPay: async (id: string) => step(id, 'pay', (rows.get(id) as Row).pays),
};

async function step(id: string, name: string, outcomes: CheckoutStatus[]) {
  const row = rows.get(id) as Row;
  if (row.faults-- > 0) throw new Error('the world is away');
  row.done.push(name);
  row.status = outcomes.shift() ?? row.status;
  row.version += 1;
  return stateOf(id);
}

let world: WorkflowWorld;
beforeAll(async () => {
  world = await startWorkflowWorld(activities);
});
afterAll(() => world.close());

const start = (id: string): Promise<WorkflowHandle> => world.start('checkout', `checkout/${id}`, id);
const pay = (handle: WorkflowHandle): Promise<CheckoutView> => updateRun<CheckoutView>(handle, 'pay');

test('reads the offer, pays, answers, and ends', async () => {
  const { id, row } = aCheckout({ faults: 2 });
  const handle = await start(id);
  expect(await pay(handle)).toMatchObject({ checkoutId: id, status: 'paid' });
  expect(await handle.result()).toMatchObject({ status: 'paid' });
  expect(row.done).toEqual(['offer', 'pay']);
});

test('a refused offer is answered, and nothing is paid', async () => {
  const { id, row } = aCheckout({ offers: ['refused'] });
  const handle = await start(id);
  expect(await pay(handle)).toMatchObject({ status: 'refused' });
  await handle.result();
  expect(row.done).toEqual(['offer']);
});

test('a target that answers 402 ends the run, with the payment that goes on', async () => {
  const { id, row } = aCheckout({ offers: ['handed_over'] });
  const handle = await start(id);
  expect(await pay(handle)).toMatchObject({ status: 'handed_over', mppPaymentId: 'mpay_aaaaaaaa' });
  await handle.result();
  expect(await world.detailsOf(handle)).toMatch(/machine payment mpay_aaaaaaaa pays it\./);
  expect(row.done).toEqual(['offer']);
});

test('a run that was lost and started again continues from the row', async () => {
  const { id, row } = aCheckout({ status: 'offered' });
  expect(await (await start(id)).result()).toMatchObject({ status: 'paid' });
  expect(row.done).toEqual(['pay']);
});

test('a run that finds its row final, or no row, ends', async () => {
  expect(await (await start(aCheckout({ status: 'paid' }).id)).result()).toMatchObject({ status: 'paid' });
  await expect((await start(newId('checkout'))).result()).rejects.toMatchObject({ cause: { type: 'not_found' } });
});

test('an unknown outcome is answered as such, and resolved by the network', async () => {
  const { id, row } = aCheckout({ pays: ['paying'], waitMs: 3_600_000 });
  const handle = await start(id);
  expect(await pay(handle)).toMatchObject({ status: 'paying' });
  expect(await world.detailsOf(handle)).toMatch(
    /12.50 EUR for agent ag_\w+, intent int_\w+. The outcome is not known yet. The shop is asked again at 2026-03-01T12:00:00.000Z/,
  );
  row.status = 'paid'; // As the authorization writes it, with the wake.
  row.version += 1;
  await handle.signal('wake', { anything: ['at', 'all'] });
  expect(await handle.result()).toMatchObject({ status: 'paid' });
  expect(row.done).toEqual(['offer', 'pay']);
});

test('the shop is asked again at the due time', async () => {
  const { id, row } = aCheckout({ pays: ['paying', 'failed'], waitMs: 300 });
  const handle = await start(id);
  await eventually(
    async () => row.done.length,
    (steps) => steps >= 2,
  );
  row.waitMs = 0;
  expect(await handle.result()).toMatchObject({ status: 'failed' });
  expect(row.done).toEqual(['offer', 'pay', 'pay']);
});

test('an update that arrives with the start, and one that arrives after the end, get the outcome', async () => {
  const { id, row } = aCheckout();
  const { client } = world;
  const { taskQueue } = await (await start(aCheckout({ status: 'paid' }).id)).describe();
  const ask = () =>
    client.workflow.executeUpdateWithStart('pay', {
      startWorkflowOperation: new WithStartWorkflowOperation('checkout', {
        workflowId: `checkout/${id}`,
        taskQueue,
        args: [{ id }],
        workflowIdConflictPolicy: 'USE_EXISTING',
      }),
      args: [{}],
    });
  expect(await ask()).toMatchObject({ checkoutId: id, status: 'paid' });
  expect(await ask()).toMatchObject({ checkoutId: id, status: 'paid' });
  expect(row.done).toEqual(['offer', 'pay']);
});
