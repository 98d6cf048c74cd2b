/**
 * Goal: a retry that our own stop cuts off is not held against the receiver. Method: sends that are held until the stop has
 * waited as long as it may, one of which then fails as a closed client does, and one is answered; then their rows.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { isUnderWay } from '../../../src/domains/delivery/webhooks/delivery.lease.service.ts';
import type { Attempted } from '../../../src/domains/delivery/webhooks/delivery.rules.ts';
import { claimLimits } from '../../../src/relay/deliveries.ts';
import { createRetrySender } from '../../../src/relay/retries.ts';
import { addBacklog, countDeliveries, subscribedTo } from '../../support/backlog.ts';
import { type DeliveryWorld, startDeliveryWorld } from '../../support/delivery-world.ts';
import { eventually } from '../../support/world.ts';

let bursar: DeliveryWorld;
beforeAll(async () => {
  bursar = await startDeliveryWorld();
});
afterAll(() => bursar.close());

test('an attempt without an answer after the stop has waited for it is not recorded; an answer is', async () => {
  const owner = await subscribedTo(bursar, 'cut-off');
  await addBacklog(bursar, owner, { count: 2, attempts: 1 });
  const { database, clock, log } = bursar.infrastructure;
  const ends: ((attempted: Attempted) => void)[] = [];
  const retries = createRetrySender({
    ...{ database, clock, log, limits: claimLimits, patienceMs: 100 },
    send: async (claimed) => {
      const attempted = await new Promise<Attempted>((resolve) => void ends.push(resolve));
      return { claimed, attempted, tookMs: 1, retryAfterMs: 0, responseBody: null };
    },
  });
  expect(await retries.attemptDue(owner.webhookId)).toMatchObject({ underWay: 2 });
  await retries.stop();
  ends[0]?.({ status: null, timedOut: false, failure: 'the client is closed' });
  ends[1]?.({ status: 200, timedOut: false, failure: null });
  await eventually(
    () => countDeliveries(bursar, owner.webhookId, `status = 'succeeded' and attempts_made = 2`),
    (count) => count === 1,
  );
  // Its lease runs out, and it is attempted again.
  expect(
    await countDeliveries(bursar, owner.webhookId, `${isUnderWay('webhook_deliveries')} and attempts_made = 1`),
  ).toBe(1);
});
