/** Links to the pages of subscriptions, made over the API. @module */
import { webhookPagesArea } from '../../../src/domains/delivery/webhook-pages/webhook-page.contract.ts';
import type { Owner } from '../world.ts';

export async function aPageLink(
  owner: Pick<Owner, 'client'>,
  webhookId: string,
  body: { expiresInHours?: number } = {},
) {
  const made = await owner
    .client(webhookPagesArea)
    .createWebhookPageLink({ params: { id: webhookId }, body: { ...body } });
  return { ...made, token: made.url.split('/').at(-1) ?? '' };
}
