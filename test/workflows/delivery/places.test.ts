/**
 * Goal: a delivered delivery gives its place to the next one before its result is recorded, and no receiver gets more
 * requests at once, or none, because of it. Method: claims with backlogs as rows; a relay and a real receiver while
 * results cannot be recorded.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import * as z from 'zod';
import { oneRowOf, runSql } from '../../../src/db/statement.ts';
import { claimRetries } from '../../../src/domains/delivery/webhooks/delivery.claim.service.ts';
import { type ClaimedPlace, releaseExpired } from '../../../src/domains/delivery/webhooks/delivery.lease.service.ts';
import { claimLimits } from '../../../src/relay/deliveries.ts';
import { claimInSteps } from '../../../src/relay/first-attempts.ts';
import { addBacklog, countDeliveries, endLeases, type Subscribed, subscribedTo } from '../../support/backlog.ts';
import { type DeliveryWorld, startDeliveryWorld } from '../../support/delivery-world.ts';
import { after, status } from '../../support/receiver.ts';
import { businessNow, eventually } from '../../support/world.ts';

let bursar: DeliveryWorld;
beforeAll(async () => {
  bursar = await startDeliveryWorld();
});
afterEach(async () => {
  await bursar.stopRelays();
  await bursar.world.sql('truncate webhook_deliveries, delivery_claims');
});
afterAll(() => bursar.close());

const claim = async (most: number, perReceiver: number, over: readonly ClaimedPlace[] = []) =>
  (await claimInSteps(bursar.infrastructure.database, most, { ...claimLimits, perReceiver }, { over })).claimed;
const waiting =
  (count: number) =>
  async (box: string): Promise<Subscribed> => {
    const owner = await subscribedTo(bursar, box);
    await addBacklog(bursar, owner, { count });
    return owner;
  };

describe('a claim', () => {
  test('gives the places of delivered deliveries to the next ones before their results are recorded', async () => {
    await waiting(10)('delivered');
    const first = await claim(100, 4);
    expect(first).toHaveLength(4);
    expect(await claim(100, 4)).toEqual([]);
    const next = await claim(100, 4, first.slice(0, 3));
    expect(next).toHaveLength(3);
    expect(await claim(100, 4, first.slice(0, 3))).toEqual([]);
    expect(new Set([...first, ...next].map(({ id }) => id)).size).toBe(7);
  });

  test('counts a later attempt of a delivery whose earlier one was delivered', async () => {
    await waiting(10)('claimed-again');
    const first = await claim(100, 2);
    await endLeases(bursar);
    await bursar.infrastructure.database.write((tx) => releaseExpired(tx));
    const again = await claim(100, 2, first);
    expect(again.map(({ id }) => id).sort()).toEqual(first.map(({ id }) => id).sort());
    expect(await claim(100, 2, first)).toEqual([]);
  });

  test('leaves an ordered receiver with many waiting its part of the places, however much waits for others', async () => {
    const ordered = await subscribedTo(bursar, 'crowded', true);
    await addBacklog(bursar, ordered, { count: 300, subject: `'po_' || n` });
    for (const box of ['plain-1', 'plain-2', 'plain-3', 'plain-4', 'plain-5']) await waiting(300)(box);
    const of = (claimed: readonly { webhookId: string }[]) =>
      claimed.filter(({ webhookId }) => webhookId === ordered.webhookId).length;
    const claimed = await claim(40, 100);
    expect(claimed).toHaveLength(40);
    expect(of(claimed)).toBeGreaterThanOrEqual(6); // One of six receivers.
    expect(of(claimed)).toBeLessThanOrEqual(7);
  });

  test('does not keep places for ordered receivers that have none free', async () => {
    const ordered = await subscribedTo(bursar, 'crowded-and-full', true);
    await addBacklog(bursar, ordered, { count: 300, subject: `'po_' || n` });
    await bursar.world.sql(
      `insert into delivery_claims (webhook_id, is_retry, lease_until, seqs)
       select $1, false, now() + interval '45 seconds', array(
         select seq from webhook_deliveries where webhook_id = $1 order by seq limit 10)`,
      [ordered.webhookId],
    );
    await waiting(300)('beside-full');
    expect(await claim(40, 10)).toHaveLength(10);
  });

  test('leaves a twentieth of the places to retries, also where delivered deliveries are not recorded', async () => {
    const owner = await waiting(60)('with-retries');
    await addBacklog(bursar, owner, { count: 5, attempts: 1 });
    const first = await claim(1_000, 40);
    expect(first).toHaveLength(38);
    expect(await claim(1_000, 40, first.slice(0, 10))).toHaveLength(10);
    const { database } = bursar.infrastructure;
    const now = await businessNow(bursar.world);
    const retries = () =>
      database.write((tx) => claimRetries(tx, owner.webhookId, now, 50, { ...claimLimits, perReceiver: 40 }));
    expect(await retries()).toHaveLength(2);
    expect(await retries()).toEqual([]);
    expect(await claim(1_000, 40, first.slice(0, 10))).toEqual([]);
  });

  test('takes no first attempt for a probed receiver within its rest, but a retry', async () => {
    const owner = await waiting(3)('resting');
    await addBacklog(bursar, owner, { count: 1, attempts: 1 });
    const restsUntil = (offset: string) =>
      bursar.world.sql(
        `update webhook_health set timeouts_in_row = 5, probe_after = now() + $2::interval where webhook_id = $1`,
        [owner.webhookId, offset],
      );
    await restsUntil('1 second');
    expect(await claim(100, 40)).toEqual([]);
    const { database } = bursar.infrastructure;
    const now = await businessNow(bursar.world);
    const [retry] = await database.write((tx) => claimRetries(tx, owner.webhookId, now, 50, claimLimits));
    expect(retry).toMatchObject({ attempt: 2 });
    await endLeases(bursar);
    for (const over of ['-1 millisecond', '3 seconds']) {
      await restsUntil(over); // Longer than a rest: the clock of PostgreSQL was set back.
      expect(await claim(100, 40)).toHaveLength(1);
      await endLeases(bursar);
    }
  });

  test('of retries that waited for the health of their receiver holds for its whole lease', async () => {
    const owner = await subscribedTo(bursar, 'waited-for');
    await addBacklog(bursar, owner, { count: 1, attempts: 1 });
    const { database } = bursar.infrastructure;
    const now = await businessNow(bursar.world);
    const held = Promise.withResolvers<void>();
    const holding = database.write(async (tx) => {
      await runSql(tx, 'select 1 from webhook_health where webhook_id = $1 for update', [owner.webhookId]);
      held.resolve();
      await sleep(1_500);
    });
    await held.promise;
    const limits = { ...claimLimits, leaseMs: 1_000 };
    const lease = await database.write(async (tx) => {
      const claimed = await claimRetries(tx, owner.webhookId, now, 1, limits);
      const isHeld = 'select lease_until > clock_timestamp() as "isHeld" from delivery_claims where id = $1';
      return oneRowOf(tx, z.object({ isHeld: z.boolean() }), isHeld, [claimed[0]?.claim]);
    });
    await holding;
    expect(lease).toEqual({ isHeld: true });
  });

  test('takes nothing for a subscription that was paused or disabled before the lock was taken', async () => {
    const owner = await waiting(5)('closed-meanwhile');
    const { id } = (await bursar.world.sql<{ id: string }>('select id from webhook_deliveries limit 1'))[0] ?? {
      id: '',
    };
    expect(id).not.toBe('');
    const claimAfter = async (change: string): Promise<unknown> => {
      await bursar.world.sql(`update webhooks set ${change} where id = $1`, [owner.webhookId]);
      const [row] = await bursar.world.sql<{ claimed: unknown }>(
        `select claim_deliveries(array[$1], array[0], array[9223372036854775807], null, 100, 5, 250, 5, '{}', '{}', 1000,
           45000) as claimed`,
        [owner.webhookId],
      );
      return row?.claimed;
    };
    expect(await claimAfter(`status = 'paused'`)).toBeNull();
    expect(await claimAfter(`status = 'disabled'`)).toBeNull();
    expect(await claimAfter(`status = 'active'`)).not.toBeNull();
  });
});

test('while results cannot be recorded, twice as many are sent as may be under way, and then all, each once', async () => {
  const results = await unrecordable();
  bursar.receiver.answers('unrecorded', after(30));
  const owner = await waiting(100)('unrecorded');
  const received = () => bursar.receiver.received('unrecorded').length;
  await bursar.relay({ mostUnderWay: 16, perReceiver: 3 });
  try {
    await eventually(
      async () => received(),
      (count) => count >= 32,
    );
    await sleep(300); // What were too many would be sent now.
    expect(await countDeliveries(bursar, owner.webhookId, `status = 'succeeded'`)).toBe(0);
    expect(received()).toBe(32);
  } finally {
    await results.recordable();
  }
  await eventually(
    () => countDeliveries(bursar, owner.webhookId, `status = 'succeeded'`),
    (count) => count === 100,
  );
  expect(received()).toBe(100);
  expect(bursar.receiver.mostAtOnce('unrecorded')).toBe(3);
});

test('while results cannot be recorded, a failed attempt keeps its place', async () => {
  const results = await unrecordable();
  bursar.receiver.answers('failing', status(500));
  const owner = await waiting(20)('failing');
  const received = () => bursar.receiver.received('failing').length;
  await bursar.relay({ perReceiver: 3 });
  try {
    await eventually(
      async () => received(),
      (count) => count >= 3,
    );
    await sleep(300); // What were too many would be sent now.
    expect(received()).toBe(3);
  } finally {
    await results.recordable();
  }
  await eventually(
    () => countDeliveries(bursar, owner.webhookId, `attempts_made = 1`),
    (count) => count === 20,
  );
});

/** The results of attempts wait until `recordable`. */
async function unrecordable(): Promise<{ recordable(): Promise<void> }> {
  const [held, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const locked = bursar.infrastructure.database.write(async (tx) => {
    await runSql(tx, 'lock table webhook_hours in access exclusive mode');
    held.resolve();
    await release.promise;
  });
  await held.promise;
  return {
    recordable: async () => {
      release.resolve();
      await locked;
    },
  };
}
