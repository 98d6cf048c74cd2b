/** The table of links to the pages of subscriptions. Persistence only. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../../../db/tables.ts';
import type { Id } from '../../../kernel/ids.ts';

export const WebhookPageLinkSchema = defineEntity({
  name: 'WebhookPageLink',
  tableName: 'webhook_page_links',
  properties: {
    webhookId: p.text().$type<Id<'webhook'>>().primary(),
    ownerId: p.text(),
    tokenHash: p.text(),
    causeId: p.text(),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
  },
});

declare module '../../../db/tables.ts' {
  interface Tables {
    webhook_page_links: TableOf<typeof WebhookPageLinkSchema>;
  }
}
