/** What tests of customers and agents arrange, and what they look at behind the API. @module */
import { agentTokensArea } from '../../../src/domains/identity/agent-tokens/agent-token.contract.ts';
import { type AgentRecord, agentsArea } from '../../../src/domains/parties/agents/agent.contract.ts';
import { fundArea } from '../../../src/domains/treasury/funding/funding.contract.ts';
import { newId } from '../../../src/kernel/ids.ts';
import type { Owner, World } from '../world.ts';

type CustomerTerms = { readonly plan?: string; readonly defaultPolicy?: unknown };

/** The owner's customer; one who is there already keeps what is not named. */
export async function aCustomer(
  { sql }: Pick<World, 'sql'>,
  ownerId: string,
  { plan, defaultPolicy }: CustomerTerms = {},
): Promise<void> {
  const policy = defaultPolicy === undefined ? null : JSON.stringify(defaultPolicy);
  await sql(
    `insert into customers as c (id, owner_id, type, status, plan, default_policy, created_at, updated_at)
     values ($1, $2, 'consumer', 'active', coalesce($3, 'enterprise'), $4, $5, $5)
     on conflict (owner_id) do update set plan = coalesce($3, c.plan), default_policy = coalesce($4, c.default_policy)`,
    [newId('customer'), ownerId, plan ?? null, policy, new Date()],
  );
}

export const anAgent = (owner: Owner, body: object = {}): Promise<AgentRecord> =>
  owner.client(agentsArea).createAgent({ body }) as Promise<AgentRecord>;

/** A caller with a token of that agent. */
export async function aTokenOf(world: World, owner: Owner, agentId: string, body: object = {}) {
  const made = await owner.client(agentTokensArea).createAgentToken({ params: { id: agentId }, body });
  return { ...made, ...world.as(made.token) };
}

/** Funds a wallet through the API, so that the journal has its funding. */
export async function giveMoney(owner: Owner, walletId: string, amountCents: number): Promise<void> {
  await owner.client(fundArea).fundWallet({ body: { walletId, amountEuros: amountCents / 100 } });
}

export async function cardsOf(world: World, agentId: string) {
  return world.sql<{ id: string; status: string; frozen_by: string | null }>(
    'select id, status, frozen_by from cards where agent_id = $1 order by created_at, id',
    [agentId],
  );
}
