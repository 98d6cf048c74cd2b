/**
 * Goal: holds that have grown too old are given back in bulk, each once and whole, whatever happens at the same time.
 * Method: real HTTP, several owners in one sweep, two sweeps at once, and clearings that are made to come before and
 * during a sweep by locks that the test holds.
 * @module
 */
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { deadlocksIn } from '../../support/deadlocks.ts';
import { someoneWaits } from '../../support/lock-waits.ts';
import {
  anIntent,
  aPayer,
  balancesOf,
  brokenInvariants,
  expireIn,
  networkOf,
  type Payer,
} from '../../support/payments-world.ts';
import { eventually, startWorld, type World } from '../../support/world.ts';

let world: World;
let network: ReturnType<typeof networkOf>;
beforeAll(async () => {
  world = await startWorld();
  network = networkOf(world);
});
afterEach(async () => {
  expect(await brokenInvariants(world)).toEqual([]);
});
afterAll(async () => {
  expect(await deadlocksIn(world)).toBe(0);
  await world.close();
});

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);

async function authorized(payer: Payer) {
  const message = network.authorizationOf(payer);
  const { body } = await network.send<{ transactionId: string; decision: string }>('authorizations', message);
  expect(body.decision).toBe('approved');
  return { authorizationId: message.id, transactionId: body.transactionId };
}

/** As many payers as payments, each with an intent that its payment is matched with. */
const payments = (count: number) =>
  Promise.all(
    Array.from({ length: count }, async () => {
      const payer = await aPayer(world, { fundsCents: 5_000, policy: { require_intent: true } });
      const intentId = await anIntent(world, payer, { ttlMs: 30 * 86_400_000 });
      return { payer, intentId, ...(await authorized(payer)) };
    }),
  );

/** What one transaction has of its expiry: each of these is written once. */
const tracesOf = (transactionId: string) =>
  world.sql(
    `select t.status, t.held_cents::int as held, t.reversed_cents::int as reversed,
       (select count(*)::int from transaction_events where transaction_id = t.id and kind = 'expiry') as expiries,
       (select count(*)::int from journals where reference_id = t.id and kind = 'hold_expiry') as journals,
       (select count(*)::int from events where subject_id = t.id and name = 'transaction.updated') as events,
       (select count(*)::int from audit where subject_id = t.id and action = 'transaction.updated') as audits,
       (select count(*)::int from transitions where noun = 'transaction' and row_id = t.id and to_status = 'reversed') as moves
     from transactions t where t.id = $1`,
    [transactionId],
  );
const once = { expiries: 1, journals: 1, events: 1, audits: 1, moves: 1 };
const givenBack = { status: 'reversed', held: 0, reversed: 1_250, ...once };

test('more holds than one batch takes, by two sweeps at once: each is given back once, with its intent', async () => {
  const paid = await payments(6);
  const [first] = paid;
  if (first === undefined) throw new Error('nothing was paid');
  const busy = await aPayer(world, { fundsCents: 1_000_000 });
  const ofBusy: string[] = [];
  for (let n = 0; n < 100; n++) ofBusy.push((await authorized(busy)).transactionId);
  await world.sql(`update workflow_runs set wanted_wake = false where id = $1`, [`intent/${first.intentId}`]);
  await Promise.all([expireIn(world, inDays(7.1)), expireIn(world, inDays(7.1))]);
  for (const id of [...paid.map(({ transactionId }) => transactionId), ...ofBusy]) {
    expect(await tracesOf(id)).toEqual([givenBack]);
  }
  for (const { payer, intentId } of paid) {
    expect(await balancesOf(world, payer)).toEqual({ available: 5_000, held: 0, receivable: 0 });
    expect(
      await world.sql('select status, matched_transaction_id as payer from intents where id = $1', [intentId]),
    ).toEqual([{ status: 'approved', payer: null }]);
  }
  expect(
    await world.sql('select wanted_wake, is_open from workflow_runs where id = $1', [`intent/${first.intentId}`]),
  ).toEqual([{ wanted_wake: true, is_open: true }]);
  expect(await balancesOf(world, busy)).toEqual({ available: 1_000_000, held: 0, receivable: 0 });
  expect((await expireIn(world, inDays(7.1))).holds).toBe(0);
});

/** Until `meanwhile` is done, another transaction keeps that row. */
async function whileLocked(lock: string, id: string, meanwhile: () => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: world.ownerUrl });
  await client.connect();
  try {
    await client.query('begin');
    await client.query(lock, [id]);
    await meanwhile();
  } finally {
    await client.end(); // Ends the transaction too.
  }
}

test('a clearing that was there first is booked, and the sweep gives back the holds beside it', async () => {
  const [collected, old] = await payments(2);
  if (collected === undefined || old === undefined) throw new Error('nothing was paid');
  let cleared: Promise<{ status: number }> | undefined;
  let swept: Promise<unknown> | undefined;
  await whileLocked('select 1 from cards where id = $1 for update', collected.payer.cardId, async () => {
    cleared = network.clear(collected.payer, { authorizationId: collected.authorizationId });
    await someoneWaits(world);
    swept = expireIn(world, inDays(7.1));
    await someoneWaits(world, { count: 2 });
  });
  expect((await cleared)?.status).toBe(200);
  await swept;
  expect(await tracesOf(collected.transactionId)).toMatchObject([{ status: 'completed', expiries: 0, journals: 0 }]);
  expect(await balancesOf(world, collected.payer)).toEqual({ available: 3_750, held: 0, receivable: 0 });
  expect(await tracesOf(old.transactionId)).toEqual([givenBack]);
});

test('a clearing that comes while its hold is given back waits for it, and is booked without the hold', async () => {
  const [collected] = await payments(1);
  if (collected === undefined) throw new Error('nothing was paid');
  let cleared: Promise<{ status: number }> | undefined;
  let swept: Promise<unknown> | undefined;
  const account = `wallet:${collected.payer.walletId}:available`;
  await whileLocked('select 1 from ledger_accounts where name = $1 for update', account, async () => {
    swept = expireIn(world, inDays(7.1), { lockWaitMs: 60_000 });
    await someoneWaits(world);
    cleared = network.clear(collected.payer, { authorizationId: collected.authorizationId });
    await someoneWaits(world, { count: 2 });
  });
  await swept;
  expect((await cleared)?.status).toBe(200);
  expect(await tracesOf(collected.transactionId)).toMatchObject([{ status: 'completed', expiries: 1, journals: 1 }]);
  expect(await balancesOf(world, collected.payer)).toEqual({ available: 3_750, held: 0, receivable: 0 });
  expect(
    await world.sql('select status, matched_transaction_id as payer from intents where id = $1', [collected.intentId]),
  ).toEqual([{ status: 'completed', payer: collected.transactionId }]);
});

test("one owner's lock keeps a sweep waiting for that owner's hold alone: the others of its batch pay meanwhile", async () => {
  const paid = (await payments(2)).sort((one, other) => (one.payer.agentId < other.payer.agentId ? -1 : 1));
  const [free, stalled] = paid;
  if (free === undefined || stalled === undefined) throw new Error('nothing was paid');
  // The batch locks agents by their ids, and so has the first one's lock while it waits for the second one's.
  await world.sql('update transactions set hold_expires_at = $1 where id = $2', [inDays(7), stalled.transactionId]);
  await world.sql('update transactions set hold_expires_at = $1 where id = $2', [inDays(7.01), free.transactionId]);
  let swept: Promise<unknown> | undefined;
  const lock = 'update agent_spending set revision = revision + 1 where agent_id = $1';
  await whileLocked(lock, stalled.payer.agentId, async () => {
    swept = expireIn(world, inDays(7.1), { lockWaitMs: 60_000 });
    await someoneWaits(world);
    await anIntent(world, free.payer, { ttlMs: 30 * 86_400_000 });
    const again = await eventually(
      () => network.send<{ decision?: string }>('authorizations', network.authorizationOf(free.payer)),
      ({ status }) => status === 200,
    );
    expect(again.body.decision).toBe('approved');
  });
  await swept;
  for (const { transactionId } of paid) expect(await tracesOf(transactionId)).toEqual([givenBack]);
});

test('a lock that is kept for long keeps one hold from its sweep: the others are given back, and the next sweep takes it', async () => {
  const paid = await payments(3);
  const [stalled, ...others] = paid;
  if (stalled === undefined) throw new Error('nothing was paid');
  // The first in the order of the sweep, so that all others come after it.
  await world.sql('update transactions set hold_expires_at = $1 where id = $2', [inDays(6.9), stalled.transactionId]);
  const lock = 'update agent_spending set revision = revision + 1 where agent_id = $1';
  await whileLocked(lock, stalled.payer.agentId, async () => {
    await expect(expireIn(world, inDays(7.1))).rejects.toThrow('1 of what has aged failed');
    for (const { transactionId } of others) expect(await tracesOf(transactionId)).toEqual([givenBack]);
  });
  expect((await expireIn(world, inDays(7.1))).holds).toBe(1);
  expect(await tracesOf(stalled.transactionId)).toEqual([givenBack]);
});

test('an intent whose payment is given back is paid by what was collected for it, also in one batch', async () => {
  const card = { max_transaction_cents: 500 };
  const payer = await aPayer(world, { fundsCents: 5_000, policy: { require_intent: true }, card });
  const intentId = await anIntent(world, payer, { ttlMs: 30 * 86_400_000 });
  const message = network.authorizationOf(payer);
  const declined = await network.send<{ transactionId: string; decision: string }>('authorizations', message);
  expect(declined.body.decision).toBe('declined');
  await world.sql('update cards set max_transaction_cents = null, version = version + 1 where id = $1', [payer.cardId]);
  const matched = await authorized(payer);
  await network.clear(payer, { authorizationId: message.id, amountCents: 600, final: false });
  const payerOf = () =>
    world.sql('select status, matched_transaction_id as payer from intents where id = $1', [intentId]);
  expect(await payerOf()).toEqual([{ status: 'approved', payer: matched.transactionId }]);
  await expireIn(world, inDays(20));
  expect(await tracesOf(matched.transactionId)).toEqual([givenBack]);
  expect(await payerOf()).toEqual([{ status: 'completed', payer: declined.body.transactionId }]);
});

test('one transaction gives back all of a batch, and one that cannot be booked is left out alone', async () => {
  const paid = await payments(4);
  const ids = paid.map(({ transactionId }) => transactionId);
  const transactions = async () =>
    (await world.sql('select distinct xmin::text from transactions where id = any($1)', [ids])).length;
  await expireIn(world, inDays(7.1));
  for (const id of ids) expect(await tracesOf(id)).toEqual([givenBack]);
  expect(await transactions()).toBe(1);
  const [broken, ...fine] = await payments(3);
  if (broken === undefined) throw new Error('nothing was paid');
  await world.sql('update transactions set intent_id = $1 where id = $2', ['int_nowhere', broken.transactionId]);
  await expect(expireIn(world, inDays(7.1))).rejects.toThrow('1 of what has aged failed');
  for (const { transactionId } of fine) expect(await tracesOf(transactionId)).toEqual([givenBack]);
  expect((await balancesOf(world, broken.payer)).held).toBe(1_250);
  await world.sql('update transactions set intent_id = $1 where id = $2', [broken.intentId, broken.transactionId]);
  await expireIn(world, inDays(7.1));
  expect(await tracesOf(broken.transactionId)).toEqual([givenBack]);
});
