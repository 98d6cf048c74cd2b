/** Sample calls and records of webhook endpoints, for the suites that cover all operations. @module */
import { webhooksArea } from '../../../src/domains/delivery/webhooks/webhook.contract.ts';
import { theRecords } from '../../support/factories/records.ts';
import { type Sampler, samplesOf } from '../../support/samples.ts';

const theWebhook = async (one: Sampler): Promise<string> => (await one.the(theRecords)).webhookId;
const theDelivery = async (one: Sampler): Promise<string> => (await one.the(theRecords)).deliveryId;

export const samples = samplesOf(webhooksArea, {
  ids: { id: theWebhook, deliveryId: theDelivery },
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
      listEventCatalog: () => ({}),
    };
  },
  needsNothing: ['listEventCatalog'],
});
