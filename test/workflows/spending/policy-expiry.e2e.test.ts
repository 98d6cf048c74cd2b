/**
 * Goal: when an agent's policy expires, its cards freeze or close, or its owner is notified, once and together, also
 * during outages and concurrent changes. Method: real API, worker, sandbox and network; the clock is moved.
 * @module
 */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { policiesArea } from '../../../src/domains/spending/policies/policy.contract.ts';
import type { Id } from '../../../src/kernel/ids.ts';
import { hour, minute } from '../../../src/kernel/instant.ts';
import { startWorkerProcess } from '../../../src/main/worker-process.ts';
import { expirePolicy } from '../../../src/usecases/spending/expire-policy.ts';
import { clientsOf } from '../../support/factories/records.ts';
import { type OpenTemporal, openTemporal } from '../../support/operator-view.ts';
import { aPayer, inDatabase, networkOf } from '../../support/payments-world.ts';
import { businessNow, eventually, type Owner, startWorld, type World } from '../../support/world.ts';

let world: World;
let temporal: OpenTemporal;
let owner: Owner;
beforeAll(async () => {
  world = await startWorld({ worker: true });
  temporal = await openTemporal();
});
afterAll(async () => {
  await temporal.close();
  await world.close();
});
beforeEach(async () => {
  owner = await world.owner();
  await api().fund.fundWallet({ body: { amountEuros: 500 } });
});

const api = () => clientsOf(owner);
type Terms = NonNullable<Parameters<ReturnType<typeof api>['policies']['createPolicy']>[0]>['body'];

/** Made of a template, as an owner would. */
async function anAgent(terms: Partial<Terms> = {}) {
  const body = { name: 'for a while', expiresAfterMinutes: 60, requireIntent: false, ...terms };
  const { id: policyId } = await api().policies.createPolicy({ body });
  const agent = await api().agents.createAgent({ body: { policyId: policyId as Id<'policy'> } });
  return { agentId: agent.id as Id<'agent'>, cardId: agent.cardId as Id<'card'>, policyId: agent.policyId ?? '' };
}
type Agent = Awaited<ReturnType<typeof anAgent>>;

const anotherCard = async ({ agentId }: Agent, name: string) =>
  (await api().cards.issueAgentCard({ params: { agentId }, body: { usage: 'multi', purpose: 'another', name } }))
    .id as Id<'card'>;
const statesOf = async ({ agentId }: Agent) =>
  world.sql<{ name: string; status: string; frozen_by: string | null }>(
    'select name, status, frozen_by from cards where agent_id = $1 order by created_at, id',
    [agentId],
  );
const eventsOf = ({ agentId }: Agent, like: string) =>
  world.sql<{ name: string; subject_id: string; data: Record<string, unknown> }>(
    'select name, subject_id, data from events where agent_id = $1 and name like $2 order by seq',
    [agentId, like],
  );
const workflowRunOf = async ({ agentId }: Agent) =>
  (
    await world.sql<{ is_open: boolean; due_at: Date | null; started_epoch: string | null }>(
      'select is_open, due_at, started_epoch from workflow_runs where id = $1',
      [`agent-policy/${agentId}`],
    )
  )[0];
const expired = (agent: Agent, times = 1) =>
  eventually(
    () => eventsOf(agent, 'policy.expired'),
    (events) => events.length === times,
  );
const cardSays = ({ cardId }: Agent, words: string) =>
  eventually(
    () => temporal.viewOf(`card/${cardId}`),
    ({ details }) => details.startsWith(words),
  );
const charge = async ({ cardId }: { cardId: string }) => {
  const [card] = await world.sql<{ card_ref: string }>('select card_ref from cards where id = $1', [cardId]);
  const network = networkOf(world);
  return (await network.authorize({ cardRef: card?.card_ref ?? '' } as never)).body;
};
const params = ({ agentId }: Agent) => ({ agentId });

describe('the action', () => {
  test('freeze is the default: all cards freeze at once, with an event each, and the owner is notified once', async () => {
    const agent = await anAgent();
    const second = await anotherCard(agent, 'second');
    const { updatedAt, expiresAt } = await api().policies.getAgentPolicy({ params: params(agent) });
    expect(Date.parse(expiresAt ?? '') - Date.parse(updatedAt)).toBe(hour);
    expect(await charge(agent)).toMatchObject({ decision: 'approved' });
    await world.advance(hour);
    expect(await expired(agent)).toEqual([
      {
        name: 'policy.expired',
        subject_id: agent.policyId,
        data: expect.objectContaining({
          id: agent.policyId,
          agentId: agent.agentId,
          action: 'freeze',
          expiresAfterMinutes: 60,
          expiredAt: expiresAt,
          cards: 2,
        }),
      },
    ]);
    expect(await statesOf(agent)).toEqual([
      { name: 'default', status: 'frozen', frozen_by: 'policy' },
      { name: 'second', status: 'frozen', frozen_by: 'policy' },
    ]);
    const frozen = await eventsOf(agent, 'card.frozen');
    expect(frozen.map(({ subject_id }) => subject_id).sort()).toEqual([agent.cardId, second].sort());
    const audits = await world.sql('select distinct actor, action from audit where request_id like $1 order by 2', [
      `policy-expiry:${agent.policyId}:%`,
    ]);
    expect(audits).toEqual([
      { actor: 'policy', action: 'card.frozen' },
      { actor: 'policy', action: 'policy.expired' },
    ]);
    const written = await world.sql(
      'select count(*)::int as events, count(distinct xmin::text)::int as transactions from events where request_id like $1',
      [`policy-expiry:${agent.policyId}:%`],
    );
    expect(written).toEqual([{ events: 3, transactions: 1 }]);
    expect(await workflowRunOf(agent)).toMatchObject({ is_open: true, due_at: null });
  });

  test('close: all cards close for good; the owner then issues a new one', async () => {
    const agent = await anAgent({ expirationAction: 'close' });
    await anotherCard(agent, 'second');
    await api().cards.freezeCard({ params: { cardId: agent.cardId }, body: {} });
    await world.advance(hour);
    const [event] = await expired(agent);
    expect(event?.data).toMatchObject({ action: 'close', cards: 2 });
    expect((await statesOf(agent)).map(({ status }) => status)).toEqual(['closed', 'closed']);
    expect(await eventsOf(agent, 'card.closed')).toHaveLength(2);
    await api().policies.updateAgentPolicy({ params: params(agent), body: { expiresAfterMinutes: 60 } });
    const fresh = await anotherCard(agent, 'third');
    expect(await charge({ cardId: fresh })).toMatchObject({ decision: 'approved' });
  });

  test('notify: the owner is notified, the cards stay active, and no charge passes', async () => {
    const agent = await anAgent({ expirationAction: 'notify' });
    await world.advance(hour);
    const [event] = await expired(agent);
    expect(event?.data).toMatchObject({ action: 'notify', cards: 0 });
    expect(await statesOf(agent)).toMatchObject([{ status: 'active' }]);
    expect(await charge(agent)).toMatchObject({ decision: 'declined', rule: 'policy_expiry' });
    await api().policies.updateAgentPolicy({ params: params(agent), body: { expiresAfterMinutes: null } });
    expect(await charge(agent)).toMatchObject({ decision: 'approved' });
  });

  test('a closed card stays closed, and one that its owner froze stays its owner’s', async () => {
    const agent = await anAgent();
    const second = await anotherCard(agent, 'second');
    await api().cards.freezeCard({ params: { cardId: second }, body: {} });
    const third = await anotherCard(agent, 'third');
    await api().cards.closeCard({ params: { cardId: third }, body: {} });
    await world.advance(hour);
    await expired(agent);
    expect(await statesOf(agent)).toEqual([
      { name: 'default', status: 'frozen', frozen_by: 'policy' },
      { name: 'second', status: 'frozen', frozen_by: 'card' },
      { name: 'third', status: 'closed', frozen_by: null },
    ]);
  });

  test('the cards of a frozen agent stay frozen when it is unfrozen', async () => {
    const agent = await anAgent();
    await api().agents.freezeAgent({ params: { id: agent.agentId }, body: {} });
    const row = async () =>
      (await world.sql<{ version: number; updated_at: Date }>('select * from cards where id = $1', [agent.cardId]))[0];
    await cardSays(agent, 'Frozen with its agent; waiting for a change.');
    const before = await row(); // The processor has confirmed the state by now, which counts as an update too.
    await world.advance(hour);
    const [event] = await expired(agent);
    expect(event?.data).toMatchObject({ action: 'freeze', cards: 1 });
    const after = await row();
    expect(after?.version).toBe((before?.version ?? 0) + 1);
    expect(Number(after?.updated_at) - Number(before?.updated_at)).toBeGreaterThan(hour / 2);
    await cardSays(agent, 'Frozen by its policy; waiting for a change.');
    expect(await world.sql('select due_at from workflow_runs where id = $1', [`card/${agent.cardId}`])).toEqual([
      { due_at: null },
    ]);
    await api().agents.unfreezeAgent({ params: { id: agent.agentId } });
    expect(await statesOf(agent)).toEqual([{ name: 'default', status: 'frozen', frozen_by: 'policy' }]);
  });
});

describe('actions of the owner', () => {
  test('a card is unfrozen under a policy that expired, and its next charge declined by the rule', async () => {
    const agent = await anAgent();
    await world.advance(hour);
    await expired(agent);
    expect(await charge(agent)).toMatchObject({ decision: 'declined', rule: 'card_status' });
    const { status } = await api().cards.unfreezeCard({ params: { cardId: agent.cardId } });
    expect(status).toBe('active');
    expect(await charge(agent)).toMatchObject({ decision: 'declined', rule: 'policy_expiry' });
    await world.advance(hour);
    expect(await statesOf(agent)).toMatchObject([{ status: 'active' }]); // Acted upon once.
  });

  test('a change of the policy unfreezes no card; the owner unfreezes the cards, and the expiry starts again', async () => {
    const agent = await anAgent();
    await world.advance(hour);
    await expired(agent);
    await api().policies.updateAgentPolicy({ params: params(agent), body: { dailyLimitEuros: 100 } });
    expect(await statesOf(agent)).toMatchObject([{ status: 'frozen' }]);
    await api().cards.unfreezeCard({ params: { cardId: agent.cardId } });
    expect(await charge(agent)).toMatchObject({ decision: 'approved' });
    await world.advance(59 * minute);
    expect(await charge(agent)).toMatchObject({ decision: 'approved' });
    await world.advance(minute);
    await expired(agent, 2);
    expect(await statesOf(agent)).toMatchObject([{ status: 'frozen', frozen_by: 'policy' }]);
  });

  const changes: [string, (agent: Agent) => Promise<unknown>][] = [
    ['PATCH', (agent) => api().policies.updateAgentPolicy({ params: params(agent), body: { cooldownMinutes: 0 } })],
    [
      'PATCH by id',
      (agent) => api().policies.updatePolicy({ params: { id: agent.policyId as Id<'policy'> }, body: { name: 'B' } }),
    ],
    [
      'toggle',
      (agent) =>
        api().policies.toggleAgentPolicy({ params: params(agent), body: { field: 'requireIntent', value: false } }),
    ],
    [
      'apply',
      async (agent) => {
        const { id } = await api().policies.createPolicy({ body: { name: 'other', expiresAfterMinutes: 60 } });
        await api().policies.applyPolicy({ params: params(agent), body: { policyId: id as Id<'policy'> } });
      },
    ],
    [
      'PATCH of the agent',
      async ({ agentId }) => {
        const { id } = await api().policies.createPolicy({ body: { name: 'other', expiresAfterMinutes: 60 } });
        await api().agents.updateAgent({ params: { id: agentId }, body: { policyId: id as Id<'policy'> } });
      },
    ],
  ];
  test.each(changes)('%s restarts it', async (_how, change) => {
    const agent = await anAgent();
    await world.advance(59 * minute);
    await change(agent);
    const { expiresAt } = await api().policies.getAgentPolicy({ params: params(agent) });
    expect((await workflowRunOf(agent))?.due_at?.toISOString()).toBe(expiresAt);
    await world.advance(59 * minute);
    await temporal.started(`agent-policy/${agent.agentId}`);
    expect(await eventsOf(agent, 'policy.expired')).toEqual([]);
    await world.advance(minute);
    await expired(agent);
  });

  test('a policy without an expiry has no run; one taken away ends it; one given begins it', async () => {
    const agent = await anAgent({ expiresAfterMinutes: null });
    expect(await workflowRunOf(agent)).toBeUndefined();
    const set = (expiresAfterMinutes: number | null) =>
      api().policies.updateAgentPolicy({ params: params(agent), body: { expiresAfterMinutes } });
    const id = `agent-policy/${agent.agentId}`;
    const isRun = (status: string) =>
      eventually(
        () => temporal.viewOf(id),
        (view) => view.status === status,
      );
    for (let turn = 0; turn < 3; turn++) {
      await set(60);
      await temporal.started(id);
      await isRun('RUNNING');
      await set(null);
      await isRun('COMPLETED');
      expect((await temporal.viewOf(id)).details).toContain('Done: the policy never expires.');
    }
    // In quick turns too: what counts is how it is in the end.
    for (const minutes of [60, null, 60, null, 30]) await set(minutes);
    await isRun('RUNNING');
    await world.advance(30 * minute);
    await expired(agent);
  });

  test('closing the agent ends it, before and after it has acted', async () => {
    const [before, after] = [await anAgent({ expiresAfterMinutes: 600 }), await anAgent()];
    await world.advance(hour);
    await expired(after);
    for (const agent of [before, after]) {
      const id = `agent-policy/${agent.agentId}`;
      await temporal.started(id);
      await api().agents.closeAgent({ params: { id: agent.agentId } });
      const view = await eventually(
        () => temporal.viewOf(id),
        ({ status }) => status === 'COMPLETED',
      );
      expect(view.details).toContain('Done: the agent is closed.');
      expect(await workflowRunOf(agent)).toMatchObject({ is_open: false, due_at: null });
    }
    expect(await eventsOf(before, 'policy.expired')).toEqual([]);
  });

  test('the preset one_time closes the card a day after it was applied', async () => {
    const agent = await anAgent({ expiresAfterMinutes: null });
    await api().policies.applyPolicy({ params: params(agent), body: { presetId: 'one_time' } });
    await world.advance(24 * hour - minute);
    expect(await eventsOf(agent, 'policy.expired')).toEqual([]);
    await world.advance(minute);
    await expired(agent);
    expect(await statesOf(agent)).toMatchObject([{ status: 'closed' }]);
  });

  test('a template never expires, and an expiry of ten years is waited for', async () => {
    const template = await api().policies.createPolicy({ body: { name: 'T', expiresAfterMinutes: 1 } });
    expect(template.expiresAt).toBeNull();
    const agent = await anAgent({ expiresAfterMinutes: 5_256_000 });
    await temporal.started(`agent-policy/${agent.agentId}`);
    for (let tenths = 0; tenths < 9; tenths++) await world.advance(365 * 24 * hour);
    expect(await eventsOf(agent, 'policy.expired')).toEqual([]);
    await world.advance(365 * 24 * hour);
    await expired(agent);
    expect(
      await world.sql('select 1 from events where subject_id = $1 and name = $2', [template.id, 'policy.expired']),
    ).toEqual([]);
  });
});

describe('once, whatever happens', () => {
  test('a lost run is started again and acts', async () => {
    const agent = await anAgent();
    const id = `agent-policy/${agent.agentId}`;
    await temporal.started(id);
    await temporal.client.workflow.getHandle(id).terminate('lost');
    await world.advance(hour); // The wake of what is due begins a run where there is none.
    await expired(agent);
    expect(await statesOf(agent)).toMatchObject([{ status: 'frozen' }]);
  });

  test('many at once act once; a policy changed meanwhile is left alone', async () => {
    const agent = await anAgent();
    const at = new Date(Date.parse((await api().policies.getAgentPolicy({ params: params(agent) })).expiresAt ?? ''));
    await inDatabase(world, async (database) => {
      await expirePolicy({ database })(agent.agentId, new Date(at.getTime() - 1));
      expect(await eventsOf(agent, 'policy.expired')).toEqual([]);
      await Promise.all(Array.from({ length: 5 }, () => expirePolicy({ database })(agent.agentId, at)));
    });
    expect(await eventsOf(agent, 'policy.expired')).toHaveLength(1);
    expect(await eventsOf(agent, 'card.frozen')).toHaveLength(1);
  });

  test('an expiry while the agent is being created takes effect when the agent exists', async () => {
    const agent = await anAgent();
    await world.sql('update agents set is_provisioning = true where id = $1', [agent.agentId]);
    await world.advance(hour);
    const later = new Date((await businessNow(world)).getTime() + hour);
    await inDatabase(world, (database) => expirePolicy({ database })(agent.agentId, later));
    expect(await eventsOf(agent, 'policy.expired')).toEqual([]);
    await world.sql('update agents set is_provisioning = false where id = $1', [agent.agentId]);
    await world.advance(5 * minute);
    await expired(agent);
  });
});

test('with Temporal away at the expiry no charge passes, and the cards are frozen once it is back', async () => {
  const away = await startWorld({ env: { TEMPORAL_ADDRESS: '127.0.0.1:9' } });
  try {
    const payer = await aPayer(away);
    const policies = payer.owner.client(policiesArea);
    const body = { expiresAfterMinutes: 60 };
    await policies.updateAgentPolicy({ params: { agentId: payer.agentId }, body });
    const network = networkOf(away);
    expect((await network.authorize(payer)).body.decision).toBe('approved');
    expect(await away.advance(hour)).toBe(0);
    expect((await network.authorize(payer)).body).toMatchObject({ decision: 'declined', rule: 'policy_expiry' });
    const card = () => away.sql<{ status: string }>('select status from cards where id = $1', [payer.cardId]);
    expect(await card()).toEqual([{ status: 'active' }]);
    const worker = await startWorkerProcess(
      { ...away.config, TEMPORAL_ADDRESS: process.env.TEST_TEMPORAL ?? '' },
      process.env.TEST_BUNDLE,
    );
    await eventually(card, ([row]) => row?.status === 'frozen');
    await worker.stop();
  } finally {
    await away.close();
  }
});

test('policies with an expiry from before it was acted upon get their run by the migration', async () => {
  const agent = await anAgent();
  const without = await anAgent({ expiresAfterMinutes: null });
  const ofBoth = [agent, without].map(({ agentId }) => `agent-policy/${agentId}`);
  await temporal.started(ofBoth[0] ?? '');
  await temporal.client.workflow.getHandle(ofBoth[0] ?? '').terminate('as before the migration');
  await world.sql('delete from workflow_runs where id = any($1)', [ofBoth]);
  const migration = await readFile(
    new URL('../../../src/db/migrations/0330-policy-expiry.sql', import.meta.url),
    'utf8',
  );
  // A later migration renamed the table.
  const insert = migration.slice(migration.indexOf('insert into processes')).replace('processes', 'workflow_runs');
  await world.sql(`${insert.replace(/;\s*$/, '')} and agent_id = any($1)`, [[agent.agentId, without.agentId]]);
  const { expiresAt } = await api().policies.getAgentPolicy({ params: params(agent) });
  expect((await workflowRunOf(agent))?.due_at?.toISOString()).toBe(expiresAt);
  expect(await workflowRunOf(without)).toBeUndefined();
  await world.advance(hour);
  await expired(agent);
});
