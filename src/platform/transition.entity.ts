/** The transitions of rows, by their cause. Persistence only. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../db/tables.ts';

export const TransitionSchema = defineEntity({
  name: 'Transition',
  tableName: 'transitions',
  properties: {
    noun: p.text().primary(),
    rowId: p.text().primary(),
    causeId: p.text().primary(),
    fromStatus: p.text().nullable(),
    toStatus: p.text(),
    at: p.datetime(),
  },
});

declare module '../db/tables.ts' {
  interface Tables {
    transitions: TableOf<typeof TransitionSchema>;
  }
}
