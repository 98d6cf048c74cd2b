/** What tests of customers and agents arrange, and what they look at behind the API. @module */
import { randomUUID } from 'node:crypto';
import { agentTokensArea } from '../../../src/domains/identity/index.ts';
import { type AgentRecord, agentsArea } from '../../../src/domains/parties/index.ts';
import { newId } from '../../../src/kernel/ids.ts';
import type { Owner, World } from '../../support/world.ts';

export const anAgent = (owner: Owner, body: object = {}): Promise<AgentRecord> =>
  owner.client(agentsArea).createAgent({ body }) as Promise<AgentRecord>;

/** A caller with a token of that agent. */
export async function aTokenOf(world: World, owner: Owner, agentId: string, body: object = {}) {
  const made = await owner.client(agentTokensArea).createAgentToken({ params: { id: agentId }, body });
  return { ...made, ...world.as(made.token) };
}

/** Money in a wallet, as a top-up would book it. */
export async function giveMoney(world: World, owner: Owner, walletId: string, amountCents: number): Promise<void> {
  const journal = {
    id: newId('journal'),
    ownerId: owner.ownerId,
    kind: 'fund',
    referenceType: 'fund',
    referenceId: walletId,
    cause: `test:${randomUUID()}`,
    requestId: 'test',
    createdAt: new Date().toISOString(),
    postings: [
      { account: `external:processor:${owner.ownerId}`, amountCents: -amountCents },
      { account: `wallet:${walletId}:available`, amountCents },
    ],
  };
  await world.sql('select post_journals($1::jsonb)', [JSON.stringify([journal])]);
}

/** Names of the events of an owner, in order, since the row with that seq. */
export async function eventsSince(world: World, owner: Owner, seq: number): Promise<string[]> {
  const found = await world.sql<{ name: string }>(
    'select name from events where owner_id = $1 and seq > $2 order by seq',
    [owner.ownerId, seq],
  );
  return found.map(({ name }) => name);
}

export async function lastEvent(world: World, owner: Owner): Promise<number> {
  const [row] = await world.sql<{ seq: string | null }>('select max(seq) as seq from events where owner_id = $1', [
    owner.ownerId,
  ]);
  return Number(row?.seq ?? 0);
}

export async function cardsOf(world: World, agentId: string) {
  return world.sql<{ id: string; status: string; frozen_by: string | null }>(
    'select id, status, frozen_by from cards where agent_id = $1 order by created_at, id',
    [agentId],
  );
}

/** The status of a refusal, 200 when there was none. */
export const statusOf = (asked: Promise<unknown>): Promise<number> =>
  asked.then(
    () => 200,
    (refused: { status?: number }) => refused.status ?? 0,
  );
