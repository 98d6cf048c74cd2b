/** Answers the agent operations: ask the use case, shape the reply. No decision is made here. @module */
import type { Own } from '../../../http/caller.ts';
import type { ReachedId } from '../../../http/reaches.ts';
import type { Handlers } from '../../../http/route.ts';
import { pageOfQuery } from '../../../http/schemas.ts';
import { notFound } from '../../../kernel/errors.ts';
import type { Id } from '../../../kernel/ids.ts';
import { minute } from '../../../kernel/instant.ts';
import { type Cents, eurosFromCents } from '../../../kernel/money.ts';
import type { Page, PageQuery } from '../../../kernel/page.ts';
import type { Cause } from '../../../platform/cause.ts';
import type { AgentRecord, AgentWalletRecord, agentsArea } from './agent.contract.ts';
import type { AgentProfile } from './agent.entity.ts';
import type { AgentStatus } from './agent.rules.ts';
import type { AgentChange } from './agent.service.ts';

export type AgentName = { readonly ownerId: Id<'owner'>; readonly agentId: Id<'agent'> };
/** An agent that the caller named, and that the edge has checked. */
export type ReachedAgent = AgentName & { readonly agentId: ReachedId<'agent'> };

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
  /** Refuses an unknown agent, and another agent's token, in a single SQL statement. */
  readonly getAgent: (own: Own, agentId: Id<'agent'>) => Promise<AgentRecord>;
  readonly listAgents: (ownerId: Id<'owner'>, filter: AgentFilter, page: PageQuery) => Promise<Page<AgentRecord>>;
  readonly readAgentWallet: (name: AgentName) => Promise<AgentWalletRecord | null>;
  readonly freezeAgent: (
    name: ReachedAgent & { readonly reason?: string | undefined },
    cause: Cause,
  ) => Promise<AgentStatus>;
  readonly unfreezeAgent: (name: ReachedAgent, cause: Cause) => Promise<AgentStatus>;
  readonly closeAgent: (name: ReachedAgent, cause: Cause) => Promise<AgentStatus>;
  readonly updateAgent: (
    name: ReachedAgent,
    change: AgentChange & {
      readonly status?: AgentStatus | undefined;
      /** Whose rules become the agent's. */
      readonly policyId?: Id<'policy'> | undefined;
    },
    cause: Cause,
  ) => Promise<void>;
  readonly rotateAgentKey: (
    order: ReachedAgent & { readonly overlapMs: number },
    cause: Cause,
  ) => Promise<{ readonly kid: string; readonly formerKid: string; readonly formerUntil: Date }>;
  readonly fundAgent: (
    order: ReachedAgent & { readonly amountCents: Cents; readonly journalId: Id<'journal'> },
    cause: Cause,
  ) => Promise<void>;
};

export const agentHandlers = (deps: AgentDeps): Handlers<typeof agentsArea> => {
  const record = async (name: AgentName): Promise<AgentRecord> => found(name, await deps.readAgent(name));

  return {
    createAgent: ({ body, own: { ownerId } }, call) => {
      const ids = {
        agentId: call.newId('agent'),
        policyId: call.newId('policy'),
        cardId: call.newId('card'),
        customerId: call.newId('customer'),
        walletId: call.newId('wallet'),
      };
      const { name, externalId = null, scope = null, profile = null, usage, policyId: templateId } = body;
      const order = { ...ids, ownerId, usage, templateId, name, externalId, scope, profile };
      return deps.createAgent(order, call.cause);
    },
    listAgents: ({ query, own: { ownerId, agentId } }) =>
      deps.listAgents(ownerId, { agentId, status: query.status, externalId: query.externalId }, pageOfQuery(query)),
    getAgent: ({ params, own }) => deps.getAgent(own, params.id),
    updateAgent: async ({ params, body, own }, call) => {
      await deps.updateAgent(named(own, params.id), body, call.cause);
      return record(named(own, params.id));
    },
    closeAgent: async ({ params, own }, call) => {
      const status = await deps.closeAgent(named(own, params.id), call.cause);
      return { id: params.id, status };
    },
    fundAgent: async ({ params, body, own }, call) => {
      const order = { ...named(own, params.id), ...body, journalId: call.newId('journal') };
      await deps.fundAgent(order, call.cause);
      const { walletBalanceEuros, cardBalanceEuros } = await record(named(own, params.id));
      return { agentId: params.id, amount: eurosFromCents(body.amountCents), walletBalanceEuros, cardBalanceEuros };
    },
    freezeAgent: async ({ params, body, own }, call) => {
      const status = await deps.freezeAgent({ ...named(own, params.id), reason: body.reason }, call.cause);
      return { agentId: params.id, status };
    },
    unfreezeAgent: async ({ params, own }, call) => {
      const status = await deps.unfreezeAgent(named(own, params.id), call.cause);
      return { agentId: params.id, status };
    },
    rotateAgentKey: async ({ params, body, own }, call) => {
      const order = { ...named(own, params.id), overlapMs: body.overlapMinutes * minute };
      const { formerUntil, ...keys } = await deps.rotateAgentKey(order, call.cause);
      return { agentId: params.id, ...keys, formerUntil: formerUntil.toISOString() };
    },
    getAgentWallet: async ({ params, own }) =>
      found(named(own, params.id), await deps.readAgentWallet(named(own, params.id))),
  };
};

const named = ({ ownerId }: Own, agentId: ReachedId<'agent'>): ReachedAgent => ({ ownerId, agentId });

function found<T>({ agentId }: AgentName, record: T | null): T {
  if (record === null) throw notFound('agent', agentId);
  return record;
}
