/** Sample calls and records of webhook endpoints, for the suites that cover all operations. @module */
import { randomUUID } from 'node:crypto';
import { webhooksArea } from '../../../src/domains/delivery/webhooks/webhook.contract.ts';
import { theRecords } from '../../support/factories/records.ts';
import { type Sampler, samplesOf } from '../../support/samples.ts';
import { eventually } from '../../support/world.ts';

export const theWebhook = async (one: Sampler): Promise<string> => (await one.the(theRecords)).webhookId;
const theDelivery = async (one: Sampler): Promise<string> => (await one.the(theRecords)).deliveryId;

/** A subscription whose receiver answers 410 on request. */
export const failing = async (one: Sampler) => {
  const url = `${one.world.sandboxUrl}/receiver/failing-${randomUUID()}`;
  const { id } = await one.client(webhooksArea).createWebhook({ body: { url, events: ['card.shipped'] } });
  return { id, url };
};
/** A dead letter of a subscription that is active again. One after the other where they share the subscription. */
export const deadLetter = async (one: Sampler, webhook = one.the(failing)): Promise<string> => {
  const webhooks = one.client(webhooksArea);
  const { id, url } = await webhook;
  await fetch(`${url}/failures`, {
    method: 'PUT',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ count: 1, status: 410 }),
  });
  const { deliveryId } = await webhooks.testWebhook({ params: { id }, body: {} });
  await eventually(
    () => webhooks.getWebhook({ params: { id } }),
    ({ status }) => status === 'disabled',
  );
  await webhooks.updateWebhook({ params: { id }, body: { status: 'active' } });
  return deliveryId;
};
const twoDeadLetters = async (one: Sampler): Promise<string[]> => [await deadLetter(one), await deadLetter(one)];
const rotated = async (one: Sampler): Promise<string> => {
  const body = { url: `${one.world.sandboxUrl}/receiver/rotated`, events: ['card.shipped'] };
  return (await one.client(webhooksArea).createWebhook({ body })).id;
};
const overDelivery = async (one: Sampler): Promise<string> => {
  const deliveryId = await one.the(theDelivery);
  const webhooks = one.client(webhooksArea);
  await eventually(
    () => webhooks.getWebhookDelivery({ params: { deliveryId } }),
    ({ status }) => status === 'succeeded',
  );
  return deliveryId;
};

export const samples = samplesOf(webhooksArea, {
  ids: { id: theWebhook, deliveryId: theDelivery, webhookId: theWebhook, name: 'public' },
  calls: (one) => {
    const { sandboxUrl } = one.world;
    const webhooks = one.client(webhooksArea);
    const path = async () => ({ id: await one.the(theWebhook) });
    return {
      createWebhook: () => ({ body: { url: `${sandboxUrl}/receiver/other`, events: ['intent.created'] } }),
      listWebhooks: () => ({}),
      getWebhook: async () => ({ path: await path() }),
      deleteWebhook: async () => {
        const body = { url: `${sandboxUrl}/receiver/gone`, events: ['intent.created'] };
        return { path: { id: (await webhooks.createWebhook({ body })).id } };
      },
      listWebhookDeliveries: async () => ({ path: await path() }),
      getWebhookDelivery: async () => ({ path: { deliveryId: await one.the(theDelivery) } }),
      updateWebhook: async () => ({ path: await path(), body: { description: 'changed' } }),
      rotateWebhookSecret: async () => ({ path: { id: await one.the(rotated) }, body: { overlapHours: 1 } }),
      testWebhook: async () => ({ path: await path(), body: {} }),
      recoverWebhookDeliveries: async () => {
        const body = { url: `${sandboxUrl}/receiver/late`, events: ['agent.created'] };
        const { id } = await webhooks.createWebhook({ body });
        return { path: { id }, body: { since: new Date(Date.now() - 86_400_000).toISOString() } };
      },
      redeliverWebhookDelivery: async () => ({ path: { deliveryId: await overDelivery(one) } }),
      listDeadLetters: async () => {
        await one.the(twoDeadLetters);
        return {};
      },
      // Not shared: the redelivery of one would get the failure that is meant for the next one.
      redeliverDeadLetters: async () => ({ body: { ids: [await deadLetter(one, failing(one))] } }),
      deleteDeadLetter: async () => ({ path: { deliveryId: await deadLetter(one) } }),
      listEventCatalog: () => ({}),
      getCatalogEvent: () => ({ path: { name: 'transaction.completed' } }),
    };
  },
  needsNothing: ['listEventCatalog', 'getCatalogEvent'],
});
