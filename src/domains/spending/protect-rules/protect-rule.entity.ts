/** The protect_rules table. Persistence only: no rule of a protect rule is decided here. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../../../db/tables.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { ProtectRuleType } from './protect-rule.rules.ts';

export const ProtectRuleSchema = defineEntity({
  name: 'ProtectRule',
  tableName: 'protect_rules',
  properties: {
    id: p.string().primary().$type<Id<'protectRule'>>(),
    ownerId: p.string(),
    agentId: p.string().nullable(),
    type: p.string().$type<ProtectRuleType>(),
    merchant: p.string(),
    reason: p.string().nullable(),
    requestId: p.string(),
    createdAt: p.datetime(),
  },
});
export class ProtectRuleRow extends ProtectRuleSchema.class {}
ProtectRuleSchema.setClass(ProtectRuleRow);

declare module '../../../db/tables.ts' {
  interface Tables {
    protect_rules: TableOf<typeof ProtectRuleSchema>;
  }
}
