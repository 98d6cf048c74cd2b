/** With Temporal or the processor away: creations wait with their ids reserved, revoking commands and reads go on. @module */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createClient, sendTo } from '../../../src/client/client.ts';
import { agentTokensArea } from '../../../src/domains/identity/agent-tokens/agent-token.contract.ts';
import { keysArea } from '../../../src/domains/identity/keys/key.contract.ts';
import { agentsArea } from '../../../src/domains/parties/agents/agent.contract.ts';
import { customersArea } from '../../../src/domains/parties/customers/customer.contract.ts';
import { type RunningApi, startApi } from '../../../src/main/api-server.ts';
import { anAgent, cardsOf, giveMoney } from '../../support/factories/parties.ts';
import { processTimeOf } from '../../support/process-clock.ts';
import { eventually, type Owner, startWorld, type World } from '../../support/world.ts';

const nowhere = '127.0.0.1:9';

describe('with Temporal away', () => {
  let world: World;
  let cutOff: RunningApi;
  beforeAll(async () => {
    world = await startWorld({ worker: true });
    cutOff = await startApi({ ...world.config, PORT: 0, TEMPORAL_ADDRESS: nowhere });
  });
  afterAll(async () => {
    await cutOff.stop();
    await world.close();
  });

  const createAt = (url: string, owner: Owner, key: string): Promise<Response> =>
    sendTo(
      url,
      owner.key,
    )({
      method: 'POST',
      path: '/agents',
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
      body: '{"name":"Patient"}',
    });

  test('a creation is 503, and the same key completes the same agent once Temporal is back', async () => {
    const owner = await world.owner();
    const refused = await createAt(cutOff.url, owner, 'k-1');
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0);
    expect(await refused.json()).toEqual({ error: expect.stringContaining('same Idempotency-Key') });
    const [reserved] = await world.sql<{ id: string }>('select id from agents where owner_id = $1', [owner.ownerId]);

    const made = await createAt(world.apiUrl, owner, 'k-1');
    expect(made.status).toBe(201);
    expect(await made.json()).toMatchObject({ id: reserved?.id, name: 'Patient' });
    expect(await world.sql('select 1 from agents where owner_id = $1', [owner.ownerId])).toHaveLength(1);
    expect(await cardsOf(world, reserved?.id ?? '')).toHaveLength(1);
    const created = `select 1 from events where owner_id = $1 and name = 'agent.created'`;
    expect(await world.sql(created, [owner.ownerId])).toHaveLength(1);
  });

  test('an agent whose creation is not repeated appears without a further request', async () => {
    const owner = await world.owner();
    expect((await createAt(cutOff.url, owner, 'k-2')).status).toBe(503);
    const list = () => owner.client(agentsArea).listAgents();
    await eventually(list, ({ data }) => data.length === 1 && data[0]?.cardId !== null);
  });

  test('freeze, unfreeze, fund, close, tokens, keys and reads go on', async () => {
    const owner = await world.owner();
    const agent = await anAgent(owner);
    await giveMoney(owner, agent.walletId, 1_000);
    const send = sendTo(cutOff.url, owner.key);
    const api = createClient(agentsArea, send);
    const params = { id: agent.id };
    expect(await api.freezeAgent({ params })).toMatchObject({ status: 'frozen' });
    expect(await cardsOf(world, agent.id)).toMatchObject([{ status: 'frozen', frozen_by: 'agent' }]);
    expect(await api.unfreezeAgent({ params })).toMatchObject({ status: 'active' });
    expect(await api.fundAgent({ params, body: { amount: 4 } })).toMatchObject({ cardBalanceEuros: 4 });
    expect(await api.getAgent({ params })).toMatchObject({ status: 'active', walletBalanceEuros: 6 });
    const { id: tokenId } = await createClient(agentTokensArea, send).createAgentToken({ params, body: {} });
    await createClient(agentTokensArea, send).revokeAgentToken({ params: { id: agent.id, tokenId } });
    const { id: keyId } = await createClient(keysArea, send).createKey({ body: {} });
    await createClient(keysArea, send).revokeKey({ params: { id: keyId } });
    expect(await api.closeAgent({ params })).toEqual({ id: agent.id, status: 'closed' });
    expect(await cardsOf(world, agent.id)).toMatchObject([{ status: 'closed' }]);
    expect(await createClient(customersArea, send).getOwnCustomer()).toMatchObject({ walletBalanceEuros: 10 });
  });
});

test('without a worker the card is not issued: 503 within the deadline, reserved once and not visible', async () => {
  const world = await startWorld();
  try {
    const owner = await world.owner();
    const waitedMs = await processTimeOf(async () => {
      await expect(anAgent(owner)).rejects.toMatchObject({ status: 503, message: expect.stringContaining('10 s') });
    });
    expect(waitedMs).toBeLessThan(15_000);
    expect((await owner.client(agentsArea).listAgents()).data).toEqual([]);
    expect(await world.sql('select is_provisioning from cards where owner_id = $1', [owner.ownerId])).toEqual([
      { is_provisioning: true },
    ]);
  } finally {
    await world.close();
  }
}, 120_000);
