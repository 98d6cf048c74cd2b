/**
 * PostgreSQL's count of the deadlocks in a world's database. Backends report what they counted at most once a second,
 * and when they are asked something, so each connection of the API is used once more first.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { agentsArea } from '../../src/domains/parties/agents/agent.contract.ts';
import type { World } from './world.ts';

export async function deadlocksIn(world: World): Promise<number> {
  const agents = (await world.owner()).client(agentsArea);
  await sleep(1_200);
  // More than the pool has connections. Not the health, whose answer is shared.
  await Promise.all(Array.from({ length: 32 }, () => agents.listAgents({})));
  const [row] = await world.sql<{ deadlocks: string }>(
    'select deadlocks from pg_stat_database where datname = current_database()',
  );
  return Number(row?.deadlocks);
}
