/**
 * Goal: a delivered delivery gives its place to the next one before its result is recorded, and no receiver gets more
 * requests at once, or none, because of it. Method: claims with backlogs as rows; a relay and a real receiver while
 * results cannot be recorded.
 * @module
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { runSql } from '../../../src/db/statement.ts';
import type { Attempt } from '../../../src/domains/delivery/webhooks/delivery.claim.service.ts';
import { claimLimits } from '../../../src/relay/deliveries.ts';
import { claimInSteps } from '../../../src/relay/first-attempts.ts';
import { addBacklog, countDeliveries, type Subscribed, subscribedTo } from '../../support/backlog.ts';
import { type DeliveryWorld, startDeliveryWorld } from '../../support/delivery-world.ts';
import { eventually } from '../../support/world.ts';

let bursar: DeliveryWorld;
beforeAll(async () => {
  bursar = await startDeliveryWorld();
});
afterEach(async () => {
  await bursar.stopRelays();
  await bursar.world.sql('truncate webhook_deliveries');
});
afterAll(() => bursar.close());

const claim = async (most: number, perReceiver: number, over: readonly Attempt[] = []) =>
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
    await bursar.world.sql('update webhook_deliveries set claims = claims + 1 where id = $1', [first[0]?.id]);
    expect(await claim(100, 2, first)).toHaveLength(1);
  });

  test('leaves an ordered receiver with many waiting its part of the places, however much waits for others', async () => {
    const ordered = await subscribedTo(bursar, 'crowded', true);
    await addBacklog(bursar, ordered, { count: 300, subject: `'po_' || n` });
    for (const box of ['plain-1', 'plain-2', 'plain-3', 'plain-4', 'plain-5']) await waiting(300)(box);
    const of = (claimed: readonly { webhookId: string }[]) =>
      claimed.filter(({ webhookId }) => webhookId === ordered.webhookId).length;
    const claimed = await claim(40, 100);
    expect([claimed.length, of(claimed)]).toEqual([40, 7]); // One of six receivers.
  });
});

test('while results cannot be recorded, twice as many are sent as may be under way, and then all, each once', async () => {
  const [held, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const locked = bursar.infrastructure.database.write(async (tx) => {
    await runSql(tx, 'lock table webhook_hours in access exclusive mode');
    held.resolve();
    await release.promise;
  });
  await held.promise;
  const owner = await waiting(60)('unrecorded');
  const received = () => bursar.receiver.received('unrecorded').length;
  await bursar.relay({ mostUnderWay: 8, perReceiver: 4 });
  try {
    await eventually(
      async () => received(),
      (count) => count >= 16,
    );
    expect(await countDeliveries(bursar, owner.webhookId, `status = 'succeeded'`)).toBe(0);
    expect(received()).toBe(16);
  } finally {
    release.resolve();
    await locked;
  }
  await eventually(
    () => countDeliveries(bursar, owner.webhookId, `status = 'succeeded'`),
    (count) => count === 60,
  );
  expect(received()).toBe(60);
  expect(bursar.receiver.mostAtOnce('unrecorded')).toBeLessThanOrEqual(4);
});
