/**
 * Goal: however many receivers hang, the failed delivery of another one is retried without waiting for them. Method:
 * more hanging receivers than the worker has activity slots, attempts that hang for longer than the test waits, and
 * the healthy receiver, which is called again while they hang.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { minute, second } from '../../../src/kernel/instant.ts';
import { defaultSize } from '../../../src/temporal/worker.ts';
import { type DeliveryWorld, startDeliveryWorld } from '../../support/delivery-world.ts';
import { hanging, inTurn, status } from '../../support/receiver.ts';
import { eventually } from '../../support/world.ts';

const owners = 3;
const hangingPerOwner = 15;
const eventsPerOwner = 2;
/** Longer than this test takes, so that no attempt ends during it. */
const attemptMs = 600_000;

let bursar: DeliveryWorld;
beforeAll(async () => {
  bursar = await startDeliveryWorld();
  await bursar.relay();
  await bursar.retryWorker({ timeoutMs: attemptMs });
});
afterAll(() => bursar.close());

const attemptedOnce = async (ownerId: string): Promise<number> => {
  const [row] = await bursar.world.sql<{ count: number }>(
    'select count(*)::int as count from webhook_deliveries where attempts_made = 1 and owner_id = $1',
    [ownerId],
  );
  return row?.count ?? 0;
};

/** Deliveries to hanging receivers whose hanging attempt has ended. */
const endedOf = async (ownerIds: readonly string[]): Promise<number> => {
  const [row] = await bursar.world.sql<{ count: number }>(
    'select count(*)::int as count from webhook_deliveries where attempts_made > 1 and owner_id = any($1)',
    [ownerIds],
  );
  return row?.count ?? 0;
};

test('45 hanging receivers with 90 deliveries do not delay the retry of a healthy one', async () => {
  expect(owners * hangingPerOwner).toBeGreaterThan(defaultSize.activitySlots);
  const hangingOwners: string[] = [];
  const failingOnce = Array.from({ length: eventsPerOwner }, () => status(500));
  for (let owner = 0; owner < owners; owner++) {
    const { ownerId, webhooks } = await bursar.subscriber();
    for (let index = 0; index < hangingPerOwner; index++) {
      const box = `hanging-${owner}-${index}`;
      bursar.receiver.answers(box, inTurn(...failingOnce, hanging));
      await webhooks.createWebhook({ body: { url: bursar.receiver.urlOf(box), events: ['policy.created'] } });
    }
    await bursar.emit(ownerId, eventsPerOwner);
    hangingOwners.push(ownerId);
  }
  bursar.receiver.answers('healthy', inTurn(status(500), status(200)));
  const healthy = await bursar.subscriber();
  await healthy.webhooks.createWebhook({
    body: { url: bursar.receiver.urlOf('healthy'), events: ['policy.created'] },
  });
  for (const ownerId of hangingOwners) {
    await eventually(
      () => attemptedOnce(ownerId),
      (count) => count === hangingPerOwner * eventsPerOwner,
      60_000,
    );
  }

  // All hanging deliveries are due and being attempted before the healthy one is due.
  await bursar.world.advance(minute + second);
  const called = () =>
    Array.from({ length: owners * hangingPerOwner }, (_, index) =>
      bursar.receiver.received(`hanging-${Math.floor(index / hangingPerOwner)}-${index % hangingPerOwner}`),
    ).filter((received) => received.length > eventsPerOwner).length;
  await eventually(
    async () => called(),
    (count) => count >= 40,
  );
  await bursar.emit(healthy.ownerId);
  await eventually(
    () => attemptedOnce(healthy.ownerId),
    (count) => count === 1,
  );
  await bursar.world.sql(
    `update webhook_deliveries set next_attempt_at = created_at where owner_id = $1 and attempts_made = 1`,
    [healthy.ownerId],
  );
  await bursar.world.sql(
    `update workflow_runs set wanted_wake = true, due_at = created_at where owner_id = $1 and is_open`,
    [healthy.ownerId],
  );
  await eventually(
    async () => bursar.receiver.received('healthy').length,
    (count) => count === 2,
  );
  expect(called()).toBeGreaterThanOrEqual(40);
  expect(await endedOf(hangingOwners)).toBe(0);
}, 300_000);
