/** The answers to repeated requests, by their idempotency key. Persistence only. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../db/tables.ts';

export const IdempotentAnswerSchema = defineEntity({
  name: 'IdempotentAnswer',
  tableName: 'idempotency',
  properties: {
    ownerId: p.text().primary(),
    agentId: p.text().primary(),
    key: p.text().primary(),
    method: p.text(),
    path: p.text(),
    requestHash: p.text(),
    seed: p.text(),
    seedMs: p.bigint('number'),
    leaseToken: p.text(),
    leaseUntil: p.datetime().nullable(),
    status: p.integer().nullable(),
    body: p.text().nullable(),
    bodyIsSealed: p.boolean().defaultRaw('default'),
    revealUntil: p.datetime().nullable(),
    reservedAt: p.datetime().defaultRaw('default'),
    callerKind: p.text().primary(),
  },
});

declare module '../db/tables.ts' {
  interface Tables {
    idempotency: TableOf<typeof IdempotentAnswerSchema>;
  }
}
