/** Agents over real HTTP: made whole or not at all, read by their owner and themselves, changed by their owner. @module */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { agentsArea } from '../../../src/domains/parties/agents/agent.contract.ts';
import { customersArea } from '../../../src/domains/parties/customers/customer.contract.ts';
import { policiesArea } from '../../../src/domains/spending/policies/policy.contract.ts';
import type { Id } from '../../../src/kernel/ids.ts';
import { eventsSince, lastEvent } from '../../support/events.ts';
import { anAgent, aTokenOf, cardsOf, giveMoney } from '../../support/factories/parties.ts';
import { statusOf } from '../../support/refusals.ts';
import { type Owner, startWorld, type World } from '../../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({ worker: true });
});
afterAll(() => world.close());

describe('creating', () => {
  // spec: does:Agents:create
  // spec: state:Agent:created
  // spec: event:agent.created
  // spec: event:card.issued
  // spec: event:card.activated
  test('answers the agent with its policy, card and balances; one event each, in the name of the key', async () => {
    const owner = await world.owner();
    const before = await lastEvent(world, owner);
    const agent = await anAgent(owner, {
      name: 'Shopper',
      externalId: 'crm-7',
      scope: 'office supplies',
      profile: { purpose: 'buys paper', capabilities: ['search'] },
    });
    expect(agent).toEqual({
      id: expect.stringMatching(/^ag_[a-z0-9]{26}$/),
      ownerId: owner.ownerId,
      name: 'Shopper',
      scope: 'office supplies',
      externalId: 'crm-7',
      status: 'active',
      cardBalanceEuros: 0,
      walletBalanceEuros: 0,
      cardPanMasked: expect.stringMatching(/^•••• \d{4}$/),
      policyId: expect.stringMatching(/^po_/),
      cardId: expect.stringMatching(/^ca_/),
      walletId: expect.stringMatching(/^wal_/),
      funding: 'wallet',
      requestSignatures: 'none',
      profile: { purpose: 'buys paper', capabilities: ['search'] },
      createdAt: expect.any(String),
    });
    expect(await owner.client(agentsArea).getAgent({ params: { id: agent.id } })).toEqual(agent);
    const names = await eventsSince(world, owner, before);
    for (const name of ['customer.created', 'wallet.created', 'agent.created', 'card.issued', 'card.activated']) {
      expect(names.filter((found) => found === name)).toHaveLength(1);
    }
    const [audit] = await world.sql<{ actor: string }>(
      `select actor from audit where subject_id = $1 and action = 'agent.created'`,
      [agent.id],
    );
    expect(audit?.actor).toMatch(/^key:key_/);
  });

  test('the event carries the request id of the call, and no profile', async () => {
    const owner = await world.owner();
    const answer = await owner.send({
      method: 'POST',
      path: '/agents',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ profile: { purpose: 'p', ownerContact: 'grace@example.org' } }),
    });
    const { id } = (await answer.json()) as { id: string };
    const [event] = await world.sql<{ request_id: string; data: object }>(
      `select request_id, data from events where subject_id = $1 and name = 'agent.created'`,
      [id],
    );
    expect(event?.request_id).toBe(answer.headers.get('X-Request-Id'));
    expect(event?.data).toMatchObject({ id, agentId: id, status: 'active' });
    expect(JSON.stringify(event?.data)).not.toContain('grace@example.org');
  });

  test('without a body: a generated name, a card for many payments, the preset balanced', async () => {
    const owner = await world.owner();
    const agent = await anAgent(owner);
    expect(agent.name).toMatch(/^Agent [a-z0-9]{4}$/);
    expect(await world.sql('select usage from cards where agent_id = $1', [agent.id])).toEqual([{ usage: 'multi' }]);
    const [policy] = await world.sql<{ max: string; auto: string }>(
      'select max_transaction_cents as max, auto_approve_limit_cents as auto from policies where agent_id = $1',
      [agent.id],
    );
    expect([Number(policy?.max), Number(policy?.auto)]).toEqual([10_000, 5_000]);
  });

  test.each([
    ['an empty name', { name: '' }],
    ['a long name', { name: 'x'.repeat(101) }],
    ['an unknown usage', { usage: 'twice' }],
    ['a malformed policy id', { policyId: 'policy' }],
    ['an unknown policy', { policyId: 'po_unknown0' }],
    ['a profile without purpose', { profile: { framework: 'x' } }],
    ['an unknown field', { status: 'frozen' }],
    ['a list', []],
  ])('%s is 400 and leaves nothing behind', async (_, body) => {
    const owner = await world.owner();
    expect(await statusOf(owner.client(agentsArea).createAgent({ body: body as object }))).toBe(400);
    for (const table of ['agents', 'cards', 'policies']) {
      expect(await world.sql(`select 1 from ${table} where owner_id = $1`, [owner.ownerId])).toEqual([]);
    }
  });

  test('a template of another owner is 400, one’s own is copied', async () => {
    const [one, other] = [await world.owner(), await world.owner()];
    const template = await anAgent(other);
    expect(await statusOf(one.client(agentsArea).createAgent({ body: { policyId: template.policyId ?? '' } }))).toBe(
      400,
    );
    const copy = await anAgent(other, { policyId: template.policyId });
    expect(copy.policyId).not.toBe(template.policyId);
  });

  test('a repeat with the same key is the same agent; another body under it is 409', async () => {
    const owner = await world.owner();
    const create = (name: string) =>
      owner.client(agentsArea).createAgent({ body: { name }, headers: { 'Idempotency-Key': 'a-1' } });
    const once = await create('A');
    expect(await create('A')).toEqual(once);
    expect(await statusOf(create('B'))).toBe(409);
    expect(await world.sql('select 1 from agents where owner_id = $1', [owner.ownerId])).toHaveLength(1);
  });

  test('a repeat after a death at any point after the reservation completes the same agent, with one event', async () => {
    const owner = await world.owner();
    const create = () => owner.client(agentsArea).createAgent({ body: {}, headers: { 'Idempotency-Key': 'a-2' } });
    const lost = await create();
    await world.sql('update idempotency set status = null, body = null where owner_id = $1', [owner.ownerId]);
    const before = await lastEvent(world, owner);
    expect(await create()).toEqual(lost);
    expect(await lastEvent(world, owner)).toBe(before);
    expect(await cardsOf(world, lost.id)).toHaveLength(1);
  });

  test('the same key from several callers at once makes one agent; the rest get its answer or 409', async () => {
    const owner = await world.owner();
    const headers = { 'Idempotency-Key': 'a-3' };
    const calls = Array.from({ length: 5 }, () =>
      statusOf(owner.client(agentsArea).createAgent({ body: {}, headers })),
    );
    const statuses = await Promise.all(calls);
    expect(statuses).toContain(200);
    expect(statuses.filter((status) => status !== 200 && status !== 409)).toEqual([]);
    expect(await world.sql('select 1 from agents where owner_id = $1', [owner.ownerId])).toHaveLength(1);
  });

  test('one that is still being created is not visible: 404 by id, absent from lists, and no revoking command reaches it', async () => {
    const owner = await world.owner();
    const agent = await anAgent(owner);
    await world.sql('update agents set is_provisioning = true where id = $1', [agent.id]);
    const api = owner.client(agentsArea);
    const named = { params: { id: agent.id } };
    const asked = [api.getAgent(named), api.getAgentWallet(named), api.freezeAgent(named), api.closeAgent(named)];
    for (const one of asked) expect(await statusOf(one)).toBe(404);
    expect((await api.listAgents()).data).toEqual([]);
  });

  test('at the ceiling of the plan: 403, also for many at once', async () => {
    const owner = await world.owner();
    const { id } = await owner.client(customersArea).getOwnCustomer();
    await owner.client(customersArea).updateCustomer({ params: { id }, body: { plan: 'starter' } });
    const answers = await Promise.allSettled(Array.from({ length: 9 }, () => anAgent(owner)));
    const refused = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []));
    expect(refused).toHaveLength(4);
    for (const reason of refused) {
      expect(reason).toMatchObject({
        status: 403,
        message: expect.stringContaining('the starter plan allows 5 agents'),
      });
      expect(reason.headers.get('X-Service-Error-Code')).toBe('E_PLAN_LIMIT_EXCEEDED');
    }
    const [one] = (await owner.client(agentsArea).listAgents()).data;
    await owner.client(agentsArea).closeAgent({ params: { id: one?.id ?? '' } });
    await expect(anAgent(owner)).resolves.toMatchObject({ status: 'active' });
  });
});

describe('reading', () => {
  test('a list is paged, newest first, and filtered by status and external id', async () => {
    const owner = await world.owner();
    const made: string[] = [];
    for (let i = 0; i < 5; i++) made.unshift((await anAgent(owner, { externalId: `x-${i % 2}` })).id);
    const api = owner.client(agentsArea);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await api.listAgents({ query: { limit: 2, ...(cursor === undefined ? {} : { cursor }) } });
      expect(page.hasMore).toBe(page.nextCursor !== null);
      seen.push(...page.data.map(({ id }) => id));
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    expect(seen).toEqual(made);
    await api.freezeAgent({ params: { id: made[0] ?? '' } });
    expect((await api.listAgents({ query: { status: 'frozen' } })).data.map(({ id }) => id)).toEqual([made[0]]);
    expect((await api.listAgents({ query: { externalId: 'x-1' } })).data.map(({ id }) => id)).toEqual([
      made[1],
      made[3],
    ]);
    for (const query of [
      { limit: 0 },
      { limit: 101 },
      { cursor: 'nonsense' },
      { status: 'asleep' },
      { colour: 'red' },
    ]) {
      expect(await statusOf(api.listAgents({ query: query as object }))).toBe(400);
    }
  });

  test('the wallet that an agent draws on', async () => {
    const owner = await world.owner();
    const agent = await anAgent(owner);
    await giveMoney(owner, agent.walletId, 5_000);
    expect(await owner.client(agentsArea).getAgentWallet({ params: { id: agent.id } })).toEqual({
      agentId: agent.id,
      issuer: 'bursar-sandbox',
      walletBalance: { available: 50, pending: 0, total: 50 },
      iban: expect.stringMatching(/^DE/),
      deposit: { iban: expect.any(String), bic: 'BURSDEF0XXX', reference: agent.walletId },
      internalLedger: { walletBalanceEuros: 50 },
    });
    expect(await owner.client(agentsArea).getAgent({ params: { id: agent.id } })).toMatchObject({
      walletBalanceEuros: 50,
      cardBalanceEuros: 50,
    });
  });
});

describe('isolation', () => {
  test('another owner finds none of it', async () => {
    const [one, other] = [await world.owner(), await world.owner()];
    const agent = await anAgent(one);
    const params = { id: agent.id };
    const api = other.client(agentsArea);
    const asked = [
      api.getAgent({ params }),
      api.getAgentWallet({ params }),
      api.updateAgent({ params, body: { name: 'x' } }),
      api.freezeAgent({ params }),
      api.unfreezeAgent({ params }),
      api.fundAgent({ params, body: { amount: 1 } }),
      api.closeAgent({ params }),
    ];
    for (const one of asked) expect(await statusOf(one)).toBe(404);
    expect((await api.listAgents()).data).toEqual([]);
    expect(await one.client(agentsArea).getAgent({ params })).toEqual(agent);
  });

  test('an agent sees itself only: a sibling is 403, another owner’s agent 404, and it changes no agent', async () => {
    const [owner, stranger] = [await world.owner(), await world.owner()];
    const [self, sibling, foreign] = [await anAgent(owner), await anAgent(owner), await anAgent(stranger)];
    const { client } = await aTokenOf(world, owner, self.id);
    const api = client(agentsArea);
    expect((await api.listAgents()).data.map(({ id }) => id)).toEqual([self.id]);
    expect(await api.getAgent({ params: { id: self.id } })).toEqual(self);
    await expect(api.getAgentWallet({ params: { id: self.id } })).resolves.toMatchObject({ agentId: self.id });
    for (const read of [api.getAgent, api.getAgentWallet]) {
      expect(await statusOf(read({ params: { id: sibling.id } }))).toBe(403);
      expect(await statusOf(read({ params: { id: foreign.id } }))).toBe(404);
    }
    const params = { id: self.id };
    const asked = [
      api.createAgent({ body: {} }),
      api.updateAgent({ params, body: { name: 'x' } }),
      api.freezeAgent({ params }),
      api.unfreezeAgent({ params }),
      api.fundAgent({ params, body: { amount: 1 } }),
      api.closeAgent({ params }),
    ];
    for (const one of asked) expect(await statusOf(one)).toBe(403);
    const narrow = await aTokenOf(world, owner, self.id, { scopes: ['wallets.read'] });
    expect(await statusOf(narrow.client(agentsArea).getAgent({ params }))).toBe(403);
    await expect(narrow.client(agentsArea).getAgentWallet({ params })).resolves.toMatchObject({ agentId: self.id });
  });
});

describe('changing', () => {
  const updating = (owner: Owner, id: string, body: object) =>
    owner.client(agentsArea).updateAgent({ params: { id }, body });

  test('descriptive fields change with one event that names them; the same values again are no change', async () => {
    const owner = await world.owner();
    const agent = await anAgent(owner, { scope: 's' });
    const before = await lastEvent(world, owner);
    const body = { name: 'New', scope: null, profile: { purpose: 'p' } };
    expect(await updating(owner, agent.id, body)).toEqual({ ...agent, ...body });
    await updating(owner, agent.id, body);
    expect(await eventsSince(world, owner, before)).toEqual(['agent.updated']);
  });

  // spec: event:agent.unfrozen
  // spec: state:Agent:unfrozen
  test('of the status acts as the matching action, together with the other fields', async () => {
    const owner = await world.owner();
    const agent = await anAgent(owner);
    const before = await lastEvent(world, owner);
    expect(await updating(owner, agent.id, { status: 'frozen', name: 'Cold' })).toMatchObject({
      status: 'frozen',
      name: 'Cold',
    });
    expect(await cardsOf(world, agent.id)).toMatchObject([{ status: 'frozen', frozen_by: 'agent' }]);
    await updating(owner, agent.id, { status: 'frozen' });
    expect(await updating(owner, agent.id, { status: 'active' })).toMatchObject({ status: 'active' });
    expect(await eventsSince(world, owner, before)).toEqual([
      'agent.updated',
      'agent.frozen',
      'card.frozen',
      'agent.unfrozen',
      'card.unfrozen',
    ]);
    expect(await updating(owner, agent.id, { status: 'closed' })).toMatchObject({
      status: 'closed',
      cardId: null,
      policyId: null,
    });
    for (const body of [{ status: 'active' }, { status: 'closed' }, { name: 'Late' }]) {
      expect(await statusOf(updating(owner, agent.id, body))).toBe(400);
    }
  });

  test('of the signatures publishes a key, with one event and audit row; the same again is no change', async () => {
    const owner = await world.owner();
    const agent = await anAgent(owner);
    expect(agent.requestSignatures).toBe('none');
    const keysOf = async () => {
      const answer = await fetch(`${world.apiUrl}/.well-known/agents/${agent.id}/jwks.json`);
      return ((await answer.json()) as { keys: object[] }).keys;
    };
    expect(await keysOf()).toEqual([]);
    const before = await lastEvent(world, owner);
    const body = { requestSignatures: 'both' };
    expect(await updating(owner, agent.id, body)).toEqual({ ...agent, ...body });
    await updating(owner, agent.id, body);
    const keys = await keysOf();
    expect(keys).toHaveLength(1);
    expect(await updating(owner, agent.id, { requestSignatures: 'none' })).toEqual(agent);
    expect(await keysOf()).toEqual(keys);
    expect(await eventsSince(world, owner, before)).toEqual(['agent.updated', 'agent.updated']);
    const [event] = await world.sql<{ data: object }>(
      `select data from events where subject_id = $1 and name = 'agent.updated' order by seq limit 1`,
      [agent.id],
    );
    expect(event?.data).toMatchObject({ requestSignatures: 'both', changed: ['requestSignatures'] });
    const audited = await world.sql('select details from audit where subject_id = $1 and action = $2', [
      agent.id,
      'agent.updated',
    ]);
    expect(audited.map(({ details }) => details)).toEqual(
      [0, 1].map(() => expect.objectContaining({ changed: ['requestSignatures'] })),
    );
    for (const wrong of ['web-bot-auth', '', null, true])
      expect(await statusOf(updating(owner, agent.id, { requestSignatures: wrong }))).toBe(400);
  });

  test('the signatures of another owner’s agent and of a closed one do not change', async () => {
    const [owner, other] = [await world.owner(), await world.owner()];
    const agent = await anAgent(owner);
    expect(await statusOf(updating(other, agent.id, { requestSignatures: 'both' }))).toBe(404);
    await owner.client(agentsArea).closeAgent({ params: { id: agent.id } });
    expect(await statusOf(updating(owner, agent.id, { requestSignatures: 'both' }))).toBe(400);
    expect(await world.sql('select 1 from signing_keys where agent_id = $1', [agent.id])).toEqual([]);
  });

  test('of the policy applies another policy’s rules; the current policy is no change', async () => {
    const owner = await world.owner();
    const agent = await anAgent(owner);
    const policies = owner.client(policiesArea);
    const params = { agentId: agent.id as Id<'agent'> };
    const template = await policies.createPolicy({ body: { name: 'Mine', dailyLimitEuros: 7 } });
    const before = await lastEvent(world, owner);
    const changed = await updating(owner, agent.id, { policyId: template.id, scope: 'all at once', status: 'frozen' });
    expect(changed).toMatchObject({ policyId: agent.policyId, scope: 'all at once', status: 'frozen' });
    expect(await policies.getAgentPolicy({ params })).toMatchObject({
      id: agent.policyId,
      name: 'Mine',
      dailyLimitEuros: 7,
      maxTransactionEuros: null,
      version: 2,
    });
    const happened = ['agent.updated', 'agent.frozen', 'card.frozen', 'policy.updated'];
    expect(await eventsSince(world, owner, before)).toEqual(happened);
    // As when a caller sends the record back.
    await updating(owner, agent.id, { policyId: changed.policyId, scope: 'all at once' });
    expect(await eventsSince(world, owner, before)).toEqual(happened);
    expect(await policies.getAgentPolicy({ params })).toMatchObject({ version: 2 });
  });

  test('of the policy changes nothing with an unknown policy, another owner’s, or a close: 400', async () => {
    const owner = await world.owner();
    const agent = await anAgent(owner);
    const theirs = await (await world.owner()).client(policiesArea).createPolicy({ body: { name: 'Theirs' } });
    const { id: mine } = await owner.client(policiesArea).createPolicy({ body: { name: 'Mine' } });
    const before = await lastEvent(world, owner);
    for (const body of [
      { name: 'New', policyId: 'po_aaaaaaaa' },
      { name: 'New', policyId: theirs.id },
      { name: 'New', policyId: mine, status: 'closed' },
      { name: 'New', policyId: 'balanced' },
    ]) {
      expect(await statusOf(updating(owner, agent.id, body))).toBe(400);
    }
    expect(await eventsSince(world, owner, before)).toEqual([]);
    expect(await owner.client(agentsArea).getAgent({ params: { id: agent.id } })).toEqual(agent);
  });

  test.each([
    ['nothing', {}],
    ['an empty name', { name: '' }],
    ['no name', { name: null }],
    ['an unknown status', { status: 'suspended' }],
    ['money', { cardBalanceEuros: 5 }],
  ])('%s is 400', async (_, body) => {
    const owner = await world.owner();
    const agent = await anAgent(owner);
    expect(await statusOf(updating(owner, agent.id, body))).toBe(400);
    expect(await owner.client(agentsArea).getAgent({ params: { id: agent.id } })).toEqual(agent);
  });
});
