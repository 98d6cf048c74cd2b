/** The webhooks table. Persistence only: no rule is decided here. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../../../db/tables.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { WebhookStatus } from './webhook.rules.ts';

export const WebhookSchema = defineEntity({
  name: 'Webhook',
  tableName: 'webhooks',
  properties: {
    id: p.string().primary().$type<Id<'webhook'>>(),
    ownerId: p.string(),
    url: p.string(),
    events: p.array(),
    description: p.string().nullable(),
    ordered: p.boolean(),
    status: p.string().$type<WebhookStatus>(),
    disabledReason: p.string().nullable(),
    sealedSecret: p.string().nullable(),
    previousSealedSecret: p.string().nullable(),
    previousSecretUntil: p.datetime().nullable(),
    hint: p.string(),
    assumedPlan: p.string(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
    deletedAt: p.datetime().nullable(),
  },
});
export class WebhookRow extends WebhookSchema.class {}
WebhookSchema.setClass(WebhookRow);

declare module '../../../db/tables.ts' {
  interface Tables {
    webhooks: TableOf<typeof WebhookSchema>;
  }
}
