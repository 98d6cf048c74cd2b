/**
 * What a mixed load runs against: an installation as `npm start` makes it, and owners with funded wallets, agents
 * with limits, issued cards and a subscriber to every event.
 * @module
 */
import { type Installation, startInstallation } from '../support/installation.ts';

export type LoadAgent = {
  readonly ownerId: string;
  readonly key: string;
  readonly agentId: string;
  readonly token: string;
  readonly walletId: string;
  readonly cardId: string;
  readonly cardRef: string;
  /**
   * The network collects no more from this agent's card than it was granted, so that what is spent in a day can be
   * compared with the daily limit.
   */
  readonly isWithinHolds: boolean;
};

export type Site = {
  readonly installation: Installation;
  readonly agents: readonly LoadAgent[];
  readonly ownerIds: readonly string[];
};

export const dailyLimitEuros = 900;
export const maxTransactionEuros = 200;
const owners = 8;
const agentsPerOwner = 3;

export async function startSite(): Promise<Site> {
  const installation = await startInstallation({ BURSAR_POOL_SIZE: '20' });
  try {
    const made = await Promise.all(Array.from({ length: owners }, () => anOwner(installation)));
    return { installation, agents: made.flatMap(({ agents }) => agents), ownerIds: made.map(({ ownerId }) => ownerId) };
  } catch (error) {
    await installation.stop();
    throw error;
  }
}

async function anOwner(installation: Installation): Promise<{ ownerId: string; agents: LoadAgent[] }> {
  const { ownerId, key, send } = await installation.owner();
  const call = async (method: string, path: string, body?: object): Promise<Record<string, never>> => {
    const answer = await send({
      method,
      path,
      headers: body === undefined ? {} : { 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return JSON.parse(text);
  };
  await call('POST', '/webhooks', { url: `${installation.sandboxUrl}/receiver/${ownerId}`, events: ['*'] });
  await call('POST', '/fund', { amountEuros: 20_000 });
  // The load leaves intents open: what it measures is not the limit.
  await installation.sql(
    `insert into owner_limits (owner_id, name, most, updated_at)
     select $1, unnest(array['open_intents', 'waiting_intents']), 1000000, now()`,
    [ownerId],
  );
  const agents: LoadAgent[] = [];
  for (let number = 0; number < agentsPerOwner; number++) {
    const agent = await call('POST', '/agents', { name: `Agent ${number}` });
    await call('PATCH', `/policies/agent/${agent.id}`, {
      dailyLimitEuros,
      monthlyLimitEuros: dailyLimitEuros * 4,
      maxTransactionEuros,
      autoApproveLimitEuros: 40,
      requireIntent: false,
    });
    const { token } = await call('POST', `/agents/${agent.id}/tokens`, { scopes: ['*'] });
    const { cardRef } = await call('GET', `/cards/${agent.cardId}`);
    agents.push({
      ownerId,
      key,
      agentId: agent.id as unknown as string,
      token: token as unknown as string,
      walletId: agent.walletId as unknown as string,
      cardId: agent.cardId as unknown as string,
      cardRef: cardRef as unknown as string,
      isWithinHolds: number === 0,
    });
  }
  return { ownerId, agents };
}
