/** How far an owner's events have been removed. Persistence only; `purge_events` alone writes it. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../../../db/tables.ts';

export const PurgedEventsSchema = defineEntity({
  name: 'PurgedEvents',
  tableName: 'purged_events',
  properties: { ownerId: p.text().primary(), through: p.bigint('number') },
});

declare module '../../../db/tables.ts' {
  interface Tables {
    purged_events: TableOf<typeof PurgedEventsSchema>;
  }
}
