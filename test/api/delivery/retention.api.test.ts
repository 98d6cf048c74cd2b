/**
 * Goal: old deliveries and events are removed, and nothing else; a reader of the feed who comes too late gets an error.
 * Method: rows of known age beside fresh ones; the purge of the worker's loop; then the remaining rows, and attempts to
 * delete an event.
 * @module
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import type { Tx } from '../../../src/db/tx.ts';
import { eventsArea } from '../../../src/domains/delivery/events/event.contract.ts';
import { endWaitingOf } from '../../../src/domains/delivery/webhooks/delivery.end.service.ts';
import type { Id } from '../../../src/kernel/ids.ts';
import { day, later, minute } from '../../../src/kernel/instant.ts';
import { startPurge } from '../../../src/main/modules/delivery.ts';
import { purgeDeliveries } from '../../../src/usecases/delivery/purge-deliveries.ts';
import { addBacklog, countDeliveries, readSoFar, type Subscribed, subscribedTo } from '../../support/backlog.ts';
import { type DeliveryWorld, startDeliveryWorld } from '../../support/delivery-world.ts';
import { aCustomer } from '../../support/factories/parties.ts';
import { status } from '../../support/receiver.ts';
import { refusalOf } from '../../support/refusals.ts';
import { eventually } from '../../support/world.ts';

let bursar: DeliveryWorld;
beforeAll(async () => {
  bursar = await startDeliveryWorld();
});
afterAll(() => bursar.close());

const kept = { deliveries: 90, events: 400 };

/** Ends what waits of a subscription, which only a closed one does. */
async function endDeliveriesOf(webhookId: string): Promise<void> {
  await bursar.world.sql(`update webhooks set status = 'disabled' where id = $1`, [webhookId]);
  await bursar.infrastructure.database.write((tx) => endWaitingOf(tx, [webhookId], 'the test ends it'));
}

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
  // The rows that one pass leaves are removed by the next one at once, and not ten minutes later.
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

  // The clock of the purge is 401 days ahead, the business clock is not: the database refuses to delete young events.
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

describe('the age of a delivery', () => {
  const subscribed = async () => {
    const owner = await bursar.subscriber();
    const body = { url: bursar.receiver.urlOf(`age-${owner.ownerId}`), events: ['policy.created' as const] };
    const { id } = await owner.webhooks.createWebhook({ body });
    const statuses = async () =>
      (await owner.webhooks.listWebhookDeliveries({ params: { id }, query: { limit: 100 } })).data.map(
        ({ status }) => status,
      );
    const update = (status: 'active' | 'paused') => owner.webhooks.updateWebhook({ params: { id }, body: { status } });
    return { ...owner, id: id as Id<'webhook'>, statuses, update };
  };
  const purge = async (more: object = {}) => {
    const { database, clock } = bursar.infrastructure;
    return purgeDeliveries({ database, ...more })(kept, await clock.now());
  };

  test('is counted from its end: what waited for long and then arrived, failed or was given up stays for 90 days', async () => {
    const { receiver } = bursar;
    const [arrives, fails, ends] = [await subscribed(), await subscribed(), await subscribed()];
    receiver.answers(`age-${fails.ownerId}`, status(500));
    await aCustomer(bursar.world, fails.ownerId, { plan: 'free' });
    const all = [arrives, fails, ends];
    for (const owner of all) {
      await bursar.emit(owner.ownerId);
      await owner.update('paused');
    }
    await bursar.world.advance(91 * day);
    await purge();
    for (const { statuses } of all) expect(await statuses()).toEqual(['pending']);

    for (const owner of [arrives, fails]) await owner.update('active');
    await bursar.relay();
    await eventually(
      async () => [...(await arrives.statuses()), ...(await fails.statuses())],
      (found) => found.join() === 'succeeded,failed',
    );
    await endDeliveriesOf(ends.id);
    expect(await ends.statuses()).toEqual(['dead']);
    await purge();
    expect(await Promise.all(all.map(({ statuses }) => statuses()))).toEqual([['succeeded'], ['failed'], ['dead']]);
    await bursar.world.advance(89 * day);
    await purge();
    expect(await Promise.all(all.map(({ statuses }) => statuses()))).toEqual([['succeeded'], ['failed'], ['dead']]);
    await bursar.world.advance(2 * day);
    await purge();
    expect(await Promise.all(all.map(({ statuses }) => statuses()))).toEqual([[], [], []]);
    await bursar.stopRelays();
  });

  test('a delivery that an owner’s call has locked is left to the next pass, which waits for nobody', async () => {
    const [busy, other] = [await subscribed(), await subscribed()];
    for (const owner of [busy, other]) {
      await bursar.emit(owner.ownerId, 3);
      await endDeliveriesOf(owner.id);
    }
    await bursar.world.advance(91 * day);
    const client = new pg.Client(bursar.world.ownerUrl);
    await client.connect();
    await client.query('begin');
    await client.query('select 1 from webhook_deliveries where webhook_id = $1 for update', [busy.id]);
    await purge();
    expect([await busy.statuses(), await other.statuses()]).toEqual([['dead', 'dead', 'dead'], []]);
    await client.query('commit');
    await client.end();
    await purge();
    expect(await busy.statuses()).toEqual([]);
  });
});

describe('a pass of the purge', () => {
  beforeEach(() => bursar.world.sql('truncate webhook_deliveries'));
  const old = async (box: string, count: number) => {
    const subscription = await subscribedTo(bursar, box);
    await addBacklog(bursar, subscription, { count });
    return subscription;
  };
  const end = ({ webhookId }: Subscribed) => endDeliveriesOf(webhookId);
  const left = ({ webhookId }: Subscribed) => countDeliveries(bursar, webhookId, 'true');

  test('gives each subscription the same share, so that the many of one do not keep the few of another', async () => {
    const floods = [await old('flood-1', 2_000), await old('flood-2', 2_000)];
    const few = [await old('few-1', 3), await old('few-2', 3)];
    for (const one of [...floods, ...few]) await end(one);
    await bursar.world.advance(91 * day);
    const { database, clock } = bursar.infrastructure;
    const now = await clock.now();
    const oneBatch = purgeDeliveries({ database, purgedAtOnce: 40, batchesOfPass: 1 });
    expect(await oneBatch(kept, now)).toMatchObject({ deliveries: 26, hasMore: true });
    expect([await Promise.all(few.map(left)), await Promise.all(floods.map(left))]).toEqual([
      [0, 0],
      [1_990, 1_990],
    ]);
    expect(await oneBatch(kept, now)).toMatchObject({ deliveries: 40, hasMore: true });
    expect(await purgeDeliveries({ database })(kept, now)).toMatchObject({ deliveries: 3_940, hasMore: false });
  });

  test('reads what has waited for long once a day, and finds what ended meanwhile', async () => {
    const many = 5_000;
    const paused = await old('paused-for-long', many);
    await paused.webhooks.updateWebhook({ params: { id: paused.webhookId }, body: { status: 'paused' } });
    const gone = await old('gone-behind', 10);
    await end(gone);
    await bursar.world.advance(91 * day);
    const { database, clock } = bursar.infrastructure;
    const now = await clock.now();
    let within: Tx;
    const purge = purgeDeliveries({
      database: { ...database, read: () => within, write: (work) => work(within) },
      purgedAtOnce: 1_000,
    });
    const reading = (at: Date) =>
      database.write(async (tx) => {
        within = tx;
        const before = await readSoFar(tx);
        const purged = await purge(kept, at);
        return { ...purged, entries: (await readSoFar(tx)).entries - before.entries };
      });
    const first = await reading(now);
    expect(first).toMatchObject({ deliveries: 10, hasMore: false });
    expect(first.entries).toBeGreaterThanOrEqual(many);
    const second = await reading(later(now, 10 * minute));
    expect(second).toMatchObject({ deliveries: 0, hasMore: false });
    expect(second.entries).toBeLessThan(100);
    // Deliveries that end now are removed ninety days after their end: the daily search finds them.
    await end(paused);
    await bursar.world.advance(91 * day);
    expect(await reading(await clock.now())).toMatchObject({ deliveries: many, hasMore: false });
    expect(await left(paused)).toBe(0);
  });
});

test('a reader of the feed learns that events behind its position were removed, and where those begin that are kept', async () => {
  const read = async (key: string, query: object) => bursar.world.as(key).client(eventsArea).listEvents({ query });
  const [reader, another] = [await bursar.subscriber(), await bursar.subscriber()];
  const { position: before } = await read(another.key, { after: 'now' });
  await bursar.emit(reader.ownerId, 3);
  const { data: old } = await read(reader.key, { limit: '100' });
  const [first, second, third] = old.map(({ position }) => position).slice(-3);
  await bursar.world.advance(400 * day);
  await bursar.world.advance(2 * day);
  await bursar.emit(reader.ownerId, 2);
  await bursar.emit(another.ownerId);
  expect((await read(reader.key, { after: String(first) })).data).toHaveLength(4);
  const { database, clock } = bursar.infrastructure;
  await purgeDeliveries({ database })(kept, await clock.now());

  const words = `events behind position ${first} are not kept any more; read the records that you need, then go on with after=${third}`;
  expect(await refusalOf(read(reader.key, { after: String(first) }))).toEqual([410, words]);
  expect((await refusalOf(read(reader.key, { after: String(second), waitMs: '25000' })))[0]).toBe(410);
  const young = (await read(reader.key, { after: String(third) })).data.map(({ position }) => position);
  expect(young).toHaveLength(2);
  for (const query of [{}, { after: '0' }]) {
    expect((await read(reader.key, query)).data.map(({ position }) => position)).toEqual(young);
  }
  // After this position there are only events of other owners.
  expect(before).toBeLessThan(third ?? 0);
  expect((await read(another.key, { after: String(before) })).data).toHaveLength(1);
});
