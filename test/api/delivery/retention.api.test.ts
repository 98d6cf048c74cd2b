/**
 * Goal: old deliveries and events go, and nothing else. Method: rows of known age beside fresh ones; the purge of the
 * worker's loop; then what is left, and who may delete an event.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { day, later } from '../../../src/kernel/instant.ts';
import { startPurge } from '../../../src/main/modules/delivery.ts';
import { purgeDeliveries } from '../../../src/usecases/delivery/purge-deliveries.ts';
import { type DeliveryWorld, startDeliveryWorld } from '../../support/delivery-world.ts';
import { eventually } from '../../support/world.ts';

let bursar: DeliveryWorld;
beforeAll(async () => {
  bursar = await startDeliveryWorld();
});
afterAll(() => bursar.close());

const kept = { deliveries: 90, events: 400 };

test('finished deliveries go after 90 days and events after 400, in batches; what waits and what is younger stays', async () => {
  const owner = await bursar.subscriber();
  const { id } = await owner.webhooks.createWebhook({
    body: { url: 'https://hooks.example.com/kept', events: ['policy.created'] },
  });
  const { database, clock } = bursar.infrastructure;
  await bursar.emit(owner.ownerId, 4_200);
  const ages = (status: string) =>
    bursar.world.sql<{ count: number }>(
      'select count(*)::int as count from webhook_deliveries where webhook_id = $1 and status = $2',
      [id, status],
    );
  await bursar.world.sql(
    `update webhook_deliveries set next_attempt_at = null, attempts_made = 1, claims = 1,
       status = case when seq % 2 = 0 then 'dead' else 'failed' end
     where webhook_id = $1 and seq <> (select max(seq) from webhook_deliveries where webhook_id = $1)`,
    [id],
  );
  const eventsLeft = async () =>
    (
      await bursar.world.sql<{ count: number }>('select count(*)::int as count from events where owner_id = $1', [
        owner.ownerId,
      ])
    )[0]?.count;
  const before = await eventsLeft();
  const now = await clock.now();
  const none = { deliveries: 0, tests: 0, events: 0, hasMore: false };
  expect(await purgeDeliveries({ database })(kept, later(now, 89 * day))).toEqual(none);
  const then = later(now, 91 * day);
  expect(await purgeDeliveries({ database, purgedAtOnce: 100 })(kept, then)).toEqual({
    ...none,
    deliveries: 1_000,
    hasMore: true,
  });
  // What one pass does not take, the loop takes at once, and not ten minutes later.
  const config = { BURSAR_DELIVERIES_KEPT_DAYS: 90, BURSAR_EVENTS_KEPT_DAYS: 400 };
  const { log } = bursar.infrastructure;
  const loop = startPurge({ database, clock: { ...clock, now: async () => then }, log, config, purgedAtOnce: 100 });
  await eventually(
    async () => [...(await ages('dead')), ...(await ages('failed'))].map(({ count }) => count),
    (counts) => counts.every((count) => count === 0),
  );
  await loop.stop();
  expect(await ages('pending')).toEqual([{ count: 1 }]);
  expect(await eventsLeft()).toBe(before);

  // The purge's own clock says 401 days, the business clock does not: the database refuses to delete what is young.
  await expect(purgeDeliveries({ database })(kept, later(now, 401 * day))).rejects.toThrow(/append-only for 90 days/);
  expect(await eventsLeft()).toBe(before);
  await expect(bursar.world.sql('delete from events where owner_id = $1', [owner.ownerId])).rejects.toThrow(
    /append-only for 90 days/,
  );
  await expect(bursar.world.sql(`update events set name = 'x' where owner_id = $1`, [owner.ownerId])).rejects.toThrow(
    /append-only/,
  );

  await bursar.world.advance(400 * day);
  await bursar.world.advance(2 * day);
  await bursar.emit(owner.ownerId);
  await purgeDeliveries({ database })(kept, await clock.now());
  expect(await eventsLeft()).toBe(1);
});
