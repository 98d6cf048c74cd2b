/**
 * Goal: a simulated charge is asked for until the network has taken or refused it, whoever waits gets that answer, and
 * nothing sent to the run can break it. Method: the real dev server, activities replaced by a small row in memory.
 * @module
 */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { SimulationView } from '../../../src/domains/payments/simulations/simulation.messages.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { startWorkflowWorld, type WorkflowWorld } from '../../support/workflow-world.ts';
import { eventually } from '../../support/world.ts';

type Row = SimulationView & { plays: number; isAway: boolean; endsAs: 'done' | 'refused' };
const rows = new Map<string, Row>();

const viewOf = ({ plays: _plays, isAway: _isAway, endsAs: _endsAs, ...view }: Row): SimulationView => view;
const activities = {
  readSimulation: async (simulationId: string): Promise<SimulationView> => viewOf(rows.get(simulationId) as Row),
  playSimulation: async (simulationId: string): Promise<SimulationView> => {
    const row = rows.get(simulationId) as Row;
    if (row.isAway) throw new Error('the network is away');
    const ended =
      row.endsAs === 'done' ? { transactionId: 'tx_aaaaaaaa' } : { code: 'unknown_card', transactionId: null };
    rows.set(simulationId, { ...row, ...ended, status: row.endsAs, plays: row.plays + 1 });
    return viewOf(rows.get(simulationId) as Row);
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
  id = newId('simulation');
  const view = { simulationId: id, agentId: 'ag_aaaaaaaa', amountCents: 1_250, transactionId: null, code: null };
  rows.set(id, { ...view, status: 'open', plays: 0, isAway: false, endsAs: 'done' });
});

const row = () => rows.get(id) as Row;
const change = (fields: Partial<Row>) => rows.set(id, { ...row(), ...fields });
const started = () => world.start('simulation', `simulation/${id}`, id);

test('it asks by itself, once, and ends with what came of it', async () => {
  const handle = await started();
  expect(await handle.result()).toMatchObject({ simulationId: id, status: 'done', transactionId: 'tx_aaaaaaaa' });
  expect(row().plays).toBe(1);
  expect(await world.detailsOf(handle)).toContain(
    'Done: the network has asked and was answered, 12.50 EUR for ag_aaaaaaaa.',
  );
});

test('with the network away it goes on asking, and whoever waits is answered in the end', async () => {
  change({ isAway: true });
  const handle = await started();
  const waiting = Promise.all(
    [1, 2, 3].map(() => handle.executeUpdate<SimulationView, [unknown]>('simulate', { args: [{}] })),
  );
  await eventually(
    () => world.detailsOf(handle),
    (details) => details.includes('Waiting for the simulated network to charge 12.50 EUR for ag_aaaaaaaa.'),
  );
  change({ isAway: false });
  for (const view of await waiting) expect(view).toMatchObject({ status: 'done' });
  expect(await handle.result()).toMatchObject({ status: 'done' });
  expect(row().plays).toBe(1);
});

test('a refusal is an answer too', async () => {
  change({ endsAs: 'refused' });
  const handle = await started();
  expect(await handle.result()).toMatchObject({ status: 'refused', code: 'unknown_card', transactionId: null });
  expect(await world.detailsOf(handle)).toContain('Done: refused (unknown_card)');
});

test('a run that is lost, or begun for a row that has ended, finds what came of it', async () => {
  change({ isAway: true });
  const first = await started();
  await first.terminate('lost');
  change({ isAway: false });
  await (await started()).result();
  const again = await started();
  expect(await again.result()).toMatchObject({ status: 'done' });
  expect(row().plays).toBe(1);
});

test('100 arbitrary wakes and unknown signals leave it running', async () => {
  change({ isAway: true });
  const handle = await started();
  const junk = fc.sample(fc.jsonValue({ maxDepth: 2 }), 100);
  await Promise.all(junk.map((value, i) => handle.signal(i % 4 === 0 ? 'decide' : 'wake', value)));
  change({ isAway: false });
  expect(await handle.result()).toMatchObject({ status: 'done' });
});
