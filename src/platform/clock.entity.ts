/** The business clock and the heartbeats of the loops. Persistence only. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../db/tables.ts';

export const ClockSchema = defineEntity({
  name: 'Clock',
  tableName: 'clock',
  properties: {
    id: p.integer().primary(),
    offsetMs: p.bigint('number'),
  },
});

export const HeartbeatSchema = defineEntity({
  name: 'Heartbeat',
  tableName: 'heartbeats',
  properties: {
    loop: p.text().primary(),
    succeededAt: p.datetime(),
  },
});

declare module '../db/tables.ts' {
  interface Tables {
    clock: TableOf<typeof ClockSchema>;
    heartbeats: TableOf<typeof HeartbeatSchema>;
  }
}
