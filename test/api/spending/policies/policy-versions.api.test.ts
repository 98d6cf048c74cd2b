/** The history of a policy over HTTP: every version whole, with who made it and what it changed. @module */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { agentsArea } from '../../../../src/domains/parties/agents/agent.contract.ts';
import { policiesArea } from '../../../../src/domains/spending/policies/policy.contract.ts';
import { type AgentWithCard, anAgentWithCard } from '../../../support/factories/agent-with-card.ts';
import { statusOf } from '../../../support/refusals.ts';
import { type Owner, startWorld, type World } from '../../../support/world.ts';

let world: World;
let owner: Owner;
let agent: AgentWithCard;
beforeAll(async () => {
  world = await startWorld();
  owner = await world.owner();
  agent = await anAgentWithCard(world, owner);
});
afterAll(() => world.close());

const policies = () => owner.client(policiesArea);

test('each change is a version of its own, whole, with who made it and the difference in words', async () => {
  const { id } = await policies().createPolicy({ body: { name: 'Food', dailyLimitEuros: 100 } });
  await policies().updatePolicy({
    params: { id },
    body: { dailyLimitEuros: 250, merchantAllowlist: ['example.com'] },
  });
  const { data } = await policies().listPolicyVersions({ params: { id }, query: {} });
  const [second, first] = data;
  expect(data.map(({ version }) => version)).toEqual([2, 1]);
  expect(first).toMatchObject({ policyId: id, agentId: null, changes: [], policy: { dailyLimitEuros: 100 } });
  expect(second).toMatchObject({
    policy: { name: 'Food', dailyLimitEuros: 250, merchantAllowlist: ['example.com'] },
    changes: [
      {
        field: 'dailyLimitEuros',
        before: 100,
        after: 250,
        inWords: 'the limit for a day was raised from 100.00 EUR to 250.00 EUR',
      },
      {
        field: 'merchantAllowlist',
        before: [],
        after: ['example.com'],
        inWords: 'allowed merchants: example.com added',
      },
    ],
  });
  const audited = await world.sql<{ actor: string; request_id: string }>(
    `select actor, request_id from audit where subject_id = $1 and action = 'policy.updated'`,
    [id],
  );
  expect([{ actor: second?.changedBy, request_id: second?.requestId }]).toEqual(audited);
  await policies().updatePolicy({ params: { id }, body: { dailyLimitEuros: 300, merchantAllowlist: [] } });
  const wordsOf = async (n: string, comparedWith: string) =>
    (await policies().getPolicyVersion({ params: { id, n }, query: { comparedWith } })).changes?.map(
      (one) => one.inWords,
    );
  expect(await wordsOf('3', '1')).toEqual(['the limit for a day was raised from 100.00 EUR to 300.00 EUR']);
  expect(await wordsOf('1', '3')).toEqual(['the limit for a day was lowered from 300.00 EUR to 100.00 EUR']);
  expect(await wordsOf('2', '2')).toEqual([]);
  const statusWith = (comparedWith: string) =>
    statusOf(policies().getPolicyVersion({ params: { id, n: '2' }, query: { comparedWith } }));
  expect(await Promise.all(['4', '0', 'latest'].map(statusWith))).toEqual([404, 400, 400]);
});

test('the policy shows its latest version', async () => {
  const { id } = await policies().createPolicy({ body: { name: 'Food', dailyLimitEuros: 100 } });
  await policies().updatePolicy({ params: { id }, body: { dailyLimitEuros: 250 } });
  const [second, first] = (await policies().listPolicyVersions({ params: { id }, query: {} })).data;
  const current = await policies().getPolicy({ params: { id } });
  expect(current).toMatchObject({ ...second?.policy, version: 2, updatedAt: second?.changedAt });
  expect(await policies().getPolicyVersion({ params: { id, n: '1' } })).toEqual(first);
  for (const n of ['3', '0', '01', 'latest', '9'.repeat(30)]) {
    expect([n, await statusOf(policies().getPolicyVersion({ params: { id, n } }))]).toEqual([n, 404]);
  }
});

test('page by page, latest first, and an agent reads the history of its own policy only', async () => {
  const { agentId } = agent;
  const { id } = await policies().getAgentPolicy({ params: { agentId } });
  await policies().applyPolicy({ params: { agentId }, body: { presetId: 'strict' } });
  await policies().toggleAgentPolicy({ params: { agentId }, body: { field: 'lockToFirstMerchant', value: true } });
  const own = world.as(agent.token).client(policiesArea);
  const numbers: number[] = [];
  let cursor: string | undefined;
  do {
    const page = await own.listPolicyVersions({ params: { id }, query: { limit: 1, ...(cursor && { cursor }) } });
    numbers.push(...page.data.map(({ version }) => version));
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  // The factory's own version was made past the service, like one that is older than the history.
  expect(numbers).toEqual([3, 2]);
  expect((await own.getPolicyVersion({ params: { id, n: '2' } })).changes).toBeNull();
  expect((await own.getPolicyVersion({ params: { id, n: '3' } })).changes?.map(({ inWords }) => inWords)).toEqual([
    'locked to the first merchant from now on',
  ]);
  const other = await anAgentWithCard(world, owner);
  const others = world.as(other.token).client(policiesArea);
  expect(await statusOf(others.listPolicyVersions({ params: { id }, query: {} }))).toBe(403);
  expect(await statusOf(others.getPolicyVersion({ params: { id, n: '2' } }))).toBe(403);
  const stranger = (await world.owner()).client(policiesArea);
  expect(await statusOf(stranger.getPolicyVersion({ params: { id, n: '2' } }))).toBe(404);
});

test('a version never changes, and a closed agent keeps none that can be altered', async () => {
  const { agentId } = agent;
  await owner.client(agentsArea).closeAgent({ params: { id: agentId } });
  const [kept] = await world.sql<{ count: number }>(
    'select count(*)::int as count from policy_versions where agent_id = $1',
    [agentId],
  );
  expect(kept?.count).toBe(2);
  await expect(world.sql('update policy_versions set version = 9 where agent_id = $1', [agentId])).rejects.toThrow();
  await expect(world.sql('delete from policy_versions where agent_id = $1', [agentId])).rejects.toThrow();
});
