/** Agent tokens over real HTTP: shown once, scoped, expiring, revoked at once, and never of another owner's agent. @module */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { agentTokensArea } from '../../../src/domains/identity/agent-tokens/agent-token.contract.ts';
import { keysArea } from '../../../src/domains/identity/keys/key.contract.ts';
import { agentsArea } from '../../../src/domains/parties/agents/agent.contract.ts';
import { eventsSince, lastEvent } from '../../support/events.ts';
import { anAgent, aTokenOf } from '../../support/factories/parties.ts';
import { statusOf } from '../../support/refusals.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({ worker: true });
});
afterAll(() => world.close());

describe('creating', () => {
  // spec: does:Agent Tokens:scoped tokens for autonomous agent operation
  // spec: path:POST /agents/{id}/tokens
  // spec: token-use:Agent token:created with POST /agents/{id}/tokens
  test('shows the token once and keeps its hash only', async () => {
    const owner = await world.owner();
    const agent = await anAgent(owner);
    const before = await lastEvent(world, owner);
    const api = owner.client(agentTokensArea);
    const made = await api.createAgentToken({ params: { id: agent.id }, body: { label: 'runtime' } });
    expect(made).toEqual({
      id: expect.stringMatching(/^tok_[a-z0-9]{26}$/),
      token: expect.stringMatching(/^at_test_[0-9A-Za-z]{32}$/),
      agentId: agent.id,
      label: 'runtime',
      scopes: ['*'],
      expiresAt: null,
      hint: `at_test_…${made.token.slice(-4)}`,
    });
    expect(await eventsSince(world, owner, before)).toEqual(['agent_token.created']);
    for (const table of ['agent_tokens', 'events', 'audit', 'idempotency']) {
      expect(await world.sql(`select 1 from ${table} t where t::text like $1`, [`%${made.token.slice(8)}%`])).toEqual(
        [],
      );
    }
    const [listed] = await api.listAgentTokens({ params: { id: agent.id } });
    expect(listed).toEqual({
      id: made.id,
      agentId: agent.id,
      label: 'runtime',
      scopes: ['*'],
      expiresAt: null,
      hint: made.hint,
      createdAt: expect.any(String),
      lastUsedAt: null,
      revokedAt: null,
    });
  });

  test.each([
    [
      'an unknown scope',
      { scopes: ['intents.read', 'intents.delete'] },
      /scopes\.1: must be one of \*, agents\.read, /,
    ],
    ['no scope', { scopes: [] }, /scopes/],
    ['no days', { expiresInDays: 0 }, /expiresInDays/],
    ['half a day', { expiresInDays: 0.5 }, /expiresInDays/],
    ['eleven years', { expiresInDays: 4_000 }, /expiresInDays/],
    ['an unknown field', { expiresAt: '2030-01-01' }, /expiresAt/],
  ])('%s is 400 and makes nothing', async (_, body, message) => {
    const owner = await world.owner();
    const agent = await anAgent(owner);
    await expect(
      owner.client(agentTokensArea).createAgentToken({ params: { id: agent.id }, body: body as object }),
    ).rejects.toMatchObject({ status: 400, message: expect.stringMatching(message) });
    expect(await world.sql('select 1 from agent_tokens where agent_id = $1', [agent.id])).toEqual([]);
  });

  test('for another owner’s agent, or none, is 404', async () => {
    const [one, other] = [await world.owner(), await world.owner()];
    const agent = await anAgent(other);
    for (const id of [agent.id, 'ag_unknown0']) {
      const params = { id };
      expect(await statusOf(one.client(agentTokensArea).createAgentToken({ params, body: {} }))).toBe(404);
      expect(await statusOf(one.client(agentTokensArea).listAgentTokens({ params }))).toBe(404);
    }
  });

  test('a repeat shows the same token; after a lost answer the same record with a fresh one', async () => {
    const owner = await world.owner();
    const agent = await anAgent(owner);
    const create = () =>
      owner
        .client(agentTokensArea)
        .createAgentToken({ params: { id: agent.id }, body: {}, headers: { 'Idempotency-Key': 't-1' } });
    const once = await create();
    expect(await create()).toEqual(once);
    await world.sql('update idempotency set status = null, body = null, reveal_until = null where owner_id = $1', [
      owner.ownerId,
    ]);
    const again = await create();
    expect(again.id).toBe(once.id);
    expect(again.token).not.toBe(once.token);
    expect(await statusOf(world.as(once.token).client(agentsArea).listAgents())).toBe(401);
    expect(await statusOf(world.as(again.token).client(agentsArea).listAgents())).toBe(200);
    expect(await owner.client(agentTokensArea).listAgentTokens({ params: { id: agent.id } })).toHaveLength(1);
  });
});

describe('using', () => {
  // spec: does:Agent Tokens:scoped tokens for autonomous agent operation
  // spec: token-use:Agent token:scoped to one agent, for autonomous operation
  test('a scope permits its operations, `*` the ordinary ones, and no token permits an owner’s operation', async () => {
    const owner = await world.owner();
    const agent = await anAgent(owner);
    const params = { id: agent.id };
    const wide = await aTokenOf(world, owner, agent.id);
    const narrow = await aTokenOf(world, owner, agent.id, { scopes: ['wallets.read'] });
    expect(await statusOf(wide.client(agentsArea).getAgent({ params }))).toBe(200);
    await expect(narrow.client(agentsArea).getAgent({ params })).rejects.toMatchObject({
      status: 403,
      message: expect.stringContaining('agents.read'),
    });
    expect(await statusOf(narrow.client(agentsArea).getAgentWallet({ params }))).toBe(200);
    const sibling = { id: (await anAgent(owner)).id };
    for (const token of [wide, narrow]) {
      expect(await statusOf(token.client(agentsArea).getAgentWallet({ params: sibling }))).toBe(403);
    }
    const tokens = wide.client(agentTokensArea);
    const asked = [
      tokens.createAgentToken({ params, body: {} }),
      tokens.listAgentTokens({ params }),
      tokens.listAllAgentTokens(),
      tokens.revokeAgentToken({ params: { id: agent.id, tokenId: wide.id } }),
      wide.client(keysArea).listKeys(),
      wide.client(keysArea).createKey({ body: {} }),
    ];
    for (const one of asked) expect(await statusOf(one)).toBe(403);
  });

  test('its last use is noted', async () => {
    const owner = await world.owner();
    const agent = await anAgent(owner);
    const token = await aTokenOf(world, owner, agent.id);
    await token.client(agentsArea).listAgents();
    const [listed] = await owner.client(agentTokensArea).listAgentTokens({ params: { id: agent.id } });
    expect(Date.now() - Date.parse(listed?.lastUsedAt ?? '')).toBeLessThan(60_000);
  });

  test('expiry is real time: the business clock does not bring it nearer, the hour of the expiry ends it', async () => {
    const owner = await world.owner();
    const agent = await anAgent(owner);
    const token = await aTokenOf(world, owner, agent.id, { expiresInDays: 1 });
    const left = Date.parse(token.expiresAt ?? '') - Date.now();
    expect(left).toBeGreaterThan(86_000_000);
    expect(left).toBeLessThanOrEqual(86_400_000);
    await world.advance(3 * 86_400_000);
    expect(await statusOf(token.client(agentsArea).listAgents())).toBe(200);
    await world.sql(`update agent_tokens set expires_at = now() + interval '300 milliseconds' where id = $1`, [
      token.id,
    ]);
    await new Promise((resolve) => setTimeout(resolve, 350));
    expect(await statusOf(token.client(agentsArea).listAgents())).toBe(401);
  });
});

describe('listing and revoking', () => {
  test('all tokens of the owner with the agents’ names, and of no other owner', async () => {
    const [owner, other] = [await world.owner(), await world.owner()];
    const [a, b] = [await anAgent(owner, { name: 'A' }), await anAgent(owner, { name: 'B' })];
    await aTokenOf(world, owner, a.id, { label: 'first' });
    await aTokenOf(world, owner, b.id, { label: 'second' });
    await aTokenOf(world, other, (await anAgent(other)).id);
    const listed = await owner.client(agentTokensArea).listAllAgentTokens();
    expect(listed.map(({ label, agentName }) => [label, agentName])).toEqual([
      ['second', 'B'],
      ['first', 'A'],
    ]);
  });

  test('a revoked token is refused with the next request; a repeat is 200 without an event', async () => {
    const owner = await world.owner();
    const agent = await anAgent(owner);
    const token = await aTokenOf(world, owner, agent.id);
    await token.client(agentsArea).listAgents();
    const before = await lastEvent(world, owner);
    const revoke = () =>
      owner.client(agentTokensArea).revokeAgentToken({ params: { id: agent.id, tokenId: token.id } });
    expect(await revoke()).toEqual({ id: token.id, revoked: true });
    expect(await statusOf(token.client(agentsArea).listAgents())).toBe(401);
    expect(await revoke()).toEqual({ id: token.id, revoked: true });
    expect(await eventsSince(world, owner, before)).toEqual(['agent_token.revoked']);
    const [listed] = await owner.client(agentTokensArea).listAgentTokens({ params: { id: agent.id } });
    expect(listed?.revokedAt).not.toBeNull();
  });

  test('an unknown token, a sibling agent’s and another owner’s are 404', async () => {
    const [owner, other] = [await world.owner(), await world.owner()];
    const [a, b, c] = [await anAgent(owner), await anAgent(owner), await anAgent(other)];
    const ofB = await aTokenOf(world, owner, b.id);
    const ofC = await aTokenOf(world, other, c.id);
    for (const params of [
      { id: a.id, tokenId: 'tok_unknown0' },
      { id: a.id, tokenId: ofB.id },
      { id: c.id, tokenId: ofC.id },
    ]) {
      expect(await statusOf(owner.client(agentTokensArea).revokeAgentToken({ params }))).toBe(404);
    }
    expect(await statusOf(ofB.client(agentsArea).listAgents())).toBe(200);
    expect(await statusOf(ofC.client(agentsArea).listAgents())).toBe(200);
  });
});
