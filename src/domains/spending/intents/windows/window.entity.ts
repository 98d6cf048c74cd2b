/** The windows of recurring intents. Persistence only. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../../../../db/tables.ts';
import type { WindowStatus } from './window.rules.ts';

export const IntentWindowSchema = defineEntity({
  name: 'IntentWindow',
  tableName: 'intent_windows',
  properties: {
    intentId: p.text().$type<`int_${string}`>().primary(),
    number: p.integer().primary(),
    dueAt: p.datetime(),
    fromAt: p.datetime(),
    toAt: p.datetime(),
    status: p.text().$type<WindowStatus>(),
    transactionId: p.text().nullable(),
    completedAt: p.datetime().nullable(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
  },
});

declare module '../../../../db/tables.ts' {
  interface Tables {
    intent_windows: TableOf<typeof IntentWindowSchema>;
  }
}
