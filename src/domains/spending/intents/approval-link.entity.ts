/** The links by which people decide intents. Persistence only. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../../../db/tables.ts';

export const ApprovalLinkSchema = defineEntity({
  name: 'ApprovalLink',
  tableName: 'approval_links',
  properties: {
    tokenHash: p.text().primary(),
    intentId: p.text(),
    sealedToken: p.text(),
    createdAt: p.datetime(),
  },
});

declare module '../../../db/tables.ts' {
  interface Tables {
    approval_links: TableOf<typeof ApprovalLinkSchema>;
  }
}
