/**
 * Goal: no owner creates more records than the limits allow, also concurrently; ended records do not count; the
 * dashboard raises a limit for one owner. Method: forty parallel creations over real HTTP for each limit.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { limitsArea } from '../../../src/domains/parties/limits/limit.contract.ts';
import { type LimitName, limits } from '../../../src/platform/limits.ts';
import { eventNamesOf } from '../../support/events.ts';
import { anIntent, aPayer, networkOf, type Payer } from '../../support/payments-world.ts';
import { businessNow, startWorld, type World } from '../../support/world.ts';
import { aDevice } from '../delivery/push-subscriptions.samples.ts';

let world: World;
let network: ReturnType<typeof networkOf>;
beforeAll(async () => {
  world = await startWorld({ env: { BURSAR_POOL_SIZE: '20' } });
  network = networkOf(world);
});
afterAll(() => world.close());

const ask = async (credential: string, method: string, path: string, body?: object) => {
  const answer = await fetch(`${world.apiUrl}${path}`, {
    method,
    headers: { Authorization: `Bearer ${credential}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as { id: string; error: string; status: string } };
};
const post = (payer: Payer, path: string, body: object = {}) => ask(payer.owner.key, 'POST', path, body);
/** Below the default too, which the operation refuses: so that forty creations are above it. */
const limitTo = ({ owner }: Payer, name: LimitName, most: number) =>
  world.sql(
    `insert into owner_limits values ($1, $2, $3, now())
     on conflict (owner_id, name) do update set most = excluded.most`,
    [owner.ownerId, name, most],
  );

type Creation = (payer: Payer, number: number) => ReturnType<typeof post>;
const creations: readonly [LimitName, Creation, number][] = [
  ['keys', (payer) => post(payer, '/keys/create'), 1],
  ['agent_tokens', (payer) => post(payer, `/agents/${payer.agentId}/tokens`), 1],
  ['wallets', (payer, n) => post(payer, '/wallets', { name: `wallet ${n}` }), 1],
  ['policies', (payer, n) => post(payer, '/policies', { name: `policy ${n}` }), 0],
  ['webhooks', (payer, n) => post(payer, '/webhooks', { url: `https://h${n}.example.com/`, events: ['*'] }), 0],
  ['fundings', (payer) => post(payer, `/wallets/${payer.walletId}/fund`, { amountEuros: 1 }), 1],
  [
    'open_intents',
    (payer) => post(payer, '/intents', { agentId: payer.agentId, purpose: 'a book', expectedAmountEuros: 1 }),
    0,
  ],
  [
    'waiting_intents',
    (payer) => post(payer, '/intents', { agentId: payer.agentId, purpose: 'a book', expectedAmountEuros: 80 }),
    0,
  ],
  ['challenges', (payer) => post(payer, '/passkeys/register/options', { name: 'one' }), 0],
  ['devices', (payer) => post(payer, '/push-subscriptions', aDevice()), 0],
  ['passkey_invitations', (payer, n) => post(payer, '/passkeys/invitations', { name: `person ${n}` }), 0],
];

/** `existing`: how many the payer has from the beginning. */
test.each(creations)('of 40 %s created at once no more than the limit exist', async (name, create, existing) => {
  const payer = await aPayer(world, { policy: { auto_approve_limit_cents: 5_000 } });
  await post(payer, '/customers');
  const already = name === 'wallets' ? 2 : existing; // Each customer is created with a wallet.
  await limitTo(payer, name, 10);
  const answers = await Promise.all(Array.from({ length: 40 }, (_, n) => create(payer, n)));
  const made = answers.filter(({ status }) => status < 300);
  const refused = answers.filter(({ status }) => status === 400);
  expect([name, made.length, refused.length]).toEqual([name, 10 - already, 30 + already]);
  const { counted, remedy } = limits[name];
  expect(refused[0]?.body).toEqual({ error: `you have 10 ${counted}, and 10 is the limit; ${remedy}` });
});

test('the error message names the default limit where it was not raised', async () => {
  const payer = await aPayer(world);
  for (let i = 1; i < 20; i++) expect((await post(payer, `/agents/${payer.agentId}/tokens`)).status).toBe(201);
  expect(await post(payer, `/agents/${payer.agentId}/tokens`)).toEqual({
    status: 400,
    body: { error: 'you have 20 live tokens for this agent, and 20 is the limit; revoke one first' },
  });
});

describe('ended records do not count', () => {
  test('revoked and expired tokens, revoked keys', async () => {
    const payer = await aPayer(world);
    await limitTo(payer, 'agent_tokens', 2);
    await limitTo(payer, 'keys', 2);
    const tokens = `/agents/${payer.agentId}/tokens`;
    const { body: first } = await post(payer, tokens, { expiresInDays: 1 });
    expect((await post(payer, tokens)).status).toBe(400);
    await world.sql(`update agent_tokens set expires_at = now() - interval '1 second' where id = $1`, [first.id]);
    const { body: second } = await post(payer, tokens);
    expect((await post(payer, tokens)).status).toBe(400);
    expect((await ask(payer.owner.key, 'DELETE', `${tokens}/${second.id}`)).status).toBeLessThan(300);
    expect((await post(payer, tokens)).status).toBe(201);

    const { body: key } = await post(payer, '/keys/create');
    expect((await post(payer, '/keys/create')).status).toBe(400);
    expect((await post(payer, `/keys/${key.id}/revoke`)).status).toBe(200);
    expect((await post(payer, '/keys/create')).status).toBe(201);
  });

  test('intents that are cancelled, denied, or past their deadline', async () => {
    const payer = await aPayer(world, { policy: { auto_approve_limit_cents: 5_000 } });
    await limitTo(payer, 'open_intents', 1);
    const declare = (euros = 1) =>
      post(payer, '/intents', { agentId: payer.agentId, purpose: 'a book', expectedAmountEuros: euros });
    const { body } = await declare();
    expect((await declare()).status).toBe(400);
    expect((await post(payer, `/intents/${body.id}/cancel`)).status).toBe(200);
    const second = await declare();
    expect(second.status).toBe(201);
    await world.sql(`update intents set expires_at = $2 where id = $1`, [
      second.body.id,
      new Date((await businessNow(world)).getTime() - 1_000),
    ]);
    expect((await declare()).status).toBe(201);
  });
});

test('a charge that needs a person creates no intent above the limit, and stays declined', async () => {
  const payer = await aPayer(world, { policy: { auto_approve_limit_cents: 1_000 } });
  await limitTo(payer, 'waiting_intents', 2);
  await anIntent(world, payer, { status: 'pending_approval', merchant: 'Another Shop' });
  const waiting = async () =>
    (await world.sql(`select 1 from intents where agent_id = $1 and status = 'pending_approval'`, [payer.agentId]))
      .length;
  const charge = (amountCents: number) => network.authorize(payer, { amountCents });
  expect((await charge(2_000)).body.decision).toBe('declined');
  expect(await waiting()).toBe(2);
  const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => charge(2_100 + n)));
  expect(answers.map(({ status, body }) => [status, body.decision])).toEqual(Array(10).fill([200, 'declined']));
  expect(await waiting()).toBe(2);
});

test('charges and declarations together keep the limit of those that wait', async () => {
  const payer = await aPayer(world, { policy: { auto_approve_limit_cents: 1_000 } });
  await limitTo(payer, 'waiting_intents', 7);
  await Promise.all([
    ...Array.from({ length: 20 }, (_, n) => network.authorize(payer, { amountCents: 2_000 + n })),
    ...Array.from({ length: 20 }, () =>
      post(payer, '/intents', { agentId: payer.agentId, purpose: 'a book', expectedAmountEuros: 80 }),
    ),
  ]);
  const waiting = await world.sql(`select 1 from intents where agent_id = $1 and status = 'pending_approval'`, [
    payer.agentId,
  ]);
  expect(waiting).toHaveLength(7);
});

describe('raising a limit', () => {
  const raise = async (ownerId: string, name: string, limit: number, secret = world.dashboardSecret) => {
    const answer = await fetch(`${world.apiUrl}/limits/${name}`, {
      method: 'PUT',
      headers: { 'X-Dashboard-Secret': secret, 'X-Owner-Id': ownerId, 'Content-Type': 'application/json' },
      body: JSON.stringify({ limit }),
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };

  test('with the dashboard’s secret, for that owner alone, with an audit row and an event', async () => {
    const [payer, other] = [await aPayer(world), await aPayer(world)];
    const { ownerId } = payer.owner;
    expect(await raise(ownerId, 'keys', 22)).toMatchObject({
      status: 200,
      body: { name: 'keys', limit: 22, defaultLimit: 20 },
    });
    for (let i = 1; i < 22; i++) expect((await post(payer, '/keys/create')).status).toBe(201);
    expect((await post(payer, '/keys/create')).body.error).toContain('you have 22 live API keys, and 22 is the limit');
    const limitOf = async ({ owner }: Payer) =>
      (await owner.client(limitsArea).listLimits()).data.find(({ name }) => name === 'keys')?.limit;
    expect([await limitOf(payer), await limitOf(other)]).toEqual([22, 20]);
    const audits = await world.sql(
      `select actor, details, outcome from audit where owner_id = $1 and action = 'limit.updated'`,
      [ownerId],
    );
    expect(audits).toEqual([{ actor: 'dashboard', details: { limit: 22, previousLimit: 20 }, outcome: 'done' }]);
    const events = await world.sql(`select data from events where owner_id = $1 and name = 'limit.updated'`, [ownerId]);
    expect(events).toEqual([{ data: { id: 'keys', ownerId, limit: 22, previousLimit: 20 } }]);
    expect(await eventNamesOf(world, 'keys')).toContain('limit.updated');
  });

  test('below the default, of an unknown name, by an owner’s key or with a wrong secret it is refused', async () => {
    const payer = await aPayer(world);
    const { ownerId, key } = payer.owner;
    expect(await raise(ownerId, 'keys', 19)).toEqual({
      status: 400,
      body: { error: 'body.limit: must be at least 20, the default' },
    });
    expect((await raise(ownerId, 'yachts', 100)).status).toBe(400);
    expect((await raise(ownerId, 'keys', 100, 'wrong'.repeat(10))).status).toBe(401);
    expect((await ask(key, 'PUT', '/limits/keys', { limit: 100 })).status).toBe(401);
    expect((await ask(payer.token, 'PUT', '/limits/keys', { limit: 100 })).status).toBe(403);
    expect(await world.sql('select 1 from owner_limits where owner_id = $1', [ownerId])).toEqual([]);
  });
});
