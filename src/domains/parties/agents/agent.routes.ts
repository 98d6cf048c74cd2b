/** Answers the agent operations: ask the use case, shape the reply. No decision is made here. @module */
import { agentOf, type Call, mayReach, ownerOf } from '../../../http/caller.ts';
import type { Handlers } from '../../../http/route.ts';
import { pageOfQuery } from '../../../http/schemas.ts';
import type { Id } from '../../../kernel/ids.ts';
import { type Cents, eurosFromCents } from '../../../kernel/money.ts';
import type { Page, PageQuery } from '../../../kernel/page.ts';
import type { Cause } from '../../../platform/cause.ts';
import type { AgentRecord, AgentWalletRecord, agentsArea } from './agent.contract.ts';
import type { AgentProfile } from './agent.entity.ts';
import type { AgentStatus } from './agent.rules.ts';
import type { AgentChange } from './agent.service.ts';

export type AgentName = { readonly ownerId: Id<'owner'>; readonly agentId: Id<'agent'> };

export type AgentOrder = AgentName & {
  /** Reserved ids; a re-driven request brings the same ones. */
  readonly policyId: Id<'policy'>;
  readonly cardId: Id<'card'>;
  readonly customerId: Id<'customer'>;
  readonly walletId: Id<'wallet'>;
  readonly usage: 'single' | 'multi';
  /** The template whose copy becomes the agent's policy. */
  readonly templateId: Id<'policy'> | undefined;
  readonly name: string | undefined;
  readonly externalId: string | null;
  readonly scope: string | null;
  readonly profile: AgentProfile | null;
};

export type AgentFilter = {
  readonly agentId: Id<'agent'> | undefined;
  readonly status: AgentStatus | undefined;
  readonly externalId: string | undefined;
};

/** The use cases behind the operations; each is a file of src/usecases. */
export type AgentDeps = {
  readonly createAgent: (order: AgentOrder, cause: Cause) => Promise<AgentRecord>;
  readonly readAgent: (name: AgentName) => Promise<AgentRecord | null>;
  readonly listAgents: (ownerId: Id<'owner'>, filter: AgentFilter, page: PageQuery) => Promise<Page<AgentRecord>>;
  readonly readAgentWallet: (name: AgentName) => Promise<AgentWalletRecord | null>;
  readonly freezeAgent: (
    name: AgentName & { readonly reason?: string | undefined },
    cause: Cause,
  ) => Promise<AgentStatus>;
  readonly unfreezeAgent: (name: AgentName, cause: Cause) => Promise<AgentStatus>;
  readonly closeAgent: (name: AgentName, cause: Cause) => Promise<AgentStatus>;
  readonly updateAgent: (
    name: AgentName,
    change: AgentChange & {
      readonly status?: AgentStatus | undefined;
      /** Whose rules become the agent's. */
      readonly policyId?: Id<'policy'> | undefined;
    },
    cause: Cause,
  ) => Promise<void>;
  readonly fundAgent: (
    order: AgentName & { readonly amountCents: Cents; readonly journalId: Id<'journal'> },
    cause: Cause,
  ) => Promise<void>;
};

export const agentHandlers = (deps: AgentDeps): Handlers<typeof agentsArea> => {
  const named = (call: Call, agentId: Id<'agent'>): AgentName => ({ ownerId: ownerOf(call), agentId });
  /** An agent's token reaches its own agent only: 403 for a sibling, 404 for what is not the owner's. */
  const reached = <T>(call: Call, agentId: Id<'agent'>, record: T | null): T => {
    mayReach(call, 'agent', agentId, record === null ? null : named(call, agentId));
    return record as T;
  };
  const record = async (call: Call, agentId: Id<'agent'>): Promise<AgentRecord> =>
    reached(call, agentId, await deps.readAgent(named(call, agentId)));

  return {
    createAgent: ({ body }, call) => {
      const ids = {
        agentId: call.newId('agent'),
        policyId: call.newId('policy'),
        cardId: call.newId('card'),
        customerId: call.newId('customer'),
        walletId: call.newId('wallet'),
      };
      const { name, externalId = null, scope = null, profile = null, usage, policyId: templateId } = body;
      const order = { ...ids, ownerId: ownerOf(call), usage, templateId, name, externalId, scope, profile };
      return deps.createAgent(order, call.cause);
    },
    listAgents: ({ query }, call) => {
      const filter = { agentId: agentOf(call), status: query.status, externalId: query.externalId };
      return deps.listAgents(ownerOf(call), filter, pageOfQuery(query));
    },
    getAgent: ({ params }, call) => record(call, params.id),
    updateAgent: async ({ params, body }, call) => {
      await deps.updateAgent(named(call, params.id), body, call.cause);
      return record(call, params.id);
    },
    closeAgent: async ({ params }, call) => {
      const status = await deps.closeAgent(named(call, params.id), call.cause);
      return { id: params.id, status };
    },
    fundAgent: async ({ params, body }, call) => {
      const order = { ...named(call, params.id), ...body, journalId: call.newId('journal') };
      await deps.fundAgent(order, call.cause);
      const { walletBalanceEuros, cardBalanceEuros } = await record(call, params.id);
      return { agentId: params.id, amount: eurosFromCents(body.amountCents), walletBalanceEuros, cardBalanceEuros };
    },
    freezeAgent: async ({ params, body }, call) => {
      const status = await deps.freezeAgent({ ...named(call, params.id), reason: body.reason }, call.cause);
      return { agentId: params.id, status };
    },
    unfreezeAgent: async ({ params }, call) => {
      const status = await deps.unfreezeAgent(named(call, params.id), call.cause);
      return { agentId: params.id, status };
    },
    getAgentWallet: async ({ params }, call) =>
      reached(call, params.id, await deps.readAgentWallet(named(call, params.id))),
  };
};
