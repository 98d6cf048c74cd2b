/**
 * Goal: one key means one request of one kind of caller, by whatever path it is sent, also when the first answer was
 * kept by a version that knew no kinds. Method: real HTTP and the table that keeps the answers.
 * @module
 */
import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { agentTokensArea } from '../../../src/domains/identity/agent-tokens/agent-token.contract.ts';
import { aPayer, type Payer } from '../../support/payments-world.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
let payer: Payer;
let agentToken: string;
beforeAll(async () => {
  world = await startWorld();
  payer = await aPayer(world);
  const tokens = payer.owner.client(agentTokensArea);
  agentToken = (await tokens.createAgentToken({ params: { id: payer.agentId }, body: {} })).token;
});
afterAll(() => world.close());

type Answered = { readonly status: number; readonly isReplay: boolean; readonly body: { id: string; key?: string } };

async function post(
  path: string,
  { key, body, headers }: { key: string; body: object; headers?: Record<string, string> },
): Promise<Answered> {
  const answer = await fetch(`${world.apiUrl}${path}`, {
    method: 'POST',
    headers: {
      ...(headers ?? { Authorization: `Bearer ${payer.owner.key}` }),
      'Content-Type': 'application/json',
      'Idempotency-Key': key,
    },
    body: JSON.stringify(body),
  });
  const isReplay = answer.headers.get('idempotent-replayed') === 'true';
  return { status: answer.status, isReplay, body: (await answer.json()) as Answered['body'] };
}

const dashboard = () => ({ 'X-Dashboard-Secret': world.dashboardSecret, 'X-Owner-Id': payer.owner.ownerId });

test('the dashboard and an owner’s key with the same key string get keys of their own, and each its own again', async () => {
  const asked = { key: randomUUID(), body: { label: 'same' } };
  const byKey = await post('/keys/create', asked);
  const byDashboard = await post('/keys/create', { ...asked, headers: dashboard() });
  expect([byKey.status, byDashboard.status, byDashboard.isReplay]).toEqual([201, 201, false]);
  expect(byDashboard.body.key).not.toBe(byKey.body.key);
  expect(await post('/keys/create', asked)).toEqual({ ...byKey, isReplay: true });
  expect(await post('/keys/create', { ...asked, headers: dashboard() })).toEqual({ ...byDashboard, isReplay: true });
  // Neither is refused for what the other one asked.
  const other = { key: asked.key, body: { label: 'another' } };
  expect((await post('/keys/create', other)).status).toBe(409);
  const fresh = { key: randomUUID(), body: { label: 'a' } };
  expect((await post('/keys/create', fresh)).status).toBe(201);
  expect((await post('/keys/create', { ...fresh, body: { label: 'b' }, headers: dashboard() })).status).toBe(201);
});

test('an agent and its owner with the same key string get records of their own', async () => {
  const body = { agentId: payer.agentId, purpose: 'the same', expectedAmountEuros: 1 };
  const asked = { key: randomUUID(), body };
  const byOwner = await post('/intents', asked);
  const byAgent = await post('/intents', { ...asked, headers: { Authorization: `Bearer ${agentToken}` } });
  expect([byOwner.status, byAgent.status, byAgent.isReplay]).toEqual([201, 201, false]);
  expect(byAgent.body.id).not.toBe(byOwner.body.id);
});

test.each([
  ['/wallets', ['/v1/wallets', '/accounts', '/v1/accounts', '/wallets/', '/WALLETS', '/V1/Accounts/']],
  ['/v1/accounts', ['/wallets', '/accounts', '/v1/wallets']],
] as const)('a retry of %s by another of its paths is the same request', async (first, others) => {
  const asked = { key: randomUUID(), body: { name: 'the same wallet' } };
  const made = await post(first, asked);
  expect(made.status).toBe(201);
  for (const path of others) expect([path, await post(path, asked)]).toEqual([path, { ...made, isReplay: true }]);
  expect((await post('/policies', asked)).status).toBe(409);
  const count = await world.sql(`select 1 from wallets where owner_id = $1 and name = 'the same wallet'`, [
    payer.owner.ownerId,
  ]);
  expect(count).toHaveLength(first === '/wallets' ? 1 : 2);
});

test('with a parameter in the path: the same record is the same request, another one is not', async () => {
  const asked = { key: randomUUID(), body: { label: 'one' } };
  const made = await post(`/agents/${payer.agentId}/tokens`, asked);
  expect(made.status).toBe(201);
  expect(await post(`/v1/agents/${payer.agentId}/tokens/`, asked)).toEqual({ ...made, isReplay: true });
  expect((await post('/agents/ag_aaaaaaaaaaaaaaaa/tokens', asked)).status).toBe(409);
  expect(await world.sql('select caller_kind, path from idempotency where key = $1', [asked.key])).toEqual([
    { caller_kind: 'key', path: `/agents/${payer.agentId}/tokens` },
  ]);
});

test('thirty repeats at once by every path and every kind of caller make one record for each caller', async () => {
  const sibling = await aPayer(world, { owner: payer.owner });
  const stranger = await aPayer(world);
  const as = (token: string) => ({ Authorization: `Bearer ${token}` });
  const callers = [
    { headers: as(payer.owner.key), agentId: payer.agentId },
    { headers: as(agentToken), agentId: payer.agentId },
    { headers: as(sibling.token), agentId: sibling.agentId },
    { headers: as(stranger.owner.key), agentId: stranger.agentId },
    { headers: as(stranger.token), agentId: stranger.agentId },
  ];
  const key = randomUUID();
  const paths = ['/intents', '/v1/intents', '/intents/', '/V1/Intents'];
  const answers = await Promise.all(
    Array.from({ length: 30 }, async (_, n) => {
      const { headers, agentId } = callers[n % callers.length] as (typeof callers)[number];
      const body = { agentId, purpose: 'at once', expectedAmountEuros: 1 };
      return { caller: n % callers.length, ...(await post(paths[n % paths.length] ?? '', { key, body, headers })) };
    }),
  );
  expect(answers.filter(({ status }) => status !== 201 && status !== 409)).toEqual([]);
  const idsOf = (caller: number) =>
    new Set(answers.filter((one) => one.caller === caller && one.status === 201).map(({ body }) => body.id));
  expect(callers.map((_, caller) => idsOf(caller).size)).toEqual([1, 1, 1, 1, 1]);
  expect(new Set(callers.flatMap((_, caller) => [...idsOf(caller)])).size).toBe(5);
  const made = await world.sql(`select 1 from intents where purpose = 'at once'`);
  expect(made).toHaveLength(5);
});

test('a repeat with a revoked credential is refused, and a stored secret is returned to no other caller', async () => {
  const { owner, agentId } = await aPayer(world);
  const first = { Authorization: `Bearer ${owner.key}` };
  const { body: second } = await post('/keys/create', { key: randomUUID(), body: {}, headers: first });
  const asked = { key: randomUUID(), body: { label: 'kept' } };
  const made = await post(`/agents/${agentId}/tokens`, { ...asked, headers: first });
  expect(made.status).toBe(201);
  // Another key of the owner is the same caller; an agent, the dashboard and a stranger are not.
  const other = { Authorization: `Bearer ${second.key}` };
  expect(await post(`/v1/agents/${agentId}/tokens`, { ...asked, headers: other })).toEqual({ ...made, isReplay: true });
  const strangers = [{ Authorization: `Bearer ${payer.owner.key}` }, { Authorization: `Bearer ${agentToken}` }];
  for (const headers of strangers) {
    const answer = await post(`/agents/${agentId}/tokens`, { ...asked, headers });
    expect([answer.status, answer.isReplay, JSON.stringify(answer.body).includes('at_')]).toEqual([
      expect.any(Number),
      false,
      false,
    ]);
    expect([403, 404]).toContain(answer.status);
  }
  const revoke = { key: randomUUID(), body: {}, headers: first };
  expect((await post(`/keys/${second.id}/revoke`, revoke)).status).toBe(200);
  expect((await post(`/agents/${agentId}/tokens`, { ...asked, headers: other })).status).toBe(401);
});

const hashOf = (body: object): string => createHash('sha256').update(JSON.stringify(body)).digest('hex');

/** As the version before kinds of caller left it, after the migration. */
async function formerRow(
  key: string,
  path: string,
  body: object,
  answer: { status: number; body: string } | undefined,
) {
  await world.sql(
    `insert into idempotency (owner_id, caller_kind, agent_id, key, method, path, request_hash, seed, seed_ms, lease_token, status, body)
     values ($1, '', '', $2, 'POST', $3, $4, 'a former seed', $5, 'gone', $6, $7)`,
    [payer.owner.ownerId, key, path, hashOf(body), Date.now(), answer?.status ?? null, answer?.body ?? null],
  );
}

test('a row from before is replayed by any path, and belongs to whom repeats it from then on', async () => {
  for (const path of ['/wallets', '/v1/accounts']) {
    const asked = { key: randomUUID(), body: { name: 'from before' } };
    await formerRow(asked.key, path, asked.body, { status: 201, body: '{"id":"wal_former"}' });
    expect((await post('/wallets', { ...asked, body: { name: 'something else' } })).status).toBe(409);
    for (const _ of [1, 2]) {
      expect(await post('/v1/wallets', asked)).toEqual({ status: 201, isReplay: true, body: { id: 'wal_former' } });
    }
    expect(await world.sql('select caller_kind from idempotency where key = $1', [asked.key])).toEqual([
      { caller_kind: 'key' },
    ]);
  }
});

test('an interrupted request of an older row continues with the same ids', async () => {
  const asked = { key: randomUUID(), body: { name: 'cut off' } };
  await formerRow(asked.key, '/v1/wallets', asked.body, undefined);
  expect((await post('/wallets', asked)).status).toBe(201);
  expect(await world.sql('select caller_kind, seed, status from idempotency where key = $1', [asked.key])).toEqual([
    { caller_kind: 'key', seed: 'a former seed', status: 201 },
  ]);
});
