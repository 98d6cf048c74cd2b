/**
 * Goal: the run of an agent's policy acts once when it expires, follows each change, ends with the expiry or the agent,
 * and nothing sent to it can break it. Method: the real dev server, activities replaced by a small row in memory.
 * @module
 */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { AgentPolicyNext } from '../../../activities/spending/agent-policy.activities.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { startWorkflowWorld, type WorkflowWorld } from '../../support/workflow-world.ts';
import { eventually } from '../../support/world.ts';

type Row = {
  kind: 'wait' | 'expired' | 'final';
  action: 'freeze' | 'close' | 'notify';
  hasPolicy: boolean;
  expiresAt: string;
  waitMs: number;
  isDue: boolean;
  acts: number;
  looks: number;
  isAway: boolean;
};
const rows = new Map<string, Row>();
const row = (): Row => rows.get(id) as Row;

const activities = {
  nextAgentPolicyStep: async (agentId: string): Promise<AgentPolicyNext> => {
    const { kind, isDue, waitMs, action, hasPolicy, expiresAt } = rows.get(agentId) as Row;
    (rows.get(agentId) as Row).looks += 1;
    const view = { agentId, hasPolicy, action, expiresAt };
    return { kind: kind === 'wait' && isDue ? 'expire' : kind, waitMs, view };
  },
  expireAgentPolicy: async (agentId: string): Promise<void> => {
    const found = rows.get(agentId) as Row;
    if (found.isAway) throw new Error('the database is away');
    found.acts += 1;
    found.kind = 'expired';
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
  id = newId('agent');
  const expiresAt = '2026-05-04T12:00:00.000Z';
  const wait = { kind: 'wait', action: 'freeze', hasPolicy: true, expiresAt, waitMs: 3_600_000 } as const;
  rows.set(id, { ...wait, isDue: false, acts: 0, looks: 0, isAway: false });
});

const started = () => world.start('agentPolicy', `agent-policy/${id}`, id);
type Handle = Awaited<ReturnType<typeof started>>;
const says = (handle: Handle, text: string) =>
  eventually(
    () => world.detailsOf(handle),
    (details) => details.includes(text),
  );
const stageIs = (handle: Handle, wanted: string) =>
  eventually(
    async () =>
      (await handle.describe()).typedSearchAttributes.getAll().find(({ key }) => key.name === 'BursarStage')?.value,
    (stage) => stage === wanted,
  );
const ends = async (handle: Handle): Promise<unknown> => {
  row().kind = 'final';
  await handle.signal('wake');
  return handle.result();
};

test.each([
  ['freeze', 'its cards are frozen', 'its cards were frozen', 'change the policy, then unfreeze the cards'],
  ['close', 'its cards are closed for good', 'its cards were closed for good', 'then issue a new card'],
  ['notify', 'its owner is notified', 'its owner was notified', 'the owner has to change the policy.'],
] as const)(
  '%s: it says what will be, acts once, and says what was and what to do',
  async (action, will, was, next) => {
    row().action = action;
    const handle = await started();
    await says(handle, `Waiting until 2026-05-04T12:00:00.000Z of business time; then ${will}`);
    await stageIs(handle, 'active');
    row().isDue = true;
    await handle.signal('wake');
    await says(handle, `Expired at 2026-05-04T12:00:00.000Z of business time; ${was}.`);
    await says(handle, next);
    await stageIs(handle, 'expired');
    expect(row().acts).toBe(1);
    expect(await ends(handle)).toMatchObject({ agentId: id });
    await stageIs(handle, 'ended');
  },
);

test('without a wake it acts when the time is up', async () => {
  Object.assign(row(), { waitMs: 300 });
  const handle = await started();
  await eventually(
    async () => row().looks,
    (looks) => looks > 0,
  );
  row().isDue = true;
  await stageIs(handle, 'expired');
  expect(row().acts).toBe(1);
  await ends(handle);
});

test('a change restarts it, also after it has acted', async () => {
  const handle = await started();
  row().isDue = true;
  await handle.signal('wake');
  await stageIs(handle, 'expired');
  Object.assign(row(), { kind: 'wait', isDue: false, action: 'close', expiresAt: '2026-06-01T00:00:00.000Z' });
  await handle.signal('wake');
  await says(handle, 'Waiting until 2026-06-01T00:00:00.000Z of business time; then its cards are closed');
  await stageIs(handle, 'active');
  row().isDue = true;
  await handle.signal('wake');
  await stageIs(handle, 'expired');
  expect(row().acts).toBe(2);
  await ends(handle);
});

test('it ends with the expiry, or with the agent, and records which', async () => {
  const first = await started();
  await ends(first);
  await says(first, 'Done: the policy never expires.');
  Object.assign(row(), { kind: 'wait' });
  const second = await started();
  row().hasPolicy = false;
  await ends(second);
  await says(second, 'Done: the agent is closed.');
});

test('with the database away it keeps trying, and acts once it is back', async () => {
  Object.assign(row(), { isAway: true, isDue: true });
  const handle = await started();
  await says(handle, 'now its cards are frozen');
  row().isAway = false;
  await stageIs(handle, 'expired');
  expect(row().acts).toBe(1);
  await ends(handle);
});

test('200 arbitrary wakes and unknown signals leave it running, and make it act no more often', async () => {
  const handle = await started();
  const junk = fc.sample(fc.jsonValue({ maxDepth: 2 }), 200);
  await Promise.all(junk.map((value, i) => handle.signal(i % 4 === 0 ? 'decide' : 'wake', value)));
  row().isDue = true;
  await handle.signal('wake');
  await stageIs(handle, 'expired');
  await Promise.all(junk.slice(0, 20).map((value) => handle.signal('wake', value)));
  expect(row().acts).toBe(1);
  expect(await ends(handle)).toMatchObject({ agentId: id });
});

test('a lost run continues from the row when it is started again', async () => {
  const first = await started();
  await says(first, 'Waiting until');
  await first.terminate('lost');
  row().isDue = true;
  const second = await started();
  await stageIs(second, 'expired');
  expect(row().acts).toBe(1);
  await ends(second);
});
