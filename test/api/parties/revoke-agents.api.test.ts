/** Freezing, unfreezing, closing and funding an agent: one transaction each with all that hangs on it. @module */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { agentTokensArea } from '../../../src/domains/identity/agent-tokens/agent-token.contract.ts';
import { agentsArea } from '../../../src/domains/parties/agents/agent.contract.ts';
import { eventsSince, lastEvent } from '../../support/events.ts';
import { anAgent, aTokenOf, cardsOf, giveMoney } from '../../support/factories/parties.ts';
import { statusOf } from '../../support/refusals.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({ worker: true });
});
afterAll(() => world.close());

describe('freezing', () => {
  // spec: does:Agents:freeze
  // spec: state:Agent:frozen
  // spec: event:agent.frozen
  test('freezes the cards with the agent, once; the reason is in the audit row and not in the event; reads go on', async () => {
    const owner = await world.owner();
    const agent = await anAgent(owner);
    const token = await aTokenOf(world, owner, agent.id);
    const before = await lastEvent(world, owner);
    const freeze = () => owner.client(agentsArea).freezeAgent({ params: { id: agent.id }, body: { reason: 'odd' } });
    expect(await freeze()).toEqual({ agentId: agent.id, status: 'frozen' });
    expect(await freeze()).toEqual({ agentId: agent.id, status: 'frozen' });
    expect(await eventsSince(world, owner, before)).toEqual(['agent.frozen', 'card.frozen']);
    expect(await cardsOf(world, agent.id)).toMatchObject([{ status: 'frozen', frozen_by: 'agent' }]);
    await expect(token.client(agentsArea).getAgent({ params: { id: agent.id } })).resolves.toMatchObject({
      status: 'frozen',
    });
    const recorded = await world.sql(
      `select a.details, e.data::text like '%odd%' as "isInEvent"
       from audit a join events e on e.subject_id = a.subject_id and e.name = a.action
       where a.subject_id = $1 and a.action = 'agent.frozen'`,
      [agent.id],
    );
    expect(recorded).toEqual([{ details: { reason: 'odd' }, isInEvent: false }]);
  });

  // spec: does:Agents:unfreeze
  // spec: state:Agent:unfrozen
  test('unfreezing wakes only the cards that were frozen with it', async () => {
    const owner = await world.owner();
    const agent = await anAgent(owner);
    const api = owner.client(agentsArea);
    const params = { id: agent.id };
    await world.sql(`update cards set status = 'frozen', frozen_by = 'card' where agent_id = $1`, [agent.id]);
    await api.freezeAgent({ params });
    expect(await api.unfreezeAgent({ params })).toEqual({ agentId: agent.id, status: 'active' });
    expect(await cardsOf(world, agent.id)).toMatchObject([{ status: 'frozen', frozen_by: 'card' }]);
    await expect(api.unfreezeAgent({ params })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('not frozen'),
    });
  });

  test('a repeat under its own key is replayed even after it was undone; a fresh one acts', async () => {
    const owner = await world.owner();
    const agent = await anAgent(owner);
    const api = owner.client(agentsArea);
    const params = { id: agent.id };
    const freeze = () => api.freezeAgent({ params, headers: { 'Idempotency-Key': 'f-1' } });
    await freeze();
    await api.unfreezeAgent({ params });
    expect(await freeze()).toEqual({ agentId: agent.id, status: 'frozen' });
    expect(await api.getAgent({ params })).toMatchObject({ status: 'active' });
    // The same, when the first answer was lost: the cause has moved the agent before and moves it no second time.
    await world.sql('update idempotency set status = null, body = null where owner_id = $1', [owner.ownerId]);
    expect(await freeze()).toEqual({ agentId: agent.id, status: 'active' });
  });

  test('many at once move it once', async () => {
    const owner = await world.owner();
    const agent = await anAgent(owner);
    const before = await lastEvent(world, owner);
    const calls = Array.from({ length: 8 }, () => owner.client(agentsArea).freezeAgent({ params: { id: agent.id } }));
    for (const answer of await Promise.all(calls)) expect(answer.status).toBe('frozen');
    expect(await eventsSince(world, owner, before)).toEqual(['agent.frozen', 'card.frozen']);
    const moves = await world.sql(
      `select 1 from transitions where noun = 'agent' and row_id = $1 and to_status = 'frozen'`,
      [agent.id],
    );
    expect(moves).toHaveLength(1);
  });

  test('a reason that is too long or of another type is 400', async () => {
    const owner = await world.owner();
    const agent = await anAgent(owner);
    for (const body of [{ reason: 'x'.repeat(501) }, { reason: 7 }, { why: 'x' }]) {
      expect(
        await statusOf(owner.client(agentsArea).freezeAgent({ params: { id: agent.id }, body: body as object })),
      ).toBe(400);
    }
    expect(await owner.client(agentsArea).getAgent({ params: { id: agent.id } })).toMatchObject({ status: 'active' });
  });
});

describe('closing', () => {
  // spec: does:Agents:delete
  test('closes cards, revokes tokens, removes the policy and returns the money, in one step', async () => {
    const owner = await world.owner();
    const agent = await anAgent(owner);
    const api = owner.client(agentsArea);
    const params = { id: agent.id };
    await giveMoney(owner, agent.walletId, 10_000);
    await api.fundAgent({ params, body: { amount: 40 } });
    const token = await aTokenOf(world, owner, agent.id);
    await token.client(agentsArea).getAgent({ params });
    const before = await lastEvent(world, owner);

    expect(await api.closeAgent({ params })).toEqual({ id: agent.id, status: 'closed' });

    expect(await statusOf(token.client(agentsArea).getAgent({ params }))).toBe(401);
    expect(await cardsOf(world, agent.id)).toMatchObject([{ status: 'closed' }]);
    expect(await api.getAgent({ params })).toMatchObject({
      status: 'closed',
      policyId: null,
      cardId: null,
      cardPanMasked: null,
      cardBalanceEuros: 0,
      walletBalanceEuros: 100,
    });
    const names = await eventsSince(world, owner, before);
    expect(names.sort()).toEqual(['agent.closed', 'agent_token.revoked', 'card.closed', 'policy.deleted']);
  });

  test('cancels open intents', async () => {
    const owner = await world.owner();
    const agent = await anAgent(owner);
    await world.sql(
      `insert into intents (id, owner_id, agent_id, purpose, expected_amount_cents, card_id, status, expires_at,
         policy_check, is_auto_approved, verified, request_id, created_at, updated_at)
       values ('int_openintent', $1, $2, 'p', 100, $3, 'approved', now() + interval '1 hour', '{}', true, false, 'r', now(), now())`,
      [owner.ownerId, agent.id, agent.cardId],
    );
    await owner.client(agentsArea).closeAgent({ params: { id: agent.id } });
    expect(await world.sql(`select status from intents where id = 'int_openintent'`)).toEqual([
      { status: 'cancelled' },
    ]);
    expect(await eventsSince(world, owner, 0)).toContain('intent.cancelled');
  });

  test('is final: closing again succeeds, every other change is 400 with the reason', async () => {
    const owner = await world.owner();
    const agent = await anAgent(owner);
    const api = owner.client(agentsArea);
    const params = { id: agent.id };
    await api.freezeAgent({ params });
    await api.closeAgent({ params });
    const before = await lastEvent(world, owner);
    expect(await api.closeAgent({ params })).toEqual({ id: agent.id, status: 'closed' });
    const asked = [
      api.freezeAgent({ params }),
      api.unfreezeAgent({ params }),
      api.fundAgent({ params, body: { amount: 1 } }),
    ];
    for (const one of asked)
      await expect(one).rejects.toMatchObject({ status: 400, message: expect.stringContaining('closed') });
    await expect(owner.client(agentTokensArea).createAgentToken({ params, body: {} })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('closed'),
    });
    expect(await lastEvent(world, owner)).toBe(before);
    expect((await api.listAgents({ query: { status: 'closed' } })).data).toHaveLength(1);
  });

  test('of many at once one closes it; a token made meanwhile does not survive', async () => {
    for (let round = 0; round < 3; round++) {
      const owner = await world.owner();
      const agent = await anAgent(owner);
      const params = { id: agent.id };
      const closing = Array.from({ length: 3 }, () => statusOf(owner.client(agentsArea).closeAgent({ params })));
      const making = Array.from({ length: 5 }, () =>
        owner
          .client(agentTokensArea)
          .createAgentToken({ params, body: {} })
          .catch(() => undefined),
      );
      const [statuses] = await Promise.all([Promise.all(closing), Promise.all(making)]);
      expect(statuses).toEqual([200, 200, 200]);
      const closings = await world.sql(`select 1 from events where subject_id = $1 and name = 'agent.closed'`, [
        agent.id,
      ]);
      expect(closings).toHaveLength(1);
      expect(
        await world.sql('select 1 from agent_tokens where agent_id = $1 and revoked_at is null', [agent.id]),
      ).toEqual([]);
    }
  });
});

describe('funding', () => {
  // spec: does:Agents:fund
  // spec: event:card.funded
  test('moves money from the wallet to the agent, whose cards then draw on the budget alone', async () => {
    const owner = await world.owner();
    const agent = await anAgent(owner);
    await giveMoney(owner, agent.walletId, 10_000);
    const before = await lastEvent(world, owner);
    const params = { id: agent.id };
    expect(await owner.client(agentsArea).fundAgent({ params, body: { amount: 30.5 } })).toEqual({
      agentId: agent.id,
      amount: 30.5,
      walletBalanceEuros: 69.5,
      cardBalanceEuros: 30.5,
    });
    expect(await owner.client(agentsArea).getAgent({ params })).toMatchObject({
      funding: 'budget',
      cardBalanceEuros: 30.5,
    });
    expect(await eventsSince(world, owner, before)).toEqual(['card.funded', 'wallet.credited']);
    const [sum] = await world.sql<{ sum: string }>(
      'select sum(amount_cents) from ledger_entries e join journals j on j.id = e.journal_id where j.owner_id = $1',
      [owner.ownerId],
    );
    expect(Number(sum?.sum)).toBe(0);
  });

  test('more than the balance of the wallet is 400 with the figures, and moves no money', async () => {
    const owner = await world.owner();
    const agent = await anAgent(owner);
    await giveMoney(owner, agent.walletId, 1_000);
    const before = await lastEvent(world, owner);
    await expect(
      owner.client(agentsArea).fundAgent({ params: { id: agent.id }, body: { amount: 10.01 } }),
    ).rejects.toMatchObject({ status: 400, message: expect.stringMatching(/10\.00.*10\.01/) });
    expect(await owner.client(agentsArea).getAgent({ params: { id: agent.id } })).toMatchObject({
      funding: 'wallet',
      walletBalanceEuros: 10,
    });
    expect(await lastEvent(world, owner)).toBe(before);
  });

  test('concurrent fundings never spend the wallet twice', async () => {
    const owner = await world.owner();
    const agents = [await anAgent(owner), await anAgent(owner)];
    await giveMoney(owner, agents[0]?.walletId ?? '', 10_000);
    const calls = Array.from({ length: 10 }, (_, i) =>
      statusOf(owner.client(agentsArea).fundAgent({ params: { id: agents[i % 2]?.id ?? '' }, body: { amount: 15 } })),
    );
    const statuses = await Promise.all(calls);
    expect(statuses.filter((status) => status === 200)).toHaveLength(6);
    expect(statuses.filter((status) => status === 400)).toHaveLength(4);
    const read = await owner.client(agentsArea).listAgents();
    expect(read.data.map(({ cardBalanceEuros }) => cardBalanceEuros).reduce((a, b) => a + b, 0)).toBe(90);
    expect(read.data[0]?.walletBalanceEuros).toBe(10);
  });

  test('a repeat, also after a lost answer, moves the money once', async () => {
    const owner = await world.owner();
    const agent = await anAgent(owner);
    await giveMoney(owner, agent.walletId, 10_000);
    const fund = () =>
      owner
        .client(agentsArea)
        .fundAgent({ params: { id: agent.id }, body: { amount: 20 }, headers: { 'Idempotency-Key': 'm-1' } });
    const once = await fund();
    expect(await fund()).toEqual(once);
    await world.sql('update idempotency set status = null, body = null where owner_id = $1', [owner.ownerId]);
    expect(await fund()).toEqual(once);
    expect(
      await world.sql(`select 1 from journals where owner_id = $1 and kind = 'agent_fund'`, [owner.ownerId]),
    ).toHaveLength(1);
  });

  test('a frozen agent is funded, and its money waits', async () => {
    const owner = await world.owner();
    const agent = await anAgent(owner);
    await giveMoney(owner, agent.walletId, 1_000);
    await owner.client(agentsArea).freezeAgent({ params: { id: agent.id } });
    expect(await owner.client(agentsArea).fundAgent({ params: { id: agent.id }, body: { amount: 10 } })).toMatchObject({
      cardBalanceEuros: 10,
    });
  });

  test.each([[0], [-1], [0.001], [100_000.01], ['10'], [null], [Number.MAX_VALUE]])(
    'an amount of %p is 400',
    async (amount) => {
      const owner = await world.owner();
      const agent = await anAgent(owner);
      expect(
        await statusOf(
          owner.client(agentsArea).fundAgent({ params: { id: agent.id }, body: { amount: amount as number } }),
        ),
      ).toBe(400);
    },
  );
});
