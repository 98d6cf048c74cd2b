/** The agents table. Persistence only: no rule is decided here. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../../../db/tables.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { Actor } from '../../../platform/cause.ts';
import type { AgentStatus, Funding, RequestSignatures } from './agent.rules.ts';

export type AgentProfile = {
  readonly purpose: string;
  readonly framework?: string | undefined;
  readonly capabilities?: readonly string[] | undefined;
  readonly description?: string | undefined;
  readonly department?: string | undefined;
  readonly ownerContact?: string | undefined;
};

/** Who asked for the agent, and in which request. */
export type AgentOrigin = { readonly requestId: string; readonly runId?: string | undefined; readonly actor: Actor };

const AgentSchema = defineEntity({
  name: 'Agent',
  tableName: 'agents',
  properties: {
    id: p.string().primary().$type<Id<'agent'>>(),
    ownerId: p.string().$type<Id<'owner'>>(),
    name: p.string(),
    scope: p.string().nullable(),
    externalId: p.string().nullable(),
    profile: p.json<AgentProfile>().nullable(),
    status: p.string().$type<AgentStatus>(),
    walletId: p.string().$type<Id<'wallet'>>(),
    funding: p.string().$type<Funding>(),
    requestSignatures: p.string().$type<RequestSignatures>(),
    isProvisioning: p.boolean(),
    origin: p.json<AgentOrigin>(),
    version: p.integer().version(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
  },
});
export class AgentRow extends AgentSchema.class {}
AgentSchema.setClass(AgentRow);

declare module '../../../db/tables.ts' {
  interface Tables {
    agents: TableOf<typeof AgentSchema>;
  }
}
