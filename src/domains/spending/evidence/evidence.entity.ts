/** The evidence table. Persistence only: no rule is decided here. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../../../db/tables.ts';
import type { Cents } from '../../../kernel/money.ts';
import type { EvidenceType } from './evidence.rules.ts';

const EvidenceSchema = defineEntity({
  name: 'Evidence',
  tableName: 'evidence',
  properties: {
    id: p.string().primary().$type<`evd_${string}`>(),
    ownerId: p.string(),
    agentId: p.string(),
    intentId: p.string(),
    type: p.string().$type<EvidenceType>(),
    description: p.string().nullable(),
    url: p.string().nullable(),
    amountCents: p.bigint('number').$type<Cents>().nullable(),
    merchant: p.string().nullable(),
    requestId: p.string(),
    createdAt: p.datetime(),
  },
});
export class EvidenceRow extends EvidenceSchema.class {}
EvidenceSchema.setClass(EvidenceRow);

declare module '../../../db/tables.ts' {
  interface Tables {
    evidence: TableOf<typeof EvidenceSchema>;
  }
}
