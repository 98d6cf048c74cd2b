/**
 * Goal: authorizations that are decided in one batch are decided as if each had come alone, share nothing but the
 * statement, and never wait for each other's locks. Method: the real use case and rows in PostgreSQL; two processes, a
 * dead connection, locked and changed rows, hot cards, one bad message among good ones.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import pg from 'pg';
import { type Database, databaseOf } from '../../../src/db/database.ts';
import { type Orm, openDatabase } from '../../../src/db/orm.ts';
import { authorizationMessage } from '../../../src/domains/payments/network/network.contract.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { entities } from '../../../src/main/modules/index.ts';
import { authorizeCard } from '../../../src/usecases/payments/authorize-card.ts';
import { bookAdvice } from '../../../src/usecases/payments/book-advice.ts';
import type { Authorization } from '../../../src/usecases/payments/decide-authorization.ts';
import { alone, decideBatch } from '../../../src/usecases/payments/decide-batch.ts';
import { someoneWaits } from '../../support/lock-waits.ts';
import { anIntent, aPayer, balancesOf, brokenInvariants, networkOf, type Payer } from '../../support/payments-world.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
let network: ReturnType<typeof networkOf>;
const orms: Orm[] = [];
/** Two processes of the API. */
let here: Database;
let elsewhere: Database;
beforeAll(async () => {
  world = await startWorld();
  network = networkOf(world);
  const open = async () => {
    const orm = await openDatabase({
      url: world.config.DATABASE_URL,
      entities,
      poolSize: 4,
      applicationName: 'batches',
    });
    orms.push(orm);
    return databaseOf(orm);
  };
  [here, elsewhere] = [await open(), await open()];
});
afterAll(async () => {
  expect(await brokenInvariants(world)).toEqual([]);
  await Promise.all(orms.map((orm) => orm.close()));
  await world.close();
});

const depsOf = (database: Database, meanwhile: () => Promise<unknown> = async () => undefined) => ({
  database,
  mostWaitMs: 60_000, // The suites of a run share the machine.
  log: { error: () => undefined },
  requestApproval: async () => undefined,
  risk: {
    assess: async () => {
      await meanwhile();
      return { outcome: 'allow' as const, signals: [] };
    },
  },
});

function aCharge(payer: Payer, over: Record<string, unknown> = {}): Authorization {
  const message = authorizationMessage.parse(network.authorizationOf(payer, over));
  const cause = { causeId: `network:sandbox:authorization:${message.id}`, requestId: randomUUID(), at: new Date() };
  return {
    adapter: 'sandbox',
    message,
    requestHash: `${message.amountCents}`,
    cause: { ...cause, actor: { kind: 'network' } },
  };
}

/** What each of a batch ended with: its answer, or why it has none. */
async function batchOf(batch: readonly Authorization[], deps = depsOf(here)) {
  const ended = await decideBatch(deps, batch);
  return ended.map((one) => {
    if ('again' in one) return 'again';
    if ('failed' in one) return 'failed';
    return one.done === alone ? alone : `${one.done.answer.decision} ${one.done.answer.rule}`;
  });
}

/** Another agent that pays out of the same wallet. */
async function aSibling(payer: Payer, policy = {}): Promise<Payer> {
  const sibling = await aPayer(world, { owner: payer.owner, fundsCents: 0, policy });
  await world.sql('update agents set wallet_id = $1 where id = $2', [payer.walletId, sibling.agentId]);
  return { ...sibling, walletId: payer.walletId };
}

const lockAccount = (client: pg.Client, { owner, walletId }: Payer, part: string) =>
  client.query('select from lock_accounts($1, array[$2], now())', [owner.ownerId, `wallet:${walletId}:${part}`]);

const rowsOf = (table: string, payer: Payer) =>
  world.sql(`select * from ${table} where agent_id = $1`, [payer.agentId]);

test('approvals and declines of one batch are all written, with hold, decision, events, audit and deliveries', async () => {
  const payers = await Promise.all([1, 2, 3].map(() => aPayer(world, { policy: { max_transaction_cents: 2_000 } })));
  const [one, two, three] = payers as [Payer, Payer, Payer];
  const hook = newId('webhook');
  await world.sql(
    `insert into webhooks (id, owner_id, url, events, status, sealed_secret, hint, assumed_plan, created_at, updated_at)
     values ($1, $2, 'https://hooks.example.com', '{*}', 'paused', 'sealed', '…', 'enterprise', now(), now())`,
    [hook, one.owner.ownerId],
  );
  await world.sql(`update webhooks set status = 'active' where id = $1`, [hook]);
  expect(await batchOf([aCharge(one), aCharge(two, { amountCents: 2_001 }), aCharge(three)])).toEqual([
    'approved within_rules',
    'declined max_transaction',
    'approved within_rules',
  ]);
  expect(await balancesOf(world, one)).toEqual({ available: 98_750, held: 1_250, receivable: 0 });
  expect(await balancesOf(world, two)).toEqual({ available: 100_000, held: 0, receivable: 0 });
  for (const payer of payers) {
    expect(await rowsOf('decisions', payer)).toHaveLength(1);
    expect(await rowsOf('audit', payer)).toHaveLength(1);
    expect((await rowsOf('events', payer)).length).toBe(2);
  }
  const delivered = await world.sql('select event from webhook_deliveries where webhook_id = $1 order by seq', [hook]);
  expect(delivered.map(({ event }) => event)).toEqual(['transaction.created', 'transaction.authorization']);
  await world.sql(`update webhooks set status = 'paused' where id = $1`, [hook]);
});

test('of one agent, declines share a batch, and what follows an approval is decided by what that left', async () => {
  const payer = await aPayer(world, { policy: { daily_limit_cents: 2_000 } });
  const charges = [aCharge(payer, { amountCents: 3_000 }), aCharge(payer), aCharge(payer), aCharge(payer)];
  expect(await batchOf(charges)).toEqual(['declined daily_limit', 'approved within_rules', 'again', 'again']);
  expect(await batchOf(charges.slice(2))).toEqual(['declined daily_limit', 'declined daily_limit']);
});

test('what has to be decided again names what it collided with: its agent, or the money', async () => {
  const first = await aPayer(world, { fundsCents: 2_000 });
  const sibling = await aSibling(first);
  expect(await decideBatch(depsOf(here), [aCharge(first), aCharge(first), aCharge(sibling)])).toEqual([
    { done: expect.objectContaining({ answer: expect.objectContaining({ decision: 'approved' }) }) },
    { again: `agent/${first.agentId}` },
    { again: `source/wallet:${first.walletId}` },
  ]);
});

test('the last cents of a wallet go to the first of a batch that fits, and the next is decided in the next one', async () => {
  const first = await aPayer(world, { fundsCents: 2_000 });
  const [second, third] = [await aSibling(first), await aSibling(first)];
  const charges = [aCharge(first), aCharge(second), aCharge(third, { amountCents: 750 })];
  expect(await batchOf(charges)).toEqual(['approved within_rules', 'again', 'approved within_rules']);
  expect(await batchOf(charges.slice(1, 2))).toEqual(['declined insufficient_funds']);
  expect(await balancesOf(world, first)).toEqual({ available: 0, held: 2_000, receivable: 0 });
});

test('the money of an item that its batch leaves neither declines nor shortens another payment', async () => {
  const first = await aPayer(world, { fundsCents: 2_000 });
  const [second, third] = [await aSibling(first), await aSibling(first)];
  const stale = depsOf(here, () => world.sql('update cards set name = $2 where id = $1', [first.cardId, randomUUID()]));
  const charges = [aCharge(first), aCharge(second), aCharge(third, { partialSupported: true })];
  expect(await batchOf(charges, stale)).toEqual([alone, 'again', 'again']);
  expect(await batchOf(charges.slice(1))).toEqual(['approved within_rules', 'again']);
  expect(await batchOf(charges.slice(2))).toEqual(['partial insufficient_funds']);
});

test('money that went between load and writing leaves the item to be decided anew, and the others are written', async () => {
  const [poor, other] = [await aPayer(world, { fundsCents: 2_000 }), await aPayer(world)];
  const sibling = await aSibling(poor);
  let turn = 0;
  const spend = async () => (turn++ === 0 ? network.authorize(sibling) : undefined);
  expect(await batchOf([aCharge(poor), aCharge(other)], depsOf(here, spend))).toEqual([alone, 'approved within_rules']);
  expect(await rowsOf('decisions', poor)).toEqual([]);
});

test.each([
  ['its card', 'update cards set name = $2 where id = $1', ({ cardId }: Payer) => [cardId, 'other']],
  [
    'its policy',
    'update policies set version = version + 1, name = $2 where id = $1',
    ({ policyId }: Payer) => [policyId, 'x'],
  ],
  [
    'what its agent spent',
    'update agent_spending set revision = revision + 1 where agent_id = $1',
    ({ agentId }: Payer) => [agentId],
  ],
] as const)(
  '%s changed, or is locked: the item leaves the batch without waiting, and the others are written',
  async (_, change, params) => {
    const [changed, other] = [await aPayer(world), await aPayer(world)];
    await batchOf([aCharge(changed), aCharge(other)]);
    const values = params(changed) as unknown[];
    const edit = depsOf(here, () => world.sql(change, values));
    expect(await batchOf([aCharge(changed), aCharge(other)], edit)).toEqual([alone, 'approved within_rules']);
    const client = new pg.Client({ connectionString: world.config.DATABASE_URL });
    await client.connect();
    await client.query('begin');
    await client.query(change, values);
    expect(await batchOf([aCharge(changed), aCharge(other)])).toEqual([alone, 'approved within_rules']);
    await client.query('rollback');
    await client.end();
    expect(await batchOf([aCharge(changed), aCharge(other)])).toEqual([
      'approved within_rules',
      'approved within_rules',
    ]);
  },
);

test('an intent that another transaction holds leaves its item, and one that is free is matched once', async () => {
  const [payer, other] = [await aPayer(world, { policy: { require_intent: true } }), await aPayer(world)];
  const intentId = await anIntent(world, payer);
  const client = new pg.Client({ connectionString: world.config.DATABASE_URL });
  await client.connect();
  await client.query('begin');
  await client.query('select from intents where id = $1 for no key update', [intentId]);
  expect(await batchOf([aCharge(payer), aCharge(other)])).toEqual([alone, 'approved within_rules']);
  await client.query('rollback');
  await client.end();
  expect(await batchOf([aCharge(payer), aCharge(other)])).toEqual(['approved within_rules', 'approved within_rules']);
  const [intent] = await world.sql('select status, matched_transaction_id as tx from intents where id = $1', [
    intentId,
  ]);
  const [row] = await world.sql('select id, intent_id from transactions where agent_id = $1', [payer.agentId]);
  expect([intent?.tx, row?.intent_id]).toEqual([row?.id, intentId]);
  const moved = await world.sql(`select from_status, to_status from transitions where row_id = $1`, [intentId]);
  expect(moved).toEqual([{ from_status: 'approved', to_status: intent?.status }]);
  const [run] = await world.sql('select wanted_wake from workflow_runs where subject_id = $1', [intentId]);
  expect(run).toEqual({ wanted_wake: true });
  expect(await batchOf([aCharge(payer), aCharge(other)])).toEqual([
    'declined intent_required',
    'approved within_rules',
  ]);
});

test('a message that the database refuses fails alone; those of strangers in its batch are approved', async () => {
  const payers = await Promise.all([1, 2, 3, 4].map(() => aPayer(world)));
  const authorize = authorizeCard(depsOf(here));
  const charges = payers.map((payer) => aCharge(payer));
  // No message of the edge is like this: it stands for whatever PostgreSQL refuses.
  charges[2] = { ...(charges[2] as Authorization), requestHash: null as never };
  // The first two are under way alone, so that the rest is one batch.
  const lanes = [aCharge(await aPayer(world)), aCharge(await aPayer(world))].map(authorize);
  const ended = await Promise.allSettled(charges.map(authorize));
  expect(
    ended.map((one) =>
      one.status === 'fulfilled'
        ? one.value.decision
        : /null value in column "request_hash"/.exec(one.reason.message)?.[0],
    ),
  ).toEqual(['approved', 'approved', 'null value in column "request_hash"', 'approved']);
  await Promise.all(lanes);
  expect(await rowsOf('decisions', payers[2] as Payer)).toEqual([]);
});

test('a fault in the decision of one item leaves that item alone', async () => {
  const [bad, good] = [await aPayer(world), await aPayer(world)];
  const charge = aCharge(bad);
  const { merchant } = charge.message;
  const faulty = { ...charge, message: { ...charge.message, merchant: { ...merchant, country: 'nowhere' } } };
  expect(await batchOf([faulty, aCharge(good)])).toEqual([alone, 'approved within_rules']);
});

test('repeats in one burst and in two processes give one hold and one answer, and another message of the id is refused', async () => {
  const payer = await aPayer(world);
  const [one, two] = [authorizeCard(depsOf(here)), authorizeCard(depsOf(elsewhere))];
  const charge = aCharge(payer);
  const answers = await Promise.all([one, two, one, two, one, two].map((authorize) => authorize(charge)));
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  expect((await balancesOf(world, payer)).held).toBe(1_250);
  await expect(one({ ...charge, requestHash: 'other' })).rejects.toMatchObject({ code: 'idempotency_conflict' });
  expect(await rowsOf('transactions', payer)).toHaveLength(1);
});

test('two processes decide for the same cards at once: no deadlock, no decline by contention, the limit to the cent', async () => {
  const hot = await aPayer(world, { fundsCents: 1_000_000, policy: { daily_limit_cents: 12_500 } });
  const sibling = await aSibling(hot, { daily_limit_cents: 12_500 });
  const processes = [authorizeCard(depsOf(here)), authorizeCard(depsOf(elsewhere))];
  const answers = await Promise.all(
    Array.from({ length: 48 }, (_, i) => processes[i % 2]?.(aCharge(i % 4 < 2 ? hot : sibling))),
  );
  const told = answers.map((answer) => `${answer?.decision} ${answer?.rule}`);
  expect(told.filter((one) => one === 'approved within_rules')).toHaveLength(20);
  expect(told.filter((one) => one === 'declined daily_limit')).toHaveLength(28);
  expect((await balancesOf(world, hot)).held).toBe(25_000);
  const [spent] = await world.sql('select revision from agent_spending where agent_id = $1', [hot.agentId]);
  expect(Number(spent?.revision)).toBeGreaterThanOrEqual(10);
});

test('ten agents share one wallet, in two processes: with money for all of them, none is declined for contention', async () => {
  const first = await aPayer(world, { fundsCents: 60 * 1_250 });
  const agents = [first, ...(await Promise.all(Array.from({ length: 9 }, () => aSibling(first))))];
  const processes = [authorizeCard(depsOf(here)), authorizeCard(depsOf(elsewhere))];
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, i) => processes[i % 2]?.(aCharge(agents[i % 10] as Payer))),
  );
  const told = new Set(answers.map((answer) => `${answer?.decision} ${answer?.rule}`));
  expect([...told]).toEqual(['approved within_rules']);
  expect(await balancesOf(world, first)).toEqual({ available: 0, held: 60 * 1_250, receivable: 0 });
  for (const agent of agents) expect(await rowsOf('decisions', agent)).toHaveLength(6);
});

test('a connection that dies in the middle of a batch leaves nothing, and the repeat of each message is decided', async () => {
  const payers = await Promise.all([1, 2, 3].map(() => aPayer(world)));
  const charges = payers.map((payer) => aCharge(payer));
  await batchOf(payers.map((payer) => aCharge(payer)));
  await world.sql(`alter function apply_authorizations(jsonb) reset lock_timeout`);
  const client = new pg.Client({ connectionString: world.config.DATABASE_URL });
  await client.connect();
  try {
    await client.query('begin');
    // The last account in name order: everything else of the batch is locked by then.
    const last = payers.toSorted((a, b) => (a.walletId < b.walletId ? 1 : -1))[0] as Payer;
    await lockAccount(client, last, 'held');
    const batch = batchOf(charges).catch(({ code, message }) => code ?? message);
    const [pid] = await someoneWaits(world, { statement: 'apply_authorizations' });
    await world.sql('select pg_terminate_backend($1)', [pid]);
    expect(await batch).toBe('57P01');
    await client.query('rollback');
  } finally {
    await client.end();
    await world.sql(`alter function apply_authorizations(jsonb) set lock_timeout = '250ms'`);
  }
  for (const payer of payers) expect(await rowsOf('transactions', payer)).toHaveLength(1);
  expect(await batchOf(charges)).toEqual(['approved within_rules', 'approved within_rules', 'approved within_rules']);
  expect(await batchOf(charges)).toEqual(['approved within_rules', 'approved within_rules', 'approved within_rules']);
  for (const payer of payers) expect((await balancesOf(world, payer)).held).toBe(2_500);
});

test('a batch waits a quarter of a second for an account and then leaves its items, which wait by themselves', async () => {
  const [payer, stranger] = [await aPayer(world), await aPayer(world, { policy: { max_transaction_cents: 2_000 } })];
  await batchOf([aCharge(payer), aCharge(stranger)]);
  const client = new pg.Client({ connectionString: world.config.DATABASE_URL });
  await client.connect();
  await client.query('begin');
  await lockAccount(client, payer, 'available');
  const sibling = await aSibling(payer);
  const charges = [payer, stranger, sibling].map((one) => aCharge(one));
  expect(await batchOf([...charges, aCharge(stranger, { amountCents: 2_001 })])).toEqual([
    alone,
    'approved within_rules',
    alone,
    'again',
  ]);
  // Alone it waits no longer than is allowed, and holds nothing.
  const brief = authorizeCard({ ...depsOf(here), mostWaitMs: 300 });
  const late = aCharge(payer);
  await expect(brief(late)).rejects.toMatchObject({
    code: 'unavailable',
    message:
      'another change held what this authorization needs for 300 ms; nothing is held, and the network may send it again',
  });
  const { id: authorizationId, cardRef } = late.message;
  const advice = {
    id: `adv_${authorizationId}`,
    authorization: late.message,
    approvedCents: 100,
    authorizationId,
    cardRef,
  };
  const booking = bookAdvice({ ...depsOf(here), mostWaitMs: 300 })({ ...late, message: advice, authorization: late });
  await expect(booking).rejects.toMatchObject({ code: 'unavailable' });
  expect(await world.sql('select from network_messages where authorization_id = $1', [authorizationId])).toEqual([]);
  const answer = authorizeCard(depsOf(here))(aCharge(payer));
  await client.query('rollback');
  await client.end();
  expect(await answer).toMatchObject({ decision: 'approved' });
});

type Wish = {
  readonly agent: number;
  readonly amountCents: number;
  readonly partialSupported: boolean;
  readonly shop: boolean;
};
const aWish: fc.Arbitrary<Wish> = fc.record({
  agent: fc.nat(3),
  amountCents: fc.integer({ min: 1, max: 1_200 }),
  partialSupported: fc.boolean(),
  shop: fc.boolean(),
});

/** Two agents of one wallet, one with intents, one with separate money. */
async function aCast(): Promise<Payer[]> {
  const one = await aPayer(world, { fundsCents: 2_500, policy: { daily_limit_cents: 2_000 } });
  const two = await aSibling(one, { cooldown_minutes: 5 });
  const three = await aPayer(world, { fundsCents: 1_500, policy: { require_intent: true } });
  for (const amountCents of [500, 900]) await anIntent(world, three, { amountCents });
  return [one, two, three, await aPayer(world, { fundsCents: 3_000, card: { usage: 'single' } })];
}

const standing = async (cast: readonly Payer[]) =>
  Promise.all(
    cast.map(async (payer) => ({
      money: await balancesOf(world, payer),
      intents: (
        await world.sql('select status from intents where agent_id = $1 order by created_at, id', [payer.agentId])
      ).length,
      open: await world.sql(
        `select expected_amount_cents::int as cents from intents
         where agent_id = $1 and matched_transaction_id is null order by 1`,
        [payer.agentId],
      ),
      spent: await world.sql(
        'select sum(spent_cents)::int as cents, sum(payments)::int as payments from spending_days where agent_id = $1',
        [payer.agentId],
      ),
      told: await world.sql(`select name, count(*)::int from events where agent_id = $1 group by 1 order by 1`, [
        payer.agentId,
      ]),
    })),
  );

test('one batch of n equals n batches of one, in the order in which they ended', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(aWish, { minLength: 2, maxLength: 12 }), async (wishes) => {
      const [together, apart] = [await aCast(), await aCast()];
      const chargeOf = (cast: readonly Payer[], { agent, shop, ...over }: Wish) =>
        aCharge(cast[agent] as Payer, {
          ...over,
          merchant: { id: 'sandbox-shop', name: shop ? 'Sandbox Shop' : 'Elsewhere', mcc: '5734', country: 'DE' },
        });
      const ended: [Wish, string][] = [];
      let waiting = wishes.map((wish) => [wish, chargeOf(together, wish)] as const);
      for (let round = 0; waiting.length > 0; round++) {
        expect(round).toBeLessThan(wishes.length);
        const outcomes = await batchOf(waiting.map(([, charge]) => charge));
        for (const [i, outcome] of outcomes.entries())
          if (outcome !== 'again') ended.push([waiting[i]?.[0] as Wish, outcome]);
        waiting = waiting.filter((_, i) => outcomes[i] === 'again');
      }
      const one: string[] = [];
      for (const [wish] of ended) one.push(...(await batchOf([chargeOf(apart, wish)])));
      expect(ended.map(([, outcome]) => outcome)).toEqual(one);
      expect(await standing(together)).toEqual(await standing(apart));
    }),
    { numRuns: 12 },
  );
});
