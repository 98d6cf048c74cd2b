/** The limits that were raised for an owner. Persistence only. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../../../db/tables.ts';

export const OwnerLimitSchema = defineEntity({
  name: 'OwnerLimit',
  tableName: 'owner_limits',
  properties: {
    ownerId: p.text().primary(),
    name: p.text().primary(),
    most: p.integer(),
    updatedAt: p.datetime(),
  },
});

declare module '../../../db/tables.ts' {
  interface Tables {
    owner_limits: TableOf<typeof OwnerLimitSchema>;
  }
}
