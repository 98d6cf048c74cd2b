/**
 * Goal: a delivery that fails while the run of its subscription ends is never left without a run. Method: the end and
 * the failure raced in PostgreSQL alone, many times; then on the real dev server, with failures sent as a run ends.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { claimFirstAttempts, claimRetries } from '../../../src/domains/delivery/webhooks/delivery.claim.service.ts';
import { recordResults } from '../../../src/domains/delivery/webhooks/delivery.result.service.ts';
import type { Result } from '../../../src/domains/delivery/webhooks/delivery.send.service.ts';
import { endpointWorkflowId } from '../../../src/domains/delivery/webhooks/endpoint.messages.ts';
import type { Id } from '../../../src/kernel/ids.ts';
import { hour, minute, second } from '../../../src/kernel/instant.ts';
import { lockWorkflowRun, wakeWorkflowRun } from '../../../src/platform/workflow-runs.ts';
import { claimLimits } from '../../../src/relay/deliveries.ts';
import { readEndpoint } from '../../../src/usecases/delivery/read-endpoint.ts';
import { type DeliveryWorld, startDeliveryWorld } from '../../support/delivery-world.ts';
import { someoneWaits } from '../../support/lock-waits.ts';
import { status } from '../../support/receiver.ts';
import { businessNow, clockAt, eventually } from '../../support/world.ts';

let bursar: DeliveryWorld;
beforeAll(async () => {
  bursar = await startDeliveryWorld();
});
afterEach(() => bursar.stopRelays());
afterAll(() => bursar.close());

const subscribed = async (box: string) => {
  const { ownerId, webhooks } = await bursar.subscriber();
  const { id } = await webhooks.createWebhook({
    body: { url: bursar.receiver.urlOf(box), events: ['policy.created'] },
  });
  return { ownerId, webhookId: id as Id<'webhook'> };
};

const answered = (claimed: Result['claimed'], code: number): Result => ({
  claimed,
  attempted: { status: code, timedOut: false, failure: null },
  tookMs: 1,
  retryAfterMs: 0,
  responseBody: null,
});

const open = async (webhookId: string) => {
  const [row] = await bursar.world.sql<{ waiting: number; is_open: boolean; wanted_wake: boolean; due: boolean }>(
    `select p.is_open, p.wanted_wake, p.due_at <= (select min(next_attempt_at) from webhook_deliveries
        where webhook_id = $1 and status = 'pending') as due,
       (select count(*)::int from webhook_deliveries where webhook_id = $1 and status = 'pending') as waiting
     from workflow_runs p where p.id = $2`,
    [webhookId, endpointWorkflowId(webhookId)],
  );
  if (row === undefined) throw new Error('no process');
  return row;
};

test('the end of a run and a concurrent failure: a waiting delivery always has an open workflow run', async () => {
  const { ownerId, webhookId } = await subscribed('raced-end');
  const { database } = bursar.infrastructure;
  const seen = { reopened: 0, keptOpen: 0 };
  for (let round = 0; round < 60; round++) {
    // One delivery failed, and its retry has arrived: the run's next refresh ends it. Another delivery fails meanwhile.
    const now = await businessNow(bursar.world);
    await bursar.emit(ownerId);
    const {
      claimed: [first],
    } = await database.write((tx) => claimFirstAttempts(tx, 1, claimLimits));
    if (first === undefined) throw new Error('no claim');
    await database.write((tx) => recordResults(tx, [answered(first, 500)], now));
    const later = new Date(now.getTime() + minute);
    const [retry] = await database.write((tx) => claimRetries(tx, webhookId, later, 1, claimLimits));
    if (retry === undefined) throw new Error('no retry');
    await database.write((tx) => recordResults(tx, [answered(retry, 200)], later));
    await bursar.emit(ownerId);
    const {
      claimed: [second_],
    } = await database.write((tx) => claimFirstAttempts(tx, 1, claimLimits));
    if (second_ === undefined) throw new Error('no second claim');
    const look = () => readEndpoint({ database, clock: clockAt(later), perReceiver: 100 })(webhookId);
    const fail = () => database.write((tx) => recordResults(tx, [answered(second_, 500)], later));
    // Each order once, so that both are covered; the other rounds race.
    const orders = [
      () => look().then((found) => fail().then(() => found)),
      () => fail().then(look),
      async () => (await Promise.all([sleep(Math.random() * 4).then(look), sleep(Math.random() * 4).then(fail)]))[0],
    ] as const;
    const step = await orders[Math.min(round, 2) as 0 | 1 | 2]();
    const after = await open(webhookId);
    expect(after).toMatchObject({ waiting: 1, is_open: true, due: true });
    // The wake of the new failure wakes the run that is ending, or starts another one.
    if (step.kind === 'final') expect(after.wanted_wake).toBe(true);
    seen[step.kind === 'final' ? 'reopened' : 'keptOpen'] += 1;
    // It arrives, so that nothing waits when the next round begins.
    const end = new Date(later.getTime() + minute);
    const [last] = await database.write((tx) => claimRetries(tx, webhookId, end, 1, claimLimits));
    if (last === undefined) throw new Error('no last claim');
    await database.write((tx) => recordResults(tx, [answered(last, 200)], end));
    expect(await readEndpoint({ database, clock: clockAt(end), perReceiver: 100 })(webhookId)).toMatchObject({
      kind: 'final',
    });
  }
  process.stderr.write(`ends raced: ${JSON.stringify(seen)}\n`);
  expect(seen.reopened).toBeGreaterThan(0);
  expect(seen.keptOpen).toBeGreaterThan(0);
});

test('a move of the clock before a run looks at its rows is seen by that look, which fulfils the wake of it', async () => {
  const { ownerId, webhookId } = await subscribed('moved-clock');
  const { database, clock } = bursar.infrastructure;
  await bursar.emit(ownerId);
  const now = await businessNow(bursar.world);
  const [claimed] = (await database.write((tx) => claimFirstAttempts(tx, 1, claimLimits))).claimed;
  if (claimed === undefined) throw new Error('no claim');
  await database.write((tx) => recordResults(tx, [answered(claimed, 500)], now));
  const look = readEndpoint({ database, clock, perReceiver: 100 });
  expect(await look(webhookId)).toMatchObject({ kind: 'wait' });
  let looked: ReturnType<typeof look> | undefined;
  await database.write(async (tx) => {
    await lockWorkflowRun(tx, endpointWorkflowId(webhookId));
    looked = look(webhookId);
    await someoneWaits(bursar.world);
    await bursar.world.sql('update clock set offset_ms = offset_ms + $1', [hour]);
    await wakeWorkflowRun(tx, endpointWorkflowId(webhookId));
  });
  expect(await looked).toMatchObject({ kind: 'attempt' });
});

test('on the dev server: each delivery that fails as the run ends is retried, without a wait for the rescue', async () => {
  const box = 'raced-run';
  const { ownerId, webhookId } = await subscribed(box);
  const known = new Set<unknown>();
  bursar.receiver.answers(box, (response, n) => {
    const id = bursar.receiver.received(box)[n - 1]?.headers['webhook-id'];
    const isFirst = !known.has(id);
    known.add(id);
    status(isFirst ? 500 : 200)(response, n);
  });
  await bursar.relay({ pollMs: 100 });
  await bursar.retryWorker();
  const count = async (condition: string): Promise<number> => {
    const [row] = await bursar.world.sql<{ count: number }>(
      `select count(*)::int as count from webhook_deliveries where webhook_id = $1 and ${condition}`,
      [webhookId],
    );
    return row?.count ?? 0;
  };
  const rounds = 25;
  await bursar.emit(ownerId);
  for (let round = 1; round <= rounds; round++) {
    await eventually(
      () => count(`status = 'pending' and attempts_made = 1`),
      (waiting) => waiting > 0,
    );
    await bursar.world.sql(
      `update webhook_deliveries set next_attempt_at = created_at where webhook_id = $1 and status = 'pending' and attempts_made = 1`,
      [webhookId],
    );
    await bursar.world.sql('update workflow_runs set wanted_wake = true where id = $1', [
      endpointWorkflowId(webhookId),
    ]);
    await eventually(
      () => count(`status = 'succeeded'`),
      (succeeded) => succeeded >= round,
    );
    await sleep(Math.random() * 60);
    if (round < rounds) await bursar.emit(ownerId);
  }
  const client = await bursar.infrastructure.temporal.client();
  await eventually(
    async () => (await client.workflow.getHandle(endpointWorkflowId(webhookId)).describe()).status.name,
    (name) => name === 'COMPLETED',
  );
  expect(await count(`status = 'succeeded' and attempts_made = 2`)).toBe(rounds);
  const [row] = await bursar.world.sql<{ is_open: boolean }>('select is_open from workflow_runs where id = $1', [
    endpointWorkflowId(webhookId),
  ]);
  expect(row).toEqual({ is_open: false });
  await bursar.world.advance(second);
}, 120_000);
