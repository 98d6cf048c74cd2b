/** Subscription reads: one, and pages by owner. Deleted ones are not returned. @module */
import { type Filters, list, newestFirst, page } from '../../../db/page.ts';
import { columnsOf } from '../../../db/tables.ts';
import type { Tx } from '../../../db/tx.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { Page, PageQuery } from '../../../kernel/page.ts';
import { WebhookRow, WebhookSchema } from './webhook.entity.ts';

export const findWebhook = (tx: Tx, id: Id<'webhook'>): Promise<WebhookRow | null> =>
  tx.findOne(WebhookRow, { id, deletedAt: null });

const webhooks = list(
  (from, given: Filters<{ ownerId: string }>) =>
    from
      .selectFrom('webhooks')
      .select(columnsOf(WebhookSchema))
      .where('ownerId', '=', given('ownerId'))
      .where('deletedAt', 'is', null),
  newestFirst('webhooks'),
);

/** Newest first. */
export const listWebhooks = (tx: Tx, ownerId: string, pageQuery: PageQuery): Promise<Page<WebhookRow>> =>
  page(tx, webhooks, { ownerId }, pageQuery);

declare module '../../../http/reaches.ts' {
  interface Records {
    readonly webhook: WebhookRow;
  }
}
