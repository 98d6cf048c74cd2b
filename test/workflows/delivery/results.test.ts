/**
 * Goal: a result that cannot be written keeps no other from being recorded, in its order and also where PostgreSQL goes
 * away meanwhile. Method: real rows and claims; one result has a figure that no column takes.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Claimed, claimFirstAttempts } from '../../../src/domains/delivery/webhooks/delivery.claim.service.ts';
import type { Result } from '../../../src/domains/delivery/webhooks/delivery.send.service.ts';
import { claimLimits } from '../../../src/relay/deliveries.ts';
import { startDeliveryResults } from '../../../src/relay/delivery-results.ts';
import { addBacklog, countDeliveries, type Subscribed, subscribedTo } from '../../support/backlog.ts';
import { type DeliveryWorld, startDeliveryWorld } from '../../support/delivery-world.ts';
import { interruptible } from '../../support/interruptible-database.ts';
import { eventually } from '../../support/world.ts';

let bursar: DeliveryWorld;
beforeAll(async () => {
  bursar = await startDeliveryWorld();
});
afterAll(() => bursar.close());

async function claimedBy(box: string, count: number): Promise<{ owner: Subscribed; claimed: Claimed[] }> {
  const owner = await subscribedTo(bursar, box);
  await addBacklog(bursar, owner, { count });
  const { database } = bursar.infrastructure;
  const { claimed } = await database.write((tx) => claimFirstAttempts(tx, 100, claimLimits));
  return { owner, claimed };
}

const answered = (claimed: Claimed, status: number, tookMs = 7): Result => ({
  claimed,
  attempted: { status, timedOut: false, failure: null },
  tookMs,
  retryAfterMs: 0,
  responseBody: null,
});
const unwritable = (claimed: Claimed): Result => answered(claimed, 200, 2 ** 40);

const resultsOf = (database: Parameters<typeof startDeliveryResults>[0]['database']) => {
  const { clock, log } = bursar.infrastructure;
  return startDeliveryResults({
    ...{ database, clock, log, pollMs: 200, restMs: 20, gapsMs: undefined, onRecorded: () => undefined },
  });
};

test('the others are recorded, also those behind which PostgreSQL goes away', async () => {
  const { owner, claimed } = await claimedBy('unwritable', 5);
  const [bad, ...good] = claimed as [Claimed, ...Claimed[]];
  // The batch fails, then the one that cannot be written; from the first good one on the database is away.
  const { database, refuse } = interruptible(bursar.infrastructure.database, (call) => {
    if (call === 3) refuse(true);
  });
  const results = resultsOf(database);
  for (const one of [unwritable(bad), ...good.map((each) => answered(each, 200))]) results.add(one);
  await eventually(
    async () => results.state().failing,
    (isFailing) => isFailing,
  );
  expect(results.unrecorded()).toBe(good.length);
  refuse(false);
  await eventually(
    () => countDeliveries(bursar, owner.webhookId, `status = 'succeeded'`),
    (count) => count === good.length,
  );
  await results.stop();
});

test('a success after a failure of its receiver is recorded after it', async () => {
  const { claimed: others } = await claimedBy('unwritable-before', 1);
  const { owner, claimed } = await claimedBy('failed-then-answered', 2);
  const [bad] = others as [Claimed];
  const [first, second] = claimed as [Claimed, Claimed];
  const results = resultsOf(bursar.infrastructure.database);
  for (const one of [unwritable(bad), answered(first, 500), answered(second, 200)]) results.add(one);
  await eventually(
    () => countDeliveries(bursar, owner.webhookId, 'attempts_made = 1'),
    (count) => count === 2,
  );
  const [health] = await bursar.world.sql<{ failures: number }>(
    'select failures_in_row as failures from webhook_health where webhook_id = $1',
    [owner.webhookId],
  );
  expect(health?.failures).toBe(0);
  await results.stop();
});
