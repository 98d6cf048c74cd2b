/**
 * Goal: X-Service-Sequence sorts the events of one subject, also when its changes are parallel and its deliveries arrive
 * out of order. Method: parallel fundings of one wallet over HTTP; the running balance in the events is the true order.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { fundArea } from '../../../src/domains/treasury/funding/funding.contract.ts';
import { type DeliveryWorld, startDeliveryWorld } from '../../support/delivery-world.ts';
import { eventually } from '../../support/world.ts';

let bursar: DeliveryWorld;
beforeAll(async () => {
  bursar = await startDeliveryWorld();
});
afterAll(async () => {
  await bursar.stopRelays();
  await bursar.close();
});

const times = 24;

test('the sequence sorts parallel changes of one wallet into the order in which they took effect', async () => {
  const owner = await bursar.subscriber();
  const { client } = bursar.world.as(owner.key);
  const { walletId } = await client(fundArea).fundWallet({ body: { amountEuros: 1 } });
  const webhook = await owner.webhooks.createWebhook({
    body: { url: bursar.receiver.urlOf('sequence'), events: ['wallet.funded'] },
  });
  await Promise.all(
    Array.from({ length: times }, () => client(fundArea).fundWallet({ body: { amountEuros: 1, walletId } })),
  );
  await bursar.relay();
  // An attempt that timed out on a slow machine is repeated under the same webhook-id.
  const received = await eventually(
    async () => [
      ...new Map(bursar.receiver.received('sequence').map((one) => [one.headers['webhook-id'], one])).values(),
    ],
    (all) => all.length === times,
  );
  const outOfOrder = received.toReversed().map(({ headers, body }) => ({
    sequence: Number(headers['x-service-sequence']),
    data: (JSON.parse(body) as { data: { id: string; balanceEuros: number } }).data,
  }));
  expect(new Set(outOfOrder.map(({ sequence }) => sequence)).size).toBe(times);
  const sorted = outOfOrder.toSorted((one, other) => one.sequence - other.sequence);
  expect(sorted.map(({ data }) => data.id)).toEqual(Array(times).fill(walletId));
  expect(sorted.map(({ data }) => data.balanceEuros)).toEqual(Array.from({ length: times }, (_, n) => n + 2));
  const { data: deliveries } = await owner.webhooks.listWebhookDeliveries({
    params: { id: webhook.id },
    query: { limit: 1 },
  });
  const whole = await owner.webhooks.getWebhookDelivery({
    params: { deliveryId: deliveries[0]?.id ?? 'whd_none0000' },
  });
  expect(sorted.map(({ sequence }) => sequence)).toContain(whole.sequence);
}, 120_000);
