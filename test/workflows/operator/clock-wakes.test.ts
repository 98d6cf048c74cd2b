/**
 * Goal: moving the clock answers within seconds however many runs become due, and wakes every one of them, also when
 * the API dies after it moved the clock. Method: the request's marks on real rows; the API over real HTTP without a
 * worker; a Temporal that counts or hangs, and whose calls alone take time where time counts.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import type { Cause } from '../../../src/platform/cause.ts';
import { advanceClock } from '../../../src/platform/clock.ts';
import { countClockWakes, markDue, requestClockWakes } from '../../../src/relay/clock-wakes.ts';
import { wakeDue } from '../../../src/relay/workflow-runs.ts';
import { type RelayWorld, startRelayWorld } from '../../support/relay-world.ts';
import { eventually } from '../../support/world.ts';

let world: RelayWorld;
beforeAll(async () => {
  world = await startRelayWorld();
});
beforeEach(() => world.clear());
afterAll(() => world.close());

const started = { started_epoch: `'epoch'` };
const due = { ...started, due_at: `now() + interval '1 minute'` };
const asked = (): Cause => ({
  causeId: randomUUID(),
  requestId: 'req_test',
  actor: { kind: 'dashboard' },
  at: new Date(),
});
/** What the operation commits before it sends a signal. */
const request = (ms: number) =>
  world.database.write(async (tx) => {
    const offsetMs = await advanceClock(tx, ms, asked());
    const now = new Date(Date.now() + offsetMs);
    await requestClockWakes(tx, now);
    return now;
  });
/** Of a call of 100 ms, of which eight are under way at once. */
const callMs = 12.5;
const largestBatch = 32;
const wokenIds = () => new Set(world.called.map(({ id }) => id));
const worksOff = async (relay: ReturnType<RelayWorld['relay']>): Promise<void> => {
  while ((await relay.pass()).woken > 0);
};

test('wakes exactly the due rows, once', async () => {
  await world.rows('intentLifecycle', 'own_a', 40, due);
  await world.rows('cardLifecycle', 'own_a', 5, { ...started, due_at: `now() + interval '1 hour'` });
  await world.rows('checkout', 'own_a', 5, { ...started, due_at: 'null' });
  await world.rows('simulation', 'own_a', 5, { ...due, is_open: 'false' });
  await request(61_000);
  expect(await wakeDue({ ...world, relay: world.relay() })).toEqual({ woken: 40, left: 0 });
  await worksOff(world.relay());
  expect(world.called).toHaveLength(40);
});

test('begins no batch after three seconds however many are due, and the relay wakes the others', async () => {
  await world.rows('intentLifecycle', 'own_a', 3, due);
  await world.rows('webhookDelivery', 'own_flood', 10_000, due);
  await request(61_000);
  // Time passes with the calls and with nothing else, so that the machine's load is not measured.
  let nowMs = 0;
  world.onCall(async () => {
    nowMs += callMs;
  });
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
  const { woken, left } = await wakeDue({ ...world, relay: world.relay() }).finally(() => clock.mockRestore());
  expect(world.called.length).toBeGreaterThan(3_000 / callMs);
  expect(world.called.length).toBeLessThanOrEqual(3_000 / callMs + largestBatch);
  expect(woken).toBeGreaterThan(0);
  expect(woken + left).toBe(10_003);
  const underWay = world.called.length - woken;
  expect(underWay).toBeGreaterThanOrEqual(0);
  expect(underWay).toBeLessThanOrEqual(16);
  expect(wokenIds()).toContain('intentLifecycle/own_a-3'); // Marks are made in the order of deadlines.
  world.onCall(async () => undefined);
  // The rest by a worker's relay; enough of it to see that marks and wakes go on.
  const relay = world.relay();
  for (let pass = 0; pass < 20; pass++) await relay.pass();
  expect(wokenIds().size).toBeGreaterThanOrEqual(woken + 20 * 16);
  expect((await countClockWakes(world.database)).left).toBe(10_003 - wokenIds().size);
}, 120_000);

test('an API that dies after it has moved the clock loses none', async () => {
  await world.rows('intentLifecycle', 'own_a', 2_500, due);
  await request(61_000); // And nothing more.
  await worksOff(world.relay());
  expect(wokenIds().size).toBe(2_500);
}, 120_000);

test('advances at once, and workers beside them, lose none', async () => {
  await world.rows('intentLifecycle', 'own_a', 300, due);
  await world.rows('intentLifecycle', 'own_b', 300, { ...started, due_at: `now() + interval '3 minutes'` });
  const advance = async () => {
    await request(61_000);
    return wakeDue({ ...world, relay: world.relay() });
  };
  await Promise.all([advance(), advance(), advance(), worksOff(world.relay()), worksOff(world.relay())]);
  await worksOff(world.relay());
  expect(wokenIds().size).toBe(600);
  // A wake whose confirmation found its row locked is sent again when its claim has ended, after 10 s.
  const relay = world.relay();
  await eventually(
    () => relay.pass().then(() => countClockWakes(world.database)),
    ({ left }) => left === 0,
  );
}, 120_000);

test('a row that a transaction holds when its turn comes is marked when it is free', async () => {
  await world.rows('intentLifecycle', 'own_a', 3, due);
  await world.database.write(async (tx) => {
    await tx.execute(`update workflow_runs set stage = 'held' where id = 'intentLifecycle/own_a-2'`);
    await request(61_000);
    await markDue(world.database, 100);
    expect(await countClockWakes(world.database)).toEqual({ woken: 0, left: 3 });
    expect((await world.relay().pass()).woken).toBe(2);
    expect(await countClockWakes(world.database)).toEqual({ woken: 2, left: 1 });
  });
  expect((await world.relay().pass()).woken).toBe(1);
  expect(await countClockWakes(world.database)).toEqual({ woken: 3, left: 0 });
});

test('with Temporal away no row is woken and all remain, until it is back', async () => {
  await world.rows('intentLifecycle', 'own_a', 20, due);
  world.goAway(true);
  await request(61_000);
  expect(await wakeDue({ ...world, relay: world.relay() })).toEqual({ woken: 0, left: 20 });
  world.goAway(false);
  await worksOff(world.relay());
  expect(wokenIds().size).toBe(20);
});

test('the operation answers with the number of woken and of remaining rows', async () => {
  await world.rows('intentLifecycle', randomUUID(), 3, due);
  const answer = await fetch(`${world.apiUrl}/sandbox/clock/advance`, {
    method: 'POST',
    headers: { 'X-Dashboard-Secret': world.dashboardSecret, 'Content-Type': 'application/json' },
    body: JSON.stringify({ ms: 61_000 }),
  });
  expect(answer.status).toBe(200);
  expect(await answer.json()).toEqual({
    now: expect.stringMatching(/Z$/),
    offsetMs: expect.any(Number),
    woken: 3,
    left: 0,
  });
});
