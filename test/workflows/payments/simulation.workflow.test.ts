/**
 * Goal: a simulated charge is asked for until the network has charged the card or has refused to, every caller who waits
 * gets that answer, and nothing sent to the run can break it. Method: the real dev server, activities replaced by a row
 * in memory.
 * @module
 */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { SimulationView } from '../../../src/domains/payments/simulations/simulation.messages.ts';
import { isFinalSimulation, type SimulationFact } from '../../../src/domains/payments/simulations/simulation.rules.ts';
import { newId } from '../../../src/kernel/ids.ts';
import type { RowState } from '../../../src/kernel/row-state.ts';
import { updateRun } from '../../support/update-run.ts';
import { startWorkflowWorld, type WorkflowWorld } from '../../support/workflow-world.ts';
import { eventually } from '../../support/world.ts';

type State = RowState<SimulationView, SimulationFact>;
type Row = SimulationView & { version: number; plays: number; isAway: boolean; endsAs: 'done' | 'refused' };
const rows = new Map<string, Row>();

function stateOf(simulationId: string): State {
  const { version, plays: _plays, isAway: _isAway, endsAs: _endsAs, ...view } = rows.get(simulationId) as Row;
  const final = isFinalSimulation(view.status);
  return { version, final, reached: final ? ['charged'] : [], dueInMs: {}, view };
}
const activities = {
  readSimulation: async (simulationId: string): Promise<State> => stateOf(simulationId),
  playSimulation: async (simulationId: string): Promise<State> => {
    const row = rows.get(simulationId) as Row;
    if (row.isAway) throw new Error('the network is away');
    const ended =
      row.endsAs === 'done' ? { transactionId: 'tx_aaaaaaaa' } : { code: 'unknown_card', transactionId: null };
    rows.set(simulationId, { ...row, ...ended, status: row.endsAs, version: row.version + 1, plays: row.plays + 1 });
    return stateOf(simulationId);
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
  rows.set(id, { ...view, version: 1, status: 'open', plays: 0, isAway: false, endsAs: 'done' });
});

const row = () => rows.get(id) as Row;
const change = (fields: Partial<Row>) => rows.set(id, { ...row(), ...fields });
const started = () => world.start('simulation', `simulation/${id}`, id);

test('the run charges the card once without a caller, and ends with the outcome', async () => {
  const handle = await started();
  expect(await handle.result()).toMatchObject({ simulationId: id, status: 'done', transactionId: 'tx_aaaaaaaa' });
  expect(row().plays).toBe(1);
  expect(await world.detailsOf(handle)).toContain(
    '12.50 EUR for agent ag_aaaaaaaa. Done: the network has charged the card.',
  );
});

test('the run repeats the charge while the network is unavailable, and answers every waiting caller', async () => {
  change({ isAway: true });
  const handle = await started();
  const waiting = Promise.all([1, 2, 3].map(() => updateRun<SimulationView>(handle, 'simulate')));
  await eventually(
    () => world.detailsOf(handle),
    (details) =>
      details.includes('12.50 EUR for agent ag_aaaaaaaa. Waiting for the simulated network to charge the card.'),
  );
  change({ isAway: false });
  for (const view of await waiting) expect(view).toMatchObject({ status: 'done' });
  expect(await handle.result()).toMatchObject({ status: 'done' });
  expect(row().plays).toBe(1);
});

test('a refusal by the network ends the run with its code', async () => {
  change({ endsAs: 'refused' });
  const handle = await started();
  expect(await handle.result()).toMatchObject({ status: 'refused', code: 'unknown_card', transactionId: null });
  expect(await world.detailsOf(handle)).toContain('Done: refused (unknown_card)');
});

test('a run that was lost, or started for a final row, ends with the outcome of the row', async () => {
  change({ isAway: true });
  const first = await started();
  await first.terminate('lost');
  change({ isAway: false });
  await (await started()).result();
  const again = await started();
  expect(await again.result()).toMatchObject({ status: 'done' });
  expect(row().plays).toBe(1);
});

test('100 arbitrary wakes and unknown signals leave the run running', async () => {
  change({ isAway: true });
  const handle = await started();
  const junk = fc.sample(fc.jsonValue({ maxDepth: 2 }), 100);
  await Promise.all(junk.map((value, i) => handle.signal(i % 4 === 0 ? 'decide' : 'wake', value)));
  change({ isAway: false });
  expect(await handle.result()).toMatchObject({ status: 'done' });
});
