/** The access_events table. Rows are added and never change. Persistence only. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../db/tables.ts';
import type { Id } from '../kernel/ids.ts';
import type { Cents } from '../kernel/money.ts';
import type { AccessDecision, AccessKind } from './access.rules.ts';

export const AccessEventSchema = defineEntity({
  name: 'AccessEvent',
  tableName: 'access_events',
  properties: {
    id: p.string().primary().$type<Id<'accessEvent'>>(),
    ownerId: p.string(),
    agentId: p.string().nullable(),
    cardId: p.string().nullable(),
    intentId: p.string().nullable(),
    kind: p.string().$type<AccessKind>(),
    decision: p.string().$type<AccessDecision>(),
    rule: p.string().nullable(),
    reasons: p.json<readonly string[]>(),
    purpose: p.string().nullable(),
    reason: p.string().nullable(),
    expectedAmountCents: p.bigint('number').$type<Cents>().nullable(),
    expiresAt: p.datetime().nullable(),
    actor: p.string(),
    requestId: p.string(),
    runId: p.string().nullable(),
    createdAt: p.datetime(),
  },
});
export class AccessEventRow extends AccessEventSchema.class {}
AccessEventSchema.setClass(AccessEventRow);

declare module '../db/tables.ts' {
  interface Tables {
    access_events: TableOf<typeof AccessEventSchema>;
  }
}
