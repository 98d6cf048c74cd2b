/** Sample calls of subscriptions' pages, for the suites that cover all operations. @module */
import { webhookPagesArea } from '../../../src/domains/delivery/webhook-pages/webhook-page.contract.ts';
import { webhooksArea } from '../../../src/domains/delivery/webhooks/webhook.contract.ts';
import { aPageLink } from '../../support/factories/webhook-pages.ts';
import { type Sampler, samplesOf } from '../../support/samples.ts';
import { eventually } from '../../support/world.ts';
import { deadLetter, failing, theWebhook } from './webhooks.samples.ts';

/** A subscription with the only link of its page. Shared, because another link would replace the first one. */
const linked = async (one: Sampler) => {
  const { id, url } = await failing(one);
  const { token } = await aPageLink(one.owner, id);
  return { id, url, link: { as: 'nobody', path: { token } } as const };
};
const retried = linked;
const abandoned = (one: Sampler) => linked(one);
const lettered = (one: Sampler) => linked(one);

/** The link to a subscription that fails, with a delivery that waits for another attempt. */
const linkWithRetries = async (one: Sampler, of: typeof linked) => {
  const { id, url, link } = await one.the(of);
  const webhooks = one.client(webhooksArea);
  await fetch(`${url}/failures`, {
    method: 'PUT',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ count: 1_000, status: 500 }),
  });
  const { deliveryId } = await webhooks.testWebhook({ params: { id }, body: {} });
  await eventually(
    () => webhooks.getWebhookDelivery({ params: { deliveryId } }),
    ({ status, attempt }) => status === 'pending' && attempt > 0,
  );
  return link;
};

const anonymous = 'the caller is anonymous and has no idempotency keys';

export const samples = samplesOf(webhookPagesArea, {
  ids: { id: theWebhook, token: 'public' },
  calls: (one) => ({
    createWebhookPageLink: async () => ({ path: { id: await one.the(theWebhook) }, body: {} }),
    revokeWebhookPageLink: async () => {
      const id = await one.the(theWebhook);
      await aPageLink(one.owner, id);
      return { path: { id } };
    },
    getWebhookPage: async () => (await one.the(retried)).link,
    testByLink: async () => ({ ...(await one.the(retried)).link, body: {} }),
    retryByLink: async () => ({ ...(await linkWithRetries(one, retried)), body: {} }),
    abandonByLink: async () => ({ ...(await linkWithRetries(one, abandoned)), body: {} }),
    redeliverByLink: async () => {
      await deadLetter(one, one.the(lettered));
      return { ...(await one.the(lettered)).link, body: {} };
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
