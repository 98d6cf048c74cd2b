/** Sample calls of subscriptions' pages, for the suites that cover all operations. @module */
import { randomUUID } from 'node:crypto';
import { webhookPagesArea } from '../../../src/domains/delivery/webhook-pages/webhook-page.contract.ts';
import { webhooksArea } from '../../../src/domains/delivery/webhooks/webhook.contract.ts';
import { aPageLink } from '../../support/factories/webhook-pages.ts';
import { type Sampler, samplesOf } from '../../support/samples.ts';
import { eventually } from '../../support/world.ts';
import { deadLetter, failing } from './webhooks.samples.ts';

const aWebhook = async (one: Sampler): Promise<string> => {
  const url = `${one.world.sandboxUrl}/receiver/paged-${randomUUID()}`;
  return (await one.client(webhooksArea).createWebhook({ body: { url, events: ['card.shipped'] } })).id;
};
const theWebhook = (one: Sampler): Promise<string> => aWebhook(one);

const linkTo = async (one: Sampler, webhookId: string) => {
  const { token } = await aPageLink(one.owner, webhookId);
  return { as: 'nobody', path: { token } } as const;
};

/** The link to a subscription whose delivery has failed once. */
const linkWithRetries = async (one: Sampler) => {
  const webhooks = one.client(webhooksArea);
  const { id, url } = await failing(one);
  await fetch(`${url}/failures`, {
    method: 'PUT',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ count: 1, status: 500 }),
  });
  const { deliveryId } = await webhooks.testWebhook({ params: { id }, body: {} });
  await eventually(
    () => webhooks.getWebhookDelivery({ params: { deliveryId } }),
    ({ status, attempt }) => status === 'pending' && attempt === 1,
  );
  return linkTo(one, id);
};

const anonymous = 'the caller is anonymous and has no idempotency keys';

export const samples = samplesOf(webhookPagesArea, {
  ids: { id: theWebhook, token: 'public' },
  calls: (one) => ({
    createWebhookPageLink: async () => ({ path: { id: await one.the(theWebhook) }, body: {} }),
    revokeWebhookPageLink: async () => {
      const id = await aWebhook(one);
      await aPageLink(one.owner, id);
      return { path: { id } };
    },
    getWebhookPage: async () => linkTo(one, await aWebhook(one)),
    testByLink: async () => ({ ...(await linkTo(one, await aWebhook(one))), body: {} }),
    retryByLink: async () => ({ ...(await linkWithRetries(one)), body: {} }),
    abandonByLink: async () => ({ ...(await linkWithRetries(one)), body: {} }),
    redeliverByLink: async () => {
      const webhook = failing(one);
      await deadLetter(one, webhook);
      return { ...(await linkTo(one, (await webhook).id)), body: {} };
    },
  }),
  actsTwice: {
    testByLink: `${anonymous}, and each test is a new one`,
    retryByLink: `${anonymous}; a repeat finds what waits then`,
    abandonByLink: `${anonymous}; a repeat finds what waits then`,
    redeliverByLink: `${anonymous}; a dead letter leaves the queue`,
  },
  needsTemporal: ['retryByLink', 'abandonByLink'],
});
