/**
 * Goal: an owner decides which merchants of machine payments its agents may pay, and no one else changes that. Method:
 * real HTTP and rows, and the decision on the rules as a payment reads them.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { protectRulesArea } from '../../../src/domains/spending/protect-rules/protect-rule.contract.ts';
import { protectRulesFor } from '../../../src/domains/spending/protect-rules/protect-rule.queries.ts';
import { protectDecision } from '../../../src/domains/spending/protect-rules/protect-rule.rules.ts';
import { eventsOf } from '../../support/events.ts';
import { aPayer, inDatabase, type Payer } from '../../support/payments-world.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
let payer: Payer;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(async () => {
  await world.close();
});
beforeEach(async () => {
  payer = await aPayer(world);
});

const api = (of = payer) => of.owner.client(protectRulesArea);
const asAgent = (of = payer) => world.as(of.token).client(protectRulesArea);
const merchantsIn = async (client: ReturnType<typeof api>) =>
  (await client.listProtectRules({})).data.map(({ merchant }) => merchant);
const decide = (of: Payer, host: string, merchantId: string | null = null) =>
  inDatabase(world, async (database) => {
    const rules = await protectRulesFor(database.read(), { ownerId: of.owner.ownerId, agentId: of.agentId });
    return protectDecision(rules, { agentId: of.agentId, host, merchantId, merchantSlug: null });
  });

// spec: path:POST /mpp/protect
// spec: mpp-rules:added
test('a rule is added, listed and deleted, and applies to the next payment', async () => {
  const rule = await api().createProtectRule({
    body: { type: 'deny', merchant: 'Shop.Example.', reason: 'contract ended' },
  });
  expect(rule).toMatchObject({ type: 'deny', merchant: 'shop.example', agentId: null, reason: 'contract ended' });
  expect(rule.id).toMatch(/^ppr_/);
  expect(await decide(payer, 'SHOP.example')).toMatchObject({ allowed: false, ruleId: rule.id });
  expect(await decide(payer, 'other.example')).toMatchObject({ allowed: true });
  expect((await api().listProtectRules({})).data).toEqual([rule]);
  expect(await api().deleteProtectRule({ params: { id: rule.id } })).toEqual({ id: rule.id, deleted: true });
  expect(await decide(payer, 'shop.example')).toMatchObject({ allowed: true });
  expect((await api().listProtectRules({})).data).toEqual([]);
  await expect(api().deleteProtectRule({ params: { id: rule.id } })).rejects.toMatchObject({ status: 404 });
});

test('one allow rule closes the list, for its agent only', async () => {
  const sibling = await aPayer(world, { owner: payer.owner });
  await api().createProtectRule({ body: { type: 'allow', merchant: 'shop.example', agentId: payer.agentId } });
  await api().createProtectRule({ body: { type: 'allow', merchant: 'mer_aaaaaaaa', agentId: payer.agentId } });
  expect(await decide(payer, 'shop.example')).toMatchObject({ allowed: true });
  expect(await decide(payer, 'other.example', 'mer_aaaaaaaa')).toMatchObject({ allowed: true });
  expect(await decide(payer, 'other.example')).toMatchObject({ allowed: false });
  expect(await decide(sibling, 'other.example')).toMatchObject({ allowed: true });
  const { id } = await api().createProtectRule({ body: { type: 'deny', merchant: 'shop.example' } });
  for (const one of [payer, sibling]) expect(await decide(one, 'shop.example')).toMatchObject({ ruleId: id });
});

test('another owner’s rules change nothing', async () => {
  const stranger = await aPayer(world);
  const { id } = await api().createProtectRule({ body: { type: 'allow', merchant: 'shop.example' } });
  expect(await decide(stranger, 'other.example')).toMatchObject({ allowed: true });
  await expect(api(stranger).deleteProtectRule({ params: { id } })).rejects.toMatchObject({ status: 404 });
  await expect(
    api(stranger).createProtectRule({ body: { type: 'deny', merchant: 'a.example', agentId: payer.agentId } }),
  ).rejects.toMatchObject({ status: 404 });
  expect(await merchantsIn(api(stranger))).toEqual([]);
});

test('an agent sees the rules that apply to it and changes none', async () => {
  const sibling = await aPayer(world, { owner: payer.owner });
  const { id } = await api().createProtectRule({ body: { type: 'deny', merchant: 'all.example' } });
  await api().createProtectRule({ body: { type: 'deny', merchant: 'own.example', agentId: payer.agentId } });
  await api().createProtectRule({ body: { type: 'deny', merchant: 'sibling.example', agentId: sibling.agentId } });
  expect(await merchantsIn(asAgent())).toEqual(['own.example', 'all.example']);
  expect(await merchantsIn(api())).toEqual(['sibling.example', 'own.example', 'all.example']);
  const refusal = { status: 403 };
  await expect(asAgent().deleteProtectRule({ params: { id } })).rejects.toMatchObject(refusal);
  await expect(asAgent().createProtectRule({ body: { type: 'allow', merchant: 'x.example' } })).rejects.toMatchObject(
    refusal,
  );
});

test('a token without the scope reads none', async () => {
  await world.sql('update agent_tokens set scopes = $2 where agent_id = $1', [payer.agentId, ['intents.read']]);
  await expect(merchantsIn(asAgent())).rejects.toMatchObject({
    status: 403,
    message: expect.stringMatching('mpp.read'),
  });
});

test('creation and deletion have events and audit rows, without merchant and reason', async () => {
  const body = { type: 'deny', merchant: 'secret.example', reason: 'private words' } as const;
  const { id } = await api().createProtectRule({ body });
  await api().deleteProtectRule({ params: { id } });
  const told = await eventsOf(world, id);
  expect(told.map(({ name }) => name)).toEqual(['mpp_rule.created', 'mpp_rule.deleted']);
  expect(told[0]?.data).toMatchObject({ id, ownerId: payer.owner.ownerId, agentId: null, type: 'deny' });
  expect(JSON.stringify(told)).not.toMatch(/secret\.example|private words/);
  const audit = await world.sql<{ action: string }>(
    'select action from audit where subject_id = $1 order by created_at',
    [id],
  );
  expect(audit.map(({ action }) => action)).toEqual(['mpp_rule.created', 'mpp_rule.deleted']);
});

test('the same rule again is the first one, also when both requests come at once', async () => {
  const body = { type: 'allow', merchant: 'shop.example', agentId: payer.agentId } as const;
  const both = await Promise.all([
    api().createProtectRule({ body }),
    api().createProtectRule({ body: { ...body, merchant: 'SHOP.EXAMPLE' } }),
  ]);
  expect(both[0]).toEqual(both[1]);
  const answer = await payer.owner.send({
    method: 'POST',
    path: '/v1/mpp/protect',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(200);
  expect((await eventsOf(world, both[0].id)).map(({ name }) => name)).toEqual(['mpp_rule.created']);
  await api().createProtectRule({ body: { ...body, type: 'deny' } });
  expect(await merchantsIn(api())).toHaveLength(2);
});

test('the same key is answered alike', async () => {
  const headers = { 'Idempotency-Key': randomUUID() };
  const body = { type: 'deny', merchant: 'shop.example' } as const;
  const first = await api().createProtectRule({ body, headers });
  expect(await api().createProtectRule({ body, headers })).toEqual(first);
});

test.each<[string, object, RegExp]>([
  ['no type', { type: undefined }, /type/],
  ['another type', { type: 'ask' }, /type/],
  ['no merchant', { merchant: undefined }, /merchant/],
  ['an address', { merchant: 'https://shop.example/pay' }, /merchant: must be a host without scheme, port and path/],
  ['a port', { merchant: 'shop.example:8443' }, /merchant/],
  ['a wildcard', { merchant: '*.example' }, /merchant/],
  ['an id of another kind', { agentId: 'int_aaaaaaaa' }, /agentId/],
  ['a reason without end', { reason: 'x'.repeat(501) }, /reason/],
  ['a field that is none', { amount: 1 }, /amount/],
])('%s is refused', async (_what, more, message) => {
  const body = { type: 'deny' as const, merchant: 'shop.example', ...more };
  await expect(api().createProtectRule({ body })).rejects.toMatchObject({
    status: 400,
    message: expect.stringMatching(message),
  });
  expect(await merchantsIn(api())).toEqual([]);
});

test('an owner has five hundred, also with two concurrent requests for the last place', async () => {
  await world.sql(
    `insert into protect_rules (id, owner_id, type, merchant, request_id, created_at)
     select 'ppr_filler' || n, $1, 'deny', 'host' || n || '.example', 'req', now() from generate_series(1, 499) n`,
    [payer.owner.ownerId],
  );
  const add = (merchant: string) => api().createProtectRule({ body: { type: 'deny', merchant } });
  const both = await Promise.allSettled([add('a.example'), add('b.example')]);
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  await expect(add('c.example')).rejects.toMatchObject({
    status: 400,
    message: expect.stringMatching('500 is the limit'),
  });
});
