/**
 * Goal: an intent is evaluated, decided and ended as published, and every refusal says why. Method: real HTTP, real
 * PostgreSQL, the real worker on the real Temporal dev server.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { intentsArea } from '../../../src/domains/spending/intents/intent.contract.ts';
import { day, hour, minute } from '../../../src/kernel/instant.ts';
import { eventNamesOf } from '../../support/events.ts';
import { clientsOf } from '../../support/factories/records.ts';
import { refusalOf } from '../../support/refusals.ts';
import { eventually, type Owner, startWorld, type World } from '../../support/world.ts';

let world: World;
let owner: Owner;
let api: ReturnType<typeof clientsOf>;
let agentId: string;
let cardId: string;
let asAgent: ReturnType<typeof clientsOf>;

beforeAll(async () => {
  world = await startWorld({ worker: true });
  owner = await world.owner();
  api = clientsOf(owner);
  await api.fund.fundWallet({ body: { amountEuros: 500 } });
  const agent = await api.agents.createAgent({ body: { name: 'buyer' } });
  agentId = agent.id;
  cardId = agent.cardId ?? '';
  const { token } = await api.tokens.createAgentToken({ params: { id: agentId }, body: {} });
  asAgent = clientsOf(world.as(token));
});
afterAll(async () => {
  await world.close();
});

const declare = (more: object = {}) =>
  asAgent.intents.declareIntent({ body: { purpose: 'a thing', expectedAmountEuros: 10, ...more } });
/** Gives the agent room again: earlier tests' open intents count against the day. */
const clear = async () => {
  const open = await api.intents.listIntents({ query: { status: 'approved', limit: 100 } });
  for (const { id } of open.data) await api.intents.cancelIntent({ params: { id } });
};

// spec: does:Intents:declare
// spec: state:Intent:created
// spec: state:Intent:approved
// spec: event:intent.created
// spec: event:intent.approved
test('below the limit: approved at once by the policy, with both events', async () => {
  const intent = await declare({ expectedMerchant: 'Sandbox Shop' });
  expect(intent).toMatchObject({
    status: 'approved',
    approvedBy: 'policy',
    agentId,
    cardId,
    expectedAmountEuros: 10,
    matchedTransactionId: null,
  });
  expect(intent.policyCheck).toEqual({ allowed: true, requiresApproval: false, reason: null });
  expect(await eventNamesOf(world, intent.id)).toEqual(['intent.created', 'intent.approved']);
  expect(await api.intents.getIntent({ params: { id: intent.id } })).toEqual(intent);
});

// spec: does:Intents:approve
// spec: state:Intent:approved
// spec: event:intent.approved
test('above the limit: waits; a person approves it through the workflow, once, also with repeated requests', async () => {
  await clear();
  const intent = await declare({ expectedAmountEuros: 80 });
  expect(intent.status).toBe('pending_approval');
  expect(intent.policyCheck).toMatchObject({ requiresApproval: true, reason: expect.stringMatching(/50\.00/) });
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => api.intents.approveIntent({ params: { id: intent.id } })),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set(['approved']));
  expect(answers[0]?.approvedBy).toMatch(/^key:key_/);
  expect(await eventNamesOf(world, intent.id)).toEqual(['intent.created', 'intent.approved']);
  expect(await refusalOf(api.intents.denyIntent({ params: { id: intent.id }, body: {} }))).toEqual([
    400,
    'cannot deny an intent that is approved',
  ]);
});

// spec: state:Intent:denied
// spec: event:intent.denied
test('denied by a rule: final, with rule and figures, and no workflow', async () => {
  const intent = await declare({ expectedAmountEuros: 100.01 });
  expect(intent.status).toBe('denied');
  expect(intent.policyCheck.reason).toMatch(/100\.00.*100\.01/);
  expect(await eventNamesOf(world, intent.id)).toEqual(['intent.created', 'intent.denied']);
  expect(await world.sql('select 1 from workflow_runs where subject_id = $1', [intent.id])).toEqual([]);
});

test('open approved intents count against the day at declaration', async () => {
  await clear();
  for (let i = 0; i < 5; i++) expect((await declare({ expectedAmountEuros: 50 })).status).toBe('approved');
  const sixth = await declare({ expectedAmountEuros: 0.01 });
  expect(sixth.policyCheck.reason).toMatch(/daily limit 250\.00, spent 250\.00, asked 0\.01/);
});

// spec: does:Intents:deny
// spec: does:Intents:cancel
// spec: state:Intent:cancelled
// spec: event:intent.cancelled
// spec: event:intent.denied
test('deny and cancel are repeatable, keep their reason, and end the process', async () => {
  await clear();
  const pending = await declare({ expectedAmountEuros: 60 });
  await api.intents.denyIntent({ params: { id: pending.id }, body: { reason: 'not today' } });
  await api.intents.denyIntent({ params: { id: pending.id }, body: {} });
  expect(await api.intents.getIntent({ params: { id: pending.id } })).toMatchObject({
    status: 'denied',
    deniedReason: 'not today',
  });
  expect(await eventNamesOf(world, pending.id)).toEqual(['intent.created', 'intent.denied']);
  expect((await refusalOf(api.intents.approveIntent({ params: { id: pending.id } })))[1]).toBe(
    'cannot approve an intent that is denied',
  );

  const open = await declare();
  await asAgent.intents.cancelIntent({ params: { id: open.id } });
  await asAgent.intents.cancelIntent({ params: { id: open.id } });
  expect(await eventNamesOf(world, open.id)).toEqual(['intent.created', 'intent.approved', 'intent.cancelled']);
  expect(await world.sql('select is_open from workflow_runs where subject_id = $1', [open.id])).toEqual([
    { is_open: false },
  ]);
});

// spec: state:Intent:expired
// spec: event:intent.expired
test('past its deadline an intent expires by its workflow, and cannot be approved meanwhile', async () => {
  await clear();
  const intent = await declare({ expectedAmountEuros: 60, ttlMinutes: 30 });
  await world.advance(31 * minute);
  const expired = await eventually(
    () => api.intents.getIntent({ params: { id: intent.id } }),
    ({ status }) => status === 'expired',
  );
  expect(expired.approvedBy).toBeNull();
  for (const late of [api.intents.cancelIntent, api.intents.denyIntent]) {
    expect(await refusalOf(late({ params: { id: intent.id }, body: {} }))).toEqual([
      400,
      expect.stringMatching(/^cannot \w+ an intent that is expired$/),
    ]);
  }
  // It reads expired at once; its workflow marks it a little later.
  await eventually(
    () => eventNamesOf(world, intent.id),
    (names) => names.includes('intent.expired'),
  );
  expect(await eventNamesOf(world, intent.id)).toEqual(['intent.created', 'intent.expired']);
  expect((await refusalOf(api.intents.approveIntent({ params: { id: intent.id } })))[1]).toMatch(/expired/);
});

test('the same clientIntentId finds the first intent, also when both are sent at once', async () => {
  await clear();
  const both = await Promise.all([declare({ clientIntentId: 'order-7' }), declare({ clientIntentId: 'order-7' })]);
  expect(both[0]?.id).toBe(both[1]?.id);
  const again = await fetch(`${world.apiUrl}/intents`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${owner.key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ agentId, purpose: 'another', expectedAmountEuros: 99, clientIntentId: 'order-7' }),
  });
  expect(again.status).toBe(200);
});

test('bad input is refused with a message and writes nothing', async () => {
  const before = await world.sql('select count(*)::int as count from intents');
  const cases: [object, RegExp][] = [
    [{ expectedAmountEuros: 1.005 }, /body\.expectedAmountEuros: must be an amount in euros/],
    [{ expectedAmountEuros: -1 }, /expectedAmountEuros/],
    [{ expectedAmountEuros: 1e12 }, /expectedAmountEuros/],
    [{ expectedAmountEuros: '10' }, /expectedAmountEuros/],
    [{ purpose: '' }, /purpose/],
    [{ purpose: 'x'.repeat(501) }, /purpose/],
    [{ ttlMinutes: 0 }, /ttlMinutes/],
    [{ ttlMinutes: 43_201 }, /ttlMinutes/],
    [{ cardId, cardName: 'default' }, /not both/],
    [{ expectedAmount: 10 }, /once/],
    [{ clientIntentId: 'x'.repeat(65) }, /clientIntentId/],
    [{ nonsense: true }, /nonsense/],
    [{ cardId: 'ca_aaaaaaaaaaaa' }, /no card ca_aaaaaaaaaaaa/],
    [{ agentId: 'AG_X' }, /agentId/],
  ];
  for (const [more, sentence] of cases) {
    expect(await refusalOf(declare(more))).toEqual([400, expect.stringMatching(sentence)]);
  }
  expect((await refusalOf(api.intents.declareIntent({ body: { purpose: 'x', expectedAmountEuros: 1 } })))[1]).toMatch(
    /agentId: is missing/,
  );
  expect((await refusalOf(api.intents.getIntent({ params: { id: 'int_aaaaaaaaaaaaaaaa' } })))[0]).toBe(404);
  expect(await world.sql('select count(*)::int as count from intents')).toEqual(before);
});

test('a frozen agent may declare nothing, an agent token may not approve or deny', async () => {
  await clear();
  const pending = await declare({ expectedAmountEuros: 60 });
  expect((await refusalOf(asAgent.intents.approveIntent({ params: { id: pending.id } })))[0]).toBe(403);
  expect((await refusalOf(asAgent.intents.denyIntent({ params: { id: pending.id }, body: {} })))[0]).toBe(403);
  await api.agents.freezeAgent({ params: { id: agentId }, body: {} });
  expect((await refusalOf(declare()))[1]).toMatch(/frozen/);
  expect(await refusalOf(api.intents.approveIntent({ params: { id: pending.id } }))).toEqual([
    403,
    expect.stringMatching(/cannot approve: .*frozen/),
  ]);
  await api.agents.unfreezeAgent({ params: { id: agentId } });
  await api.intents.approveIntent({ params: { id: pending.id } });
});

test('pages are whole, newest first, and filters hold', async () => {
  await world.advance(day + hour);
  await clear();
  const made: string[] = [];
  for (let i = 0; i < 7; i++) made.push((await declare({ purpose: `page ${i}`, expectedAmountEuros: 1 })).id);
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await api.intents.listIntents({ query: { limit: 3, status: 'approved', cursor } });
    seen.push(...page.data.map(({ id }) => id));
    cursor = page.nextCursor ?? undefined;
    expect(page.hasMore).toBe(cursor !== undefined);
  } while (cursor !== undefined);
  expect(seen).toEqual([...made].reverse());
  for (const [query, status] of [
    ['limit=0', 400],
    ['limit=101', 400],
    ['cursor=x', 400],
    ['status=open', 400],
    ['what=ever', 400],
  ] as const) {
    const answer = await fetch(`${world.apiUrl}/intents?${query}`, {
      headers: { Authorization: `Bearer ${owner.key}` },
    });
    expect([query, answer.status]).toEqual([query, status]);
  }
});

test('an approval repeated with its key after the answer was lost finds the same answer', async () => {
  await clear();
  const pending = await declare({ expectedAmountEuros: 60 });
  const approve = () =>
    owner
      .client(intentsArea)
      .approveIntent({ params: { id: pending.id }, body: {}, headers: { 'Idempotency-Key': `approve-${pending.id}` } });
  expect(await approve()).toEqual(await approve());
});

test('an approval whose answer was lost is answered again by its key, even after the purchase', async () => {
  await clear();
  const pending = await declare({ expectedAmountEuros: 60 });
  const headers = { 'Idempotency-Key': `late-${pending.id}` };
  const approve = () => api.intents.approveIntent({ params: { id: pending.id }, body: {}, headers });
  const first = await approve();
  const targetUrl = `${world.sandboxUrl}/shops/sandbox-shop?amountCents=6000`;
  await asAgent.checkout.executeCheckout({ body: { intentId: pending.id, targetUrl } });
  await eventually(
    () => api.intents.getIntent({ params: { id: pending.id } }),
    ({ status }) => status === 'completed',
  );
  await world.sql('update idempotency set status = null, body = null, lease_until = null where key = $1', [
    headers['Idempotency-Key'],
  ]);
  expect(await approve()).toEqual(first);
  expect(await refusalOf(api.intents.approveIntent({ params: { id: pending.id } }))).toEqual([
    400,
    'cannot approve an intent that is completed',
  ]);
});
