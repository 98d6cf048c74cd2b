/** The wakes that a change of the clock requires. Persistence only. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../db/tables.ts';

export const ClockWakeSchema = defineEntity({
  name: 'ClockWake',
  tableName: 'clock_wakes',
  properties: {
    id: p.integer().primary(),
    until: p.datetime(),
    afterDue: p.datetime(),
    afterId: p.text(),
    skipped: p.array(),
    marked: p.integer(),
    isDone: p.boolean(),
  },
});

declare module '../db/tables.ts' {
  interface Tables {
    clock_wakes: TableOf<typeof ClockWakeSchema>;
  }
}
