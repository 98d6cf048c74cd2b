/** The policy operations over real HTTP and PostgreSQL: what they store, fire and refuse, and for whom. @module */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createClient, sendTo } from '../../../../src/client/client.ts';
import { agentsArea } from '../../../../src/domains/parties/agents/agent.contract.ts';
import { intentsArea } from '../../../../src/domains/spending/intents/intent.contract.ts';
import { policiesArea } from '../../../../src/domains/spending/policies/policy.contract.ts';
import { eventNamesOf, eventsOf } from '../../../support/events.ts';
import { type AgentWithCard, anAgentWithCard } from '../../../support/factories/agent-with-card.ts';
import { refusal } from '../../../support/refusals.ts';
import { type Owner, startWorld, type World } from '../../../support/world.ts';

let world: World;
let owner: Owner;
let agent: AgentWithCard;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(async () => {
  await world.close();
});
beforeEach(async () => {
  owner = await world.owner();
  agent = await anAgentWithCard(world, owner);
});

const policies = () => owner.client(policiesArea);
const asAgent = () => world.as(agent.token).client(policiesArea);

describe('templates', () => {
  // spec: path:POST /policies
  // spec: status:POST /policies:201 Policy record
  test('only the name is required; the record contains every rule with its default', async () => {
    const policy = await policies().createPolicy({ body: { name: 'Groceries' } });
    expect(policy).toMatchObject({
      name: 'Groceries',
      agentId: null,
      ownerId: owner.ownerId,
      requireIntent: true,
      maxTransactionEuros: null,
      merchantAllowlist: [],
      expirationAction: 'freeze',
      payeeMismatch: 'ask',
      version: 1,
    });
    expect(await policies().getPolicy({ params: { id: policy.id } })).toEqual(policy);
    const { name: _name, merchantAllowlist: _allowed, merchantBlocklist: _blocked, ...data } = policy;
    expect(await eventsOf(world, policy.id)).toEqual([{ name: 'policy.created', agent_id: null, data }]);
  });

  test('every field is stored as it was sent', async () => {
    const body = {
      name: 'All',
      maxTransactionEuros: 10.5,
      dailyLimitEuros: 20,
      monthlyLimitEuros: 30.01,
      autoApproveLimitEuros: 0,
      merchantAllowlist: ['example.com', 'Café "X", {y}'],
      merchantBlocklist: ['Sandbox Casino'],
      mccCategories: ['groceries'],
      allowedCountries: ['DE', 'FR'],
      lockToFirstMerchant: true,
      cooldownMinutes: 5,
      allowedMccs: ['5734'],
      blockedMccs: ['7995'],
      requireIntent: false,
      requireAttestation: true,
      attestationWindowMinutes: 10,
      expiresAfterMinutes: 60,
      expirationAction: 'close' as const,
      activeHoursStart: 22,
      activeHoursEnd: 6,
      maxUsageCount: 3,
      amountTolerancePercent: 2.5,
      payeeMismatch: 'refuse' as const,
    };
    const { id } = await policies().createPolicy({ body });
    expect(await policies().getPolicy({ params: { id } })).toMatchObject(body);
  });

  test('a change keeps the rest, counts the version up and touches no agent', async () => {
    const { id } = await policies().createPolicy({ body: { name: 'A', dailyLimitEuros: 5, cooldownMinutes: 3 } });
    const changed = await policies().updatePolicy({
      params: { id },
      body: { dailyLimitEuros: null, merchantBlocklist: ['x'] },
    });
    expect(changed).toMatchObject({
      name: 'A',
      dailyLimitEuros: null,
      cooldownMinutes: 3,
      merchantBlocklist: ['x'],
      version: 2,
    });
    expect(await eventNamesOf(world, id)).toEqual(['policy.created', 'policy.updated']);
    expect((await policies().getAgentPolicy({ params: { agentId: agent.agentId } })).version).toBe(1);
  });

  test('a change that names no field is refused: no version, no event, no fresh expiry', async () => {
    const { id } = await policies().createPolicy({ body: { name: 'A', expiresAfterMinutes: 5 } });
    const before = [await policies().getPolicy({ params: { id } }), await eventsOf(world, id)];
    const nothing = refusal(400, /give at least one field to change/);
    await expect(policies().updatePolicy({ params: { id }, body: {} })).rejects.toEqual(nothing);
    const params = { agentId: agent.agentId };
    await expect(policies().updateAgentPolicy({ params, body: {} })).rejects.toEqual(nothing);
    expect([await policies().getPolicy({ params: { id } }), await eventsOf(world, id)]).toEqual(before);
    expect(await policies().getAgentPolicy({ params })).toMatchObject({ version: 1 });
  });

  test('a deleted policy is 404, also for a second deletion', async () => {
    const { id } = await policies().createPolicy({ body: { name: 'A' } });
    expect(await policies().deletePolicy({ params: { id } })).toEqual({ id, deleted: true });
    await expect(policies().deletePolicy({ params: { id } })).rejects.toEqual(refusal(404));
    await expect(policies().getPolicy({ params: { id } })).rejects.toEqual(refusal(404));
    await expect(policies().updatePolicy({ params: { id }, body: { name: 'B' } })).rejects.toEqual(refusal(404));
    expect((await policies().listPolicies({ query: { kind: 'template' } })).data).toEqual([]);
    expect((await eventsOf(world, id)).at(-1)?.name).toBe('policy.deleted');
  });

  test('pages show newest first and can be confined to a kind', async () => {
    const names = ['A', 'B', 'C'];
    for (const name of names) await policies().createPolicy({ body: { name } });
    const first = await policies().listPolicies({ query: { kind: 'template', limit: 2 } });
    expect(first.data.map(({ name }) => name)).toEqual(['C', 'B']);
    const rest = await policies().listPolicies({
      query: { kind: 'template', limit: 2, cursor: first.nextCursor ?? '' },
    });
    expect(rest).toMatchObject({ data: [{ name: 'A' }], hasMore: false, nextCursor: null });
    expect((await policies().listPolicies({ query: { kind: 'agent' } })).data.map(({ id }) => id)).toEqual([
      agent.policyId,
    ]);
    expect((await policies().listPolicies()).data).toHaveLength(4);
  });

  test('the same Idempotency-Key makes one policy', async () => {
    const headers = { 'Idempotency-Key': 'once' };
    const [one, two] = [
      await policies().createPolicy({ body: { name: 'A' }, headers }),
      await policies().createPolicy({ body: { name: 'A' }, headers }),
    ];
    expect(two).toEqual(one);
    expect(await eventsOf(world, one.id)).toHaveLength(1);
  });

  // spec: status:POST /policies:400 validation error or invalid state
  test.each<[string, unknown, RegExp]>([
    ['no name', {}, /body\.name/],
    ['an empty name', { name: ' ' }, /body\.name/],
    ['an unknown field', { name: 'A', weeklyLimitEuros: 1 }, /weeklyLimitEuros/],
    ['a negative limit', { name: 'A', dailyLimitEuros: -1 }, /dailyLimitEuros.*not negative/],
    ['three decimals', { name: 'A', dailyLimitEuros: 1.005 }, /dailyLimitEuros.*two decimals/],
    ['text for a number', { name: 'A', dailyLimitEuros: '5' }, /dailyLimitEuros/],
    ['hour 24', { name: 'A', activeHoursStart: 24 }, /activeHoursStart/],
    ['half an hour', { name: 'A', activeHoursEnd: 1.5 }, /activeHoursEnd/],
    ['an unknown action', { name: 'A', expirationAction: 'explode' }, /expirationAction/],
    ['a code of three digits', { name: 'A', allowedMccs: ['573'] }, /four digits/],
    ['a country of three letters', { name: 'A', allowedCountries: ['DEU'] }, /two letters/],
    ['a usage count of none', { name: 'A', maxUsageCount: 0 }, /maxUsageCount/],
    ['a negative tolerance', { name: 'A', amountTolerancePercent: -1 }, /amountTolerancePercent/],
    ['a list of numbers', { name: 'A', merchantAllowlist: [5] }, /merchantAllowlist/],
  ])('%s is refused with a sentence, and nothing is stored', async (_what, body, message) => {
    const answer = await owner.send({
      method: 'POST',
      path: '/policies',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(400);
    expect(((await answer.json()) as { error: string }).error).toMatch(message);
    expect((await policies().listPolicies({ query: { kind: 'template' } })).data).toEqual([]);
  });
});

describe("an agent's policy", () => {
  test('is changed by its owner, and its version rises', async () => {
    const params = { agentId: agent.agentId };
    expect(await policies().updateAgentPolicy({ params, body: { maxTransactionEuros: 7 } })).toMatchObject({
      id: agent.policyId,
      agentId: agent.agentId,
      maxTransactionEuros: 7,
      dailyLimitEuros: 100,
      version: 2,
    });
    expect(await eventsOf(world, agent.policyId)).toMatchObject([{ name: 'policy.updated', agent_id: agent.agentId }]);
    expect(await policies().getAgentPolicy({ params })).toMatchObject({ maxTransactionEuros: 7 });
    expect(await asAgent().getAgentPolicy({ params })).toMatchObject({ maxTransactionEuros: 7 });
    expect(await asAgent().getPolicy({ params: { id: agent.policyId } })).toMatchObject({ version: 2 });
  });

  test('concurrent changes are all kept', async () => {
    const params = { agentId: agent.agentId };
    await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        policies().updateAgentPolicy({ params, body: i % 2 ? { cooldownMinutes: 9 } : { maxUsageCount: 4 } }),
      ),
    );
    expect(await policies().getAgentPolicy({ params })).toMatchObject({
      version: 9,
      cooldownMinutes: 9,
      maxUsageCount: 4,
      dailyLimitEuros: 100,
    });
  });

  test('the dashboard changes it in the name of its owner', async () => {
    const dashboard = createClient(policiesArea, sendTo(world.apiUrl));
    const change = (secret: string, ownerId: string) =>
      dashboard.updateAgentPolicy({
        params: { agentId: agent.agentId },
        body: { cooldownMinutes: 1 },
        headers: { 'X-Dashboard-Secret': secret, 'X-Owner-Id': ownerId },
      });
    expect(await change(world.dashboardSecret, owner.ownerId)).toMatchObject({ cooldownMinutes: 1 });
    const other = await world.owner();
    await expect(change(world.dashboardSecret, other.ownerId)).rejects.toEqual(refusal(404));
    await expect(change('wrong', owner.ownerId)).rejects.toEqual(refusal(401));
    const audits = await world.sql('select actor from audit where subject_id = $1', [agent.policyId]);
    expect(audits).toEqual([{ actor: 'dashboard' }]);
  });

  test('a preset or a template overwrites all of it; both or none is 400', async () => {
    const params = { agentId: agent.agentId };
    expect(await policies().applyPolicy({ params, body: { presetId: 'one_time' } })).toMatchObject({
      name: 'One time',
      maxTransactionEuros: 250,
      autoApproveLimitEuros: 100,
      maxUsageCount: 1,
      expirationAction: 'close',
      agentId: agent.agentId,
      version: 2,
    });
    const template = await policies().createPolicy({ body: { name: 'Mine', merchantAllowlist: ['example.com'] } });
    expect(await policies().applyPolicy({ params, body: { policyId: template.id as `po_${string}` } })).toMatchObject({
      id: agent.policyId,
      name: 'Mine',
      merchantAllowlist: ['example.com'],
      maxUsageCount: null,
      version: 3,
    });
    await expect(policies().applyPolicy({ params, body: {} })).rejects.toEqual(refusal(400, /exactly one/));
    await expect(
      policies().applyPolicy({ params, body: { presetId: 'open', policyId: 'po_aaaaaaaa' } }),
    ).rejects.toEqual(refusal(400, /exactly one/));
    await expect(policies().applyPolicy({ params, body: { policyId: 'po_aaaaaaaa' } })).rejects.toEqual(
      refusal(400, /no policy po_aaaaaaaa/),
    );
    const stranger = await world.owner();
    const theirs = await stranger.client(policiesArea).createPolicy({ body: { name: 'Theirs' } });
    await expect(policies().applyPolicy({ params, body: { policyId: theirs.id as `po_${string}` } })).rejects.toEqual(
      refusal(400),
    );
  });

  // spec: path:PATCH /policies/agent/{agentId}/toggle
  // spec: toggle:one field
  test('one rule is switched by name; any other name is 400', async () => {
    const params = { agentId: agent.agentId };
    for (const field of ['lockToFirstMerchant', 'requireIntent', 'requireAttestation'] as const) {
      expect(await policies().toggleAgentPolicy({ params, body: { field, value: true } })).toMatchObject({
        [field]: true,
      });
      expect(await policies().toggleAgentPolicy({ params, body: { field, value: false } })).toMatchObject({
        [field]: false,
      });
    }
    for (const body of [
      { field: 'name', value: true },
      { field: 'requireIntent', value: 'yes' },
      { field: 'requireIntent' },
    ]) {
      const answer = await owner.send({
        method: 'PATCH',
        path: `/policies/agent/${agent.agentId}/toggle`,
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
      expect(answer.status).toBe(400);
    }
  });

  test('cannot be deleted while its agent is there', async () => {
    await expect(policies().deletePolicy({ params: { id: agent.policyId } })).rejects.toEqual(
      refusal(400, /close the agent/),
    );
  });

  test('ends with its agent: every read and change is 404', async () => {
    await world.sql('update wallets set is_default = true where id = $1', [agent.walletId]);
    await owner.client(agentsArea).closeAgent({ params: { id: agent.agentId } });
    const params = { agentId: agent.agentId };
    for (const call of [
      () => policies().getAgentPolicy({ params }),
      () => policies().getPolicy({ params: { id: agent.policyId } }),
      () => policies().updateAgentPolicy({ params, body: { name: 'B' } }),
      () => policies().updatePolicy({ params: { id: agent.policyId }, body: { name: 'B' } }),
      () => policies().applyPolicy({ params, body: { presetId: 'open' } }),
      () => policies().toggleAgentPolicy({ params, body: { field: 'requireIntent', value: false } }),
      () => policies().deletePolicy({ params: { id: agent.policyId } }),
    ])
      await expect(call()).rejects.toEqual(refusal(404));
    expect((await policies().listPolicies({ query: { kind: 'agent' } })).data).toEqual([]);
    const simulated = await policies().simulatePolicy({ body: { agentId: agent.agentId, amount: 1 } });
    expect(simulated).toMatchObject({ allowed: false, rule: 'agent_status' });
  });

  test('of one agent may be given to another, and each its own again', async () => {
    const sister = await anAgentWithCard(world, owner);
    const params = { agentId: agent.agentId };
    await policies().updateAgentPolicy({ params: { agentId: sister.agentId }, body: { cooldownMinutes: 7 } });
    const given = await policies().applyPolicy({ params, body: { policyId: sister.policyId } });
    expect(given).toMatchObject({ id: agent.policyId, agentId: agent.agentId, cooldownMinutes: 7, version: 2 });
    // Applying its own rules changes none of them, and counts as a change.
    const again = await policies().applyPolicy({ params, body: { policyId: agent.policyId } });
    expect(again).toMatchObject({ cooldownMinutes: 7, version: 3 });
  });

  test.each<[string, string, string, unknown]>([
    ['an unknown preset', 'POST', '/apply', { presetId: 'lavish' }],
    ['a field of toggle that is a number', 'PATCH', '/toggle', { field: 'cooldownMinutes', value: true }],
    ['a toggle of an unknown field', 'PATCH', '/toggle', { field: 'weeklyLimit', value: true }],
    ['a toggle without a field', 'PATCH', '/toggle', { value: true }],
    ['a toggle with a field too many', 'PATCH', '/toggle', { field: 'requireIntent', value: true, name: 'x' }],
    ['an unknown field', 'PATCH', '', { weeklyLimitEuros: 1 }],
    ['an agent', 'PATCH', '', { agentId: 'ag_aaaaaaaa' }],
    ['no name', 'PATCH', '', { name: null }],
    ['an expiry of no time', 'PATCH', '', { expiresAfterMinutes: 0 }],
    ['an attestation window of no time', 'PATCH', '', { attestationWindowMinutes: 0 }],
    ['a negative gap', 'PATCH', '', { cooldownMinutes: -1 }],
  ])('%s is refused, and nothing is changed', async (_what, method, path, body) => {
    const answer = await owner.send({
      method,
      path: `/policies/agent/${agent.agentId}${path}`,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(400);
    expect(await policies().getAgentPolicy({ params: { agentId: agent.agentId } })).toMatchObject({ version: 1 });
    expect(await eventsOf(world, agent.policyId)).toEqual([]);
  });

  test('is as absent as an agent that is still being issued', async () => {
    const unborn = await anAgentWithCard(world, owner, { isProvisioning: true });
    const params = { agentId: unborn.agentId };
    await expect(policies().getAgentPolicy({ params })).rejects.toEqual(refusal(404));
    await expect(policies().getPolicy({ params: { id: unborn.policyId } })).rejects.toEqual(refusal(404));
    await expect(policies().updateAgentPolicy({ params, body: { name: 'A' } })).rejects.toEqual(refusal(404));
    await expect(policies().simulatePolicy({ body: { agentId: unborn.agentId, amount: 1 } })).rejects.toEqual(
      refusal(404),
    );
    expect((await policies().listPolicies({ query: { kind: 'agent' } })).data.map(({ id }) => id)).toEqual([
      agent.policyId,
    ]);
  });
});

describe('presets', () => {
  // spec: path:GET /policies/presets/{presetId}
  // spec: does:GET /policies/presets/{presetId}:one built-in policy preset
  // spec: parameter:GET /policies/presets/{presetId}:presetId
  test('are five, with the published figures', async () => {
    const presets = await asAgent().listPolicyPresets();
    expect(presets.map(({ id }) => id)).toEqual(['strict', 'balanced', 'open', 'subscriptions', 'one_time']);
    const figures = presets.map(({ policy: p }) => [
      p.maxTransactionEuros,
      p.dailyLimitEuros,
      p.monthlyLimitEuros,
      p.autoApproveLimitEuros,
    ]);
    expect(figures).toEqual([
      [25, 50, 300, 10],
      [100, 250, 1500, 50],
      [1000, 2500, 10_000, 500],
      [100, 200, 500, 100],
      [250, 250, 250, 100],
    ]);
    expect(await policies().getPolicyPreset({ params: { presetId: 'strict' } })).toEqual(presets[0]);
    expect(presets[0]?.policy).toMatchObject({ requireAttestation: true, requireIntent: true });
    await expect(policies().getPolicyPreset({ params: { presetId: 'lavish' } })).rejects.toEqual(
      refusal(404, /there are strict, balanced/),
    );
  });

  test('a preset sent back is a template', async () => {
    const { policy } = await policies().getPolicyPreset({ params: { presetId: 'subscriptions' } });
    expect(await policies().createPolicy({ body: policy })).toMatchObject(policy);
  });
});

describe('simulate', () => {
  const ask = (body: Record<string, unknown>) =>
    asAgent().simulatePolicy({ body: { agentId: agent.agentId, amount: 1, ...body } });
  const change = (body: Parameters<ReturnType<typeof policies>['updateAgentPolicy']>[0]) =>
    policies().updateAgentPolicy({ params: { agentId: agent.agentId }, ...body });

  test('returns the decision of the rules, with figures in euros, and stores nothing', async () => {
    const before = await world.sql('select count(*) from events');
    expect(await ask({ amount: 100 })).toMatchObject({
      allowed: true,
      requiresApproval: false,
      reason: null,
      rule: 'within_rules',
    });
    const refused = await ask({ amount: 100.01 });
    expect(refused).toMatchObject({
      allowed: false,
      requiresApproval: false,
      rule: 'daily_limit',
      reason: 'daily limit 100.00, spent 0.00, asked 100.01',
    });
    expect(refused.trace.at(-1)).toEqual({
      rule: 'daily_limit',
      outcome: 'deny',
      figures: { limitEuros: 100, spentEuros: 0, askedEuros: 100.01 },
    });
    expect(await world.sql('select count(*) from events')).toEqual(before);
  });

  test('evaluates approval, merchants, categories and countries', async () => {
    await change({
      body: {
        autoApproveLimitEuros: 5,
        merchantBlocklist: ['Sandbox Casino'],
        allowedMccs: ['5734'],
        allowedCountries: ['de'],
      },
    });
    expect(await ask({ amount: 6 })).toMatchObject({
      allowed: true,
      requiresApproval: true,
      rule: 'auto_approve_limit',
    });
    expect(await ask({ merchant: 'SANDBOX*CASINO' })).toMatchObject({ allowed: false, rule: 'merchant_blocklist' });
    expect(await ask({ mcc: '7995' })).toMatchObject({ allowed: false, rule: 'mcc_allowlist' });
    expect(await ask({ country: 'FR' })).toMatchObject({ allowed: false, rule: 'country' });
    expect(await ask({ merchant: 'Sandbox Shop', mcc: '5734', country: 'DE' })).toMatchObject({ allowed: true });
  });

  test('a frozen agent, and one without a policy, may spend nothing', async () => {
    await world.sql(`update agents set status = 'frozen' where id = $1`, [agent.agentId]);
    expect(await ask({})).toMatchObject({ allowed: false, rule: 'agent_status', reason: 'the agent is frozen' });
    await world.sql(`update agents set status = 'active' where id = $1`, [agent.agentId]);
    await world.sql('update policies set removed_at = now() where agent_id = $1', [agent.agentId]);
    expect(await ask({})).toMatchObject({ allowed: false, rule: 'no_policy' });
  });

  test('answers like a declaration: for the card, and with the card’s past payments', async () => {
    await change({ body: { maxUsageCount: 1 } });
    await world.sql('update cards set max_transaction_cents = 500, created_at = $2 where id = $1', [
      agent.cardId,
      new Date(0),
    ]);
    const declared = async (expectedAmountEuros: number) => {
      const body = { agentId: agent.agentId, purpose: 'a thing', expectedAmountEuros };
      return (await owner.client(intentsArea).declareIntent({ body })).policyCheck;
    };
    const { rule, trace: _, ...check } = await ask({ amount: 6 });
    expect(rule).toBe('card_max_transaction');
    expect(await declared(6)).toEqual(check);

    // A payment with another card of the agent uses up nothing of this one.
    await world.sql(
      `insert into spending_days (agent_id, card_id, day, spent_cents, payments) values ($1, 'ca_other', '2026-01-01', 100, 1)`,
      [agent.agentId],
    );
    expect(await ask({ amount: 5 })).toMatchObject({ allowed: true, rule: 'within_rules' });
    expect(await declared(5)).toMatchObject({ allowed: true });
    await world.sql('update spending_days set card_id = $2 where agent_id = $1', [agent.agentId, agent.cardId]);
    expect(await ask({ amount: 5 })).toMatchObject({ allowed: false, rule: 'usage_count' });
    expect(await declared(5)).toMatchObject({ allowed: false });
  });

  test('an agent whose cards are all closed may spend nothing', async () => {
    await world.sql(`update cards set status = 'closed', closed_at = $2 where id = $1`, [agent.cardId, new Date()]);
    expect(await ask({})).toMatchObject({ allowed: false, rule: 'card_status', reason: 'the card is closed' });
  });

  test('an expired policy is refused at use, by business time', async () => {
    await change({ body: { expiresAfterMinutes: 60, expirationAction: 'notify' } });
    expect(await ask({})).toMatchObject({ allowed: true });
    await world.advance(60 * 60_000);
    expect(await ask({})).toMatchObject({ allowed: false, rule: 'policy_expiry' });
    await change({ body: { expiresAfterMinutes: 60 } });
    expect(await ask({})).toMatchObject({ allowed: true });
  });
});

describe('access', () => {
  test('another owner gets 404', async () => {
    const stranger = (await world.owner()).client(policiesArea);
    const params = { agentId: agent.agentId };
    for (const call of [
      () => stranger.getPolicy({ params: { id: agent.policyId } }),
      () => stranger.updatePolicy({ params: { id: agent.policyId }, body: { name: 'B' } }),
      () => stranger.deletePolicy({ params: { id: agent.policyId } }),
      () => stranger.getAgentPolicy({ params }),
      () => stranger.updateAgentPolicy({ params, body: { name: 'B' } }),
      () => stranger.applyPolicy({ params, body: { presetId: 'open' } }),
      () => stranger.toggleAgentPolicy({ params, body: { field: 'requireIntent', value: false } }),
      () => stranger.simulatePolicy({ body: { agentId: agent.agentId, amount: 1 } }),
    ])
      await expect(call()).rejects.toEqual(refusal(404));
    expect((await stranger.listPolicies()).data).toEqual([]);
    expect(await eventsOf(world, agent.policyId)).toEqual([]);
  });

  test('an agent reads its own policy, no other, and changes none', async () => {
    const sister = await anAgentWithCard(world, owner);
    const own = asAgent();
    const params = { agentId: agent.agentId };
    for (const call of [
      () => own.getAgentPolicy({ params: { agentId: sister.agentId } }),
      () => own.getPolicy({ params: { id: sister.policyId } }),
      () => own.simulatePolicy({ body: { agentId: sister.agentId, amount: 1 } }),
      () => own.createPolicy({ body: { name: 'B' } }),
      () => own.listPolicies(),
      () => own.updatePolicy({ params: { id: agent.policyId }, body: { name: 'B' } }),
      () => own.updateAgentPolicy({ params, body: { name: 'B' } }),
      () => own.applyPolicy({ params, body: { presetId: 'open' } }),
      () => own.toggleAgentPolicy({ params, body: { field: 'requireIntent', value: false } }),
      () => own.deletePolicy({ params: { id: agent.policyId } }),
    ])
      await expect(call()).rejects.toEqual(refusal(403));
    expect(await eventsOf(world, agent.policyId)).toEqual([]);
  });

  // spec: status:POST /policies:401 missing or invalid authentication
  test('a call without a token is 401', async () => {
    const nobody = createClient(policiesArea, sendTo(world.apiUrl));
    await expect(nobody.createPolicy({ body: { name: 'A' } })).rejects.toEqual(refusal(401));
    await expect(nobody.listPolicyPresets()).rejects.toEqual(refusal(401));
  });
});
