/**
 * Goal: an outage of PostgreSQL that is longer than a lease makes no attempt twice: what was sent before it is recorded
 * after it. Method: a real relay and real rows, behind a database that refuses every call for a time; the receiver counts.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Claimed } from '../../../src/domains/delivery/webhooks/delivery.claim.service.ts';
import { startDeliveryRelay } from '../../../src/relay/deliveries.ts';
import { addBacklog, countDeliveries, subscribedTo } from '../../support/backlog.ts';
import { type DeliveryWorld, startDeliveryWorld } from '../../support/delivery-world.ts';
import { interruptible } from '../../support/interruptible-database.ts';
import { eventually } from '../../support/world.ts';

let bursar: DeliveryWorld;
beforeAll(async () => {
  bursar = await startDeliveryWorld();
});
afterAll(() => bursar.close());

test('each delivery is sent once, though results wait for longer than their lease', async () => {
  const count = 1_000;
  const owner = await subscribedTo(bursar, 'outage');
  const { database: real, clock, log } = bursar.infrastructure;
  const { database, refuse } = interruptible(real);
  const sent: string[] = [];
  const begun = Promise.withResolvers<void>();
  const send = async (claimed: Claimed) => {
    if (sent.push(`${claimed.id}.${claimed.claimCount}`) === 60) {
      refuse(true);
      begun.resolve();
    }
    await sleep(5 + (sent.length % 50));
    const attempted = { status: 200, timedOut: false, failure: null };
    return { claimed, attempted, tookMs: 7, retryAfterMs: 0, responseBody: null };
  };
  await addBacklog(bursar, owner, { count });
  const relay = startDeliveryRelay({
    ...{ database, clock, log, send, pollMs: 1_000, leaseMs: 1_000, perReceiver: 300 },
  });
  try {
    await begun.promise;
    await sleep(2_500);
    expect(sent.length).toBeLessThan(count);
    refuse(false);
    await eventually(
      () => countDeliveries(bursar, owner.webhookId, `status = 'succeeded'`),
      (succeeded) => succeeded === count,
    );
  } finally {
    refuse(false);
    await relay.stop();
  }
  expect([sent.length, new Set(sent).size]).toEqual([count, count]);
});
