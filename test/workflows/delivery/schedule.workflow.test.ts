/**
 * Goal: the gaps between attempts are those that the deployment sets. Method: a worker with configured gaps, a receiver that
 * always refuses, and the clock moved from attempt to attempt until the dead letter.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { hour, minute } from '../../../src/kernel/instant.ts';
import { type DeliveryWorld, startDeliveryWorld } from '../../support/delivery-world.ts';
import { status } from '../../support/receiver.ts';
import { eventually } from '../../support/world.ts';

let bursar: DeliveryWorld;
beforeAll(async () => {
  bursar = await startDeliveryWorld({ retries: true, env: { BURSAR_WEBHOOK_GAPS_SECONDS: '120,7200' } });
});
afterAll(() => bursar.close());

test('BURSAR_WEBHOOK_GAPS_SECONDS sets the gaps, and its last one counts for all later attempts', async () => {
  bursar.receiver.answers('own-gaps', status(500));
  const owner = await bursar.subscriber();
  const { id } = await owner.webhooks.createWebhook({
    body: { url: bursar.receiver.urlOf('own-gaps'), events: ['policy.created'] },
  });
  const newest = async () => (await owner.webhooks.listWebhookDeliveries({ params: { id } })).data[0];
  await bursar.emit(owner.ownerId);
  for (const [made, gap] of [2 * minute, 2 * hour, 2 * hour, 2 * hour].entries()) {
    const shown = await eventually(newest, (one) => one?.attempt === made + 1 && one.status === 'pending');
    const { attempts } = await owner.webhooks.getWebhookDelivery({ params: { deliveryId: shown?.id ?? '' } });
    const last = attempts.at(-1);
    const failedAt = Date.parse(last?.at ?? '') + (last?.responseMs ?? 0);
    expect(Date.parse(shown?.nextAttemptAt ?? '') - failedAt).toBe(gap);
    await bursar.world.advance(gap);
  }
  await eventually(newest, (one) => one?.attempt === 5 && one.status === 'dead');
  expect(bursar.receiver.received('own-gaps')).toHaveLength(5);
});
