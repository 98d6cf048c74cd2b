/** The events and the audit rows. SQL functions write both. Persistence only. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../db/tables.ts';

export const EventSchema = defineEntity({
  name: 'Event',
  tableName: 'events',
  properties: {
    id: p.text().primary(),
    seq: p.bigint('number').defaultRaw('default'),
    ownerId: p.text(),
    agentId: p.text().nullable(),
    subjectId: p.text(),
    name: p.text(),
    data: p.json<Record<string, unknown>>(),
    requestId: p.text(),
    runId: p.text().nullable(),
    createdAt: p.datetime(),
  },
});

export const AuditRowSchema = defineEntity({
  name: 'AuditRow',
  tableName: 'audit',
  properties: {
    id: p.text().primary(),
    ownerId: p.text(),
    agentId: p.text().nullable(),
    actor: p.text(),
    action: p.text(),
    subjectId: p.text(),
    details: p.json<unknown>(),
    requestId: p.text(),
    createdAt: p.datetime(),
    sourceAddress: p.text().nullable(),
    outcome: p.text().nullable(),
  },
});

declare module '../db/tables.ts' {
  interface Tables {
    events: TableOf<typeof EventSchema>;
    audit: TableOf<typeof AuditRowSchema>;
  }
}
