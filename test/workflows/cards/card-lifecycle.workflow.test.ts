/**
 * Goal: the card's workflow issues the card, sends every state to the processor, ends only when the end is confirmed, and
 * nothing sent to it can break it. Method: the real dev server, activities replaced by a small row in memory.
 * @module
 */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { CardNext } from '../../../activities/cards/card.activities.ts';
import type { CardView } from '../../../src/domains/cards/cards/card.messages.ts';
import { type CardStatus, nextCardStep } from '../../../src/domains/cards/cards/card.rules.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { updateRun } from '../../support/update-run.ts';
import { startWorkflowWorld, type WorkflowWorld } from '../../support/workflow-world.ts';
import { eventually } from '../../support/world.ts';

type Row = { status: CardStatus; syncedState: CardStatus | null; told: CardStatus[]; issues: number; isAway: boolean };
const rows = new Map<string, Row>();
const rowOf = (id: string): Row => rows.get(id) as Row;

const viewOf = (id: string): CardView => {
  const { status, syncedState } = rowOf(id);
  return { cardId: id, agentId: 'ag_aaaaaaaa', status, frozenBy: status === 'frozen' ? 'agent' : null, syncedState };
};
const orAway = (id: string): Row => {
  const row = rowOf(id);
  if (row.isAway) throw new Error('the processor is away');
  return row;
};

const activities = {
  nextCardStep: async (id: string): Promise<CardNext> => ({ kind: nextCardStep(rowOf(id)), view: viewOf(id) }),
  issueCard: async (id: string): Promise<CardView> => {
    const row = orAway(id);
    row.issues += 1;
    row.syncedState = 'active';
    return viewOf(id);
  },
  syncCard: async (id: string): Promise<CardView> => {
    const row = orAway(id);
    row.syncedState = row.status;
    row.told.push(row.status);
    return viewOf(id);
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
  id = newId('card');
  rows.set(id, { status: 'active', syncedState: null, told: [], issues: 0, isAway: false });
});

const started = () => world.start('cardLifecycle', `card/${id}`, id);
const becomes = (told: CardStatus) =>
  eventually(
    async () => rowOf(id).syncedState,
    (state) => state === told,
  );

test('it issues the card at its start, and a later update finds it issued', async () => {
  const handle = await started();
  await becomes('active');
  const view = await updateRun<CardView>(handle, 'issue');
  expect(view).toMatchObject({ cardId: id, status: 'active', syncedState: 'active' });
  expect(rowOf(id).issues).toBe(1);
  await end(handle);
});

test('it sends each state to the processor and ends when the processor has confirmed the close', async () => {
  const handle = await started();
  await becomes('active');
  for (const status of ['frozen', 'active', 'frozen'] as const) {
    rowOf(id).status = status;
    await handle.signal('wake');
    await becomes(status);
  }
  expect(await end(handle)).toMatchObject({ status: 'closed', syncedState: 'closed' });
  expect(rowOf(id).told).toEqual(['frozen', 'active', 'frozen', 'closed']);
});

test('with the processor away it tries again, and sends only the last state', async () => {
  const handle = await started();
  await becomes('active');
  Object.assign(rowOf(id), { isAway: true, status: 'frozen' });
  await handle.signal('wake');
  await eventually(
    () => world.detailsOf(handle),
    (details) => details.includes('Waiting for the card processor to accept the state frozen'),
  );
  Object.assign(rowOf(id), { isAway: false, status: 'closed' });
  expect(await handle.result()).toMatchObject({ status: 'closed' });
  expect(rowOf(id).told).toEqual(['closed']);
});

test('an update for a card that was closed while it was issued is refused, and the card is closed at the processor', async () => {
  Object.assign(rowOf(id), { isAway: true, status: 'closed' });
  const handle = await started();
  await eventually(
    () => world.detailsOf(handle),
    (details) => details.includes('to issue it'),
  );
  const asked = updateRun(handle, 'issue');
  await expect(asked).rejects.toMatchObject({
    cause: { type: 'invalid_state', message: expect.stringMatching(/closed/) },
  });
  rowOf(id).isAway = false;
  expect(await handle.result()).toMatchObject({ status: 'closed' });
  expect(rowOf(id)).toMatchObject({ issues: 1, told: ['closed'] });
});

test('it is named, summarised and staged for the operator', async () => {
  const handle = await started();
  await becomes('active');
  const stage = async () =>
    (await handle.describe()).typedSearchAttributes.getAll().find(({ key }) => key.name === 'BursarStage')?.value;
  await eventually(stage, (value) => value === 'active');
  await eventually(
    () => world.detailsOf(handle),
    (details) => details.includes('Active; waiting for a change. Card of ag_aaaaaaaa.'),
  );
  expect(handle.workflowId).toBe(`card/${id}`);
  rowOf(id).status = 'frozen';
  await handle.signal('wake');
  await eventually(stage, (value) => value === 'frozen');
  await eventually(
    () => world.detailsOf(handle),
    (details) => details.includes('Frozen with its agent'),
  );
  await end(handle);
  await eventually(stage, (value) => value === 'closed');
});

test('200 arbitrary wakes and unknown signals leave it running', async () => {
  const handle = await started();
  const junk = fc.sample(fc.jsonValue({ maxDepth: 2 }), 200);
  await Promise.all(junk.map((value, i) => handle.signal(i % 4 === 0 ? 'decide' : 'wake', value)));
  await becomes('active');
  rowOf(id).status = 'frozen';
  await handle.signal('wake');
  await becomes('frozen');
  expect(await end(handle)).toMatchObject({ status: 'closed' });
});

test('a lost run continues from the row when it is started again', async () => {
  const first = await started();
  await becomes('active');
  await first.terminate('lost');
  rowOf(id).status = 'frozen';
  const second = await started();
  await becomes('frozen');
  expect(rowOf(id).issues).toBe(1);
  await end(second);
});

async function end(handle: Awaited<ReturnType<typeof started>>): Promise<unknown> {
  rowOf(id).status = 'closed';
  await handle.signal('wake');
  return handle.result();
}
