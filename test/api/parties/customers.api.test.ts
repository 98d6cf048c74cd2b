/** The customer behind a key over real HTTP: created once by the first request that needs it, and changed only by its owner. @module */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createClient, sendTo } from '../../../src/client/client.ts';
import { customersArea } from '../../../src/domains/parties/customers/customer.contract.ts';
import { eventsSince, lastEvent } from '../../support/events.ts';
import { anAgent, aTokenOf, giveMoney } from '../../support/factories/parties.ts';
import { aPayer } from '../../support/payments-world.ts';
import { refusalOf, statusOf } from '../../support/refusals.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({ worker: true });
});
afterAll(() => world.close());

describe('creating', () => {
  // spec: does:Customers:account-owner management
  // spec: event:wallet.created
  test('creates a default wallet, and returns the given fields', async () => {
    const owner = await world.owner();
    const before = await lastEvent(world, owner);
    const made = await owner.client(customersArea).createCustomer({
      body: { type: 'corporate', email: 'ada@example.org', name: { first: 'Ada', last: 'Lovelace' } },
    });
    expect(made).toEqual({
      id: expect.stringMatching(/^cus_[a-z0-9]{26}$/),
      ownerId: owner.ownerId,
      type: 'corporate',
      status: 'active',
    });
    expect(await eventsSince(world, owner, before)).toEqual(['customer.created', 'wallet.created']);
    expect(await owner.client(customersArea).getOwnCustomer()).toMatchObject({
      ...made,
      email: 'ada@example.org',
      firstName: 'Ada',
      lastName: 'Lovelace',
      plan: 'enterprise',
      planLimits: { agents: null, cards: null },
      walletBalanceEuros: 0,
    });
    const wallets = await world.sql('select name, is_default from wallets where owner_id = $1', [owner.ownerId]);
    expect(wallets).toEqual([{ name: 'Main', is_default: true }]);
  });

  test('without a body it is a consumer', async () => {
    const owner = await world.owner();
    expect(await owner.client(customersArea).createCustomer()).toMatchObject({ type: 'consumer' });
  });

  test('twice is 400 and changes nothing; with the same Idempotency-Key it is the same answer', async () => {
    const owner = await world.owner();
    const create = () =>
      owner
        .client(customersArea)
        .createCustomer({ body: { email: 'a@example.org' }, headers: { 'Idempotency-Key': 'c-1' } });
    const [once, again] = [await create(), await create()];
    expect(again).toEqual(once);
    const before = await lastEvent(world, owner);
    await expect(
      owner.client(customersArea).createCustomer({ body: { email: 'b@example.org' } }),
    ).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining(once.id),
    });
    expect(await lastEvent(world, owner)).toBe(before);
    expect(await owner.client(customersArea).getOwnCustomer()).toMatchObject({ email: 'a@example.org' });
  });

  test('a repeat after a death before the answer is the same customer, with one event', async () => {
    const owner = await world.owner();
    const create = () =>
      owner.client(customersArea).createCustomer({ body: {}, headers: { 'Idempotency-Key': 'c-2' } });
    const lost = await create();
    await world.sql('update idempotency set status = null, body = null where owner_id = $1', [owner.ownerId]);
    const before = await lastEvent(world, owner);
    expect(await create()).toEqual(lost);
    expect(await lastEvent(world, owner)).toBe(before);
  });

  test('ten first calls at once make one customer and one wallet', async () => {
    const owner = await world.owner();
    const calls = Array.from({ length: 10 }, (_, i) =>
      i % 2 === 0 ? owner.client(customersArea).getOwnCustomer() : owner.client(customersArea).createCustomer(),
    );
    const answers = await Promise.allSettled(calls);
    const ids = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value.id] : []));
    expect(new Set(ids).size).toBe(1);
    expect(await world.sql('select 1 from customers where owner_id = $1', [owner.ownerId])).toHaveLength(1);
    expect(await world.sql('select 1 from wallets where owner_id = $1', [owner.ownerId])).toHaveLength(1);
    expect((await eventsSince(world, owner, 0)).filter((name) => name === 'customer.created')).toHaveLength(1);
  });

  test.each([
    ['an unknown type', { type: 'bank' }],
    ['a bad email', { email: 'nobody' }],
    ['a name without a last name', { name: { first: 'Ada' } }],
    ['a negative limit', { policy: { dailyLimitEuros: -1 } }],
    ['three decimals', { policy: { dailyLimitEuros: 1.005 } }],
    ['an unknown policy field', { policy: { weeklyLimitEuros: 1 } }],
    ['an unknown field', { plan: 'enterprise' }],
    ['a control character', { name: { first: 'A\u0000', last: 'B' } }],
  ])('%s is 400 and makes nothing', async (_, body) => {
    const owner = await world.owner();
    expect(await statusOf(owner.client(customersArea).createCustomer({ body: body as object }))).toBe(400);
    expect(await world.sql('select 1 from customers where owner_id = $1', [owner.ownerId])).toEqual([]);
  });

  test('its policy becomes that of new agents', async () => {
    const owner = await world.owner();
    await owner
      .client(customersArea)
      .createCustomer({ body: { policy: { maxTransactionEuros: 12.5, dailyLimitEuros: null } } });
    const { policyId } = await anAgent(owner);
    const [policy] = await world.sql<{ max: string }>(
      'select max_transaction_cents as max from policies where id = $1',
      [policyId],
    );
    expect(Number(policy?.max)).toBe(1_250);
  });
});

describe('reading', () => {
  test('the first GET makes it; its balance is that of all wallets', async () => {
    const owner = await world.owner();
    const first = await owner.client(customersArea).getOwnCustomer();
    expect(first).toMatchObject({ type: 'consumer', email: null, status: 'active', plan: 'enterprise' });
    expect(Math.abs(Date.parse(first.createdAt) - Date.now())).toBeLessThan(60_000);
    const [wallet] = await world.sql<{ id: string }>('select id from wallets where owner_id = $1', [owner.ownerId]);
    await giveMoney(owner, wallet?.id ?? '', 12_345);
    expect(await owner.client(customersArea).getCustomer({ params: { id: first.id } })).toEqual({
      ...first,
      walletBalanceEuros: 123.45,
    });
  });

  test('an agent’s read creates none: it is 404 while its owner has no customer', async () => {
    const { token } = await aPayer(world);
    const told = await refusalOf(world.as(token).client(customersArea).getOwnCustomer());
    expect(told).toEqual([404, expect.stringMatching(/^no customer of own_/)]);
  });

  test('an agent may read it with wallets.read, and may not change it', async () => {
    const owner = await world.owner();
    const agent = await anAgent(owner);
    const { id } = await owner.client(customersArea).getOwnCustomer();
    const token = await aTokenOf(world, owner, agent.id);
    expect(await token.client(customersArea).getOwnCustomer()).toMatchObject({ id });
    expect(await statusOf(token.client(customersArea).getCustomer({ params: { id } }))).toBe(403);
    expect(await statusOf(token.client(customersArea).createCustomer())).toBe(403);
    expect(await statusOf(token.client(customersArea).updateCustomer({ params: { id }, body: { email: null } }))).toBe(
      403,
    );
    const narrow = await aTokenOf(world, owner, agent.id, { scopes: ['agents.read'] });
    expect(await statusOf(narrow.client(customersArea).getOwnCustomer())).toBe(403);
  });

  test('another owner’s and an unknown one are 404', async () => {
    const [one, other] = [await world.owner(), await world.owner()];
    const { id } = await other.client(customersArea).getOwnCustomer();
    for (const foreign of [id, 'cus_unknown0']) {
      expect(await statusOf(one.client(customersArea).getCustomer({ params: { id: foreign } }))).toBe(404);
      expect(
        await statusOf(one.client(customersArea).updateCustomer({ params: { id: foreign }, body: { email: null } })),
      ).toBe(404);
    }
    expect(await statusOf(one.client(customersArea).getCustomer({ params: { id: 'x' } }))).toBe(400);
  });
});

describe('changing', () => {
  // spec: does:Customers:account-owner management
  // spec: event:cardholder.updated
  test('the event names the changed fields and never their values', async () => {
    const owner = await world.owner();
    const { id } = await owner.client(customersArea).getOwnCustomer();
    const before = await lastEvent(world, owner);
    const changed = await owner.client(customersArea).updateCustomer({
      params: { id },
      body: {
        email: 'x@example.org',
        firstName: 'Grace',
        addressCity: 'Berlin',
        addressCountry: 'DE',
        dateOfBirth: '1980-02-29',
      },
    });
    expect(changed).toMatchObject({ email: 'x@example.org', firstName: 'Grace' });
    expect(await eventsSince(world, owner, before)).toEqual(['customer.updated', 'cardholder.updated']);
    const told = await world.sql(
      'select data::text as t from events where owner_id = $1 union all select details::text from audit where owner_id = $1',
      [owner.ownerId],
    );
    expect(JSON.stringify(told)).toContain('addressCity');
    expect(JSON.stringify(told)).not.toMatch(/Grace|Berlin|x@example|\b1980\b/);
  });

  test('birth date and address are returned only to the owner, not to an agent or the dashboard', async () => {
    const { owner, token } = await aPayer(world);
    const customers = owner.client(customersArea);
    const { id } = await customers.getOwnCustomer();
    const personal = {
      dateOfBirth: '1980-02-29',
      addressLine1: 'Am Kanal 7',
      addressCity: 'Berlin',
      addressPostcode: '10999',
      addressCountry: 'DE',
    };
    const nothing = Object.fromEntries(Object.keys(personal).map((field) => [field, null]));
    expect(await customers.getOwnCustomer()).toMatchObject(nothing);
    expect(await customers.updateCustomer({ params: { id }, body: personal })).toMatchObject(personal);
    expect(await customers.getOwnCustomer()).toMatchObject(personal);
    expect(await customers.getCustomer({ params: { id } })).toMatchObject(personal);
    const agent = createClient(customersArea, sendTo(world.apiUrl, token));
    expect(await agent.getOwnCustomer()).toMatchObject(nothing);
    const dashboard = createClient(customersArea, (request) =>
      sendTo(world.apiUrl)({
        ...request,
        headers: { ...request.headers, 'X-Dashboard-Secret': world.dashboardSecret, 'X-Owner-Id': owner.ownerId },
      }),
    );
    expect(await dashboard.updateCustomer({ params: { id }, body: { plan: 'free' } })).toMatchObject(nothing);
    const told = await world.sql(
      'select data::text as t from events where owner_id = $1 union all select details::text from audit where owner_id = $1',
      [owner.ownerId],
    );
    expect(JSON.stringify(told)).not.toMatch(/\b1980\b|Kanal|Berlin|\b10999\b/);
  });

  test('accepts a country code in lower case and stores it in capitals', async () => {
    const owner = await world.owner();
    const { id } = await owner.client(customersArea).getOwnCustomer();
    await owner.client(customersArea).updateCustomer({ params: { id }, body: { addressCountry: 'de' } });
    expect(await world.sql('select address_country as country from customers where id = $1', [id])).toEqual([
      { country: 'DE' },
    ]);
  });

  test('of email or plan alone does not concern the cardholder; the same again is no change', async () => {
    const owner = await world.owner();
    const { id } = await owner.client(customersArea).getOwnCustomer();
    const before = await lastEvent(world, owner);
    const update = () => owner.client(customersArea).updateCustomer({ params: { id }, body: { plan: 'personal' } });
    expect(await update()).toMatchObject({ plan: 'starter', planLimits: { agents: 5, cards: 10 } });
    await update();
    expect(await eventsSince(world, owner, before)).toEqual(['customer.updated']);
  });

  test.each([
    ['nothing', {}],
    ['an unknown plan', { plan: 'gold' }],
    ['an unknown country form', { addressCountry: 'Germany' }],
    ['a date that is none', { dateOfBirth: '1980-02-30' }],
    ['a name of another type', { firstName: 7 }],
    ['an owner', { ownerId: 'own_aaaaaaaa' }],
  ])('%s is 400', async (_, body) => {
    const owner = await world.owner();
    const { id } = await owner.client(customersArea).getOwnCustomer();
    expect(await statusOf(owner.client(customersArea).updateCustomer({ params: { id }, body: body as object }))).toBe(
      400,
    );
  });

  test('the dashboard changes it for the owner that it names', async () => {
    const owner = await world.owner();
    const { id } = await owner.client(customersArea).getOwnCustomer();
    const dashboard = createClient(customersArea, (request) =>
      sendTo(world.apiUrl)({
        ...request,
        headers: { ...request.headers, 'X-Dashboard-Secret': world.dashboardSecret, 'X-Owner-Id': owner.ownerId },
      }),
    );
    expect(await dashboard.updateCustomer({ params: { id }, body: { plan: 'free' } })).toMatchObject({ plan: 'free' });
    const [audit] = await world.sql(`select actor from audit where subject_id = $1 and action = 'customer.updated'`, [
      id,
    ]);
    expect(audit).toEqual({ actor: 'dashboard' });
  });
});
