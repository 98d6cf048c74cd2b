/** The agent_tokens table. Persistence only: no rule is decided here. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../../../db/tables.ts';
import type { Id } from '../../../kernel/ids.ts';

const AgentTokenSchema = defineEntity({
  name: 'AgentToken',
  tableName: 'agent_tokens',
  properties: {
    id: p.string().primary().$type<Id<'token'>>(),
    ownerId: p.string().$type<Id<'owner'>>(),
    agentId: p.string().$type<Id<'agent'>>(),
    secretHash: p.string(),
    hint: p.string(),
    label: p.string().nullable(),
    scopes: p.array(),
    expiresAt: p.datetime().nullable(),
    createdAt: p.datetime(),
    revokedAt: p.datetime().nullable(),
    lastUsedAt: p.datetime().nullable(),
  },
});
export class AgentTokenRow extends AgentTokenSchema.class {}
AgentTokenSchema.setClass(AgentTokenRow);

declare module '../../../db/tables.ts' {
  interface Tables {
    agent_tokens: TableOf<typeof AgentTokenSchema>;
  }
}
