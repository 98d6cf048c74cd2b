/**
 * Advices: what the network approved by itself. Before, after and without the authorization; above limits and money; in
 * any order with clearing and reversal; repeated, and of another or an unknown card. Real HTTP, rows and book.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type Authorized,
  anIntent,
  aPayer,
  balancesOf,
  brokenInvariants,
  networkOf,
  type Payer,
} from '../../support/payments-world.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
let network: ReturnType<typeof networkOf>;
beforeAll(async () => {
  world = await startWorld();
  network = networkOf(world);
});
afterAll(async () => {
  expect(await brokenInvariants(world)).toEqual([]);
  await world.close();
});

const signalsOf = async (payer: Payer) =>
  (
    await world.sql<{ signals: string[] }>(
      `select data -> 'signals' as signals from events where agent_id = $1 and name = 'risk.alert_created' order by seq`,
      [payer.agentId],
    )
  ).map(({ signals }) => signals);

test('within the rules: held, matched with its intent, and the late authorization gets the same answer', async () => {
  const payer = await aPayer(world, { fundsCents: 5_000, policy: { require_intent: true } });
  const intentId = await anIntent(world, payer);
  const message = network.authorizationOf(payer);
  const advice = { id: randomUUID() };
  const first = await network.advise(message, advice);
  expect(first).toMatchObject({ status: 200, body: { transactionId: expect.stringMatching(/^tx_/) } });
  expect(await network.advise(message, advice)).toEqual(first);
  expect((await network.advise(message, { ...advice, approvedCents: 1_249 })).status).toBe(409);
  expect(await balancesOf(world, payer)).toEqual({ available: 3_750, held: 1_250, receivable: 0 });
  const late = await network.send<Authorized>('authorizations', message);
  expect(late.body).toMatchObject({ decision: 'approved', approvedCents: 1_250, ...first.body });
  expect(await balancesOf(world, payer)).toEqual({ available: 3_750, held: 1_250, receivable: 0 });
  expect(await signalsOf(payer)).toEqual([['approved_by_network']]);
  const [intent] = await world.sql('select matched_transaction_id as matched from intents where id = $1', [intentId]);
  expect(intent).toEqual({ matched: first.body.transactionId });
});

test('above the limits and the money: held is what there is, and the clearing leaves the rest owed', async () => {
  const payer = await aPayer(world, { fundsCents: 1_000, card: { max_transaction_cents: 500 } });
  const message = network.authorizationOf(payer);
  await network.advise(message);
  expect(await balancesOf(world, payer)).toEqual({ available: 0, held: 1_000, receivable: 0 });
  expect(await signalsOf(payer)).toEqual([['approved_by_network', 'refused_by_rules']]);
  await network.clear(payer, { authorizationId: message.id });
  expect(await balancesOf(world, payer)).toEqual({ available: 0, held: 0, receivable: 250 });
});

test('that Bursar had approved as well: nothing is held twice', async () => {
  const payer = await aPayer(world, { fundsCents: 5_000 });
  const message = network.authorizationOf(payer);
  const { body } = await network.send<Authorized>('authorizations', message);
  expect((await network.advise(message)).body).toEqual({ transactionId: body.transactionId });
  expect(await balancesOf(world, payer)).toEqual({ available: 3_750, held: 1_250, receivable: 0 });
  expect(await signalsOf(payer)).toEqual([]);
});

test('that Bursar had declined: held now, and collected later', async () => {
  const payer = await aPayer(world, { fundsCents: 5_000, card: { max_transaction_cents: 500 } });
  const message = network.authorizationOf(payer);
  const { body } = await network.send<Authorized>('authorizations', message);
  expect(body.decision).toBe('declined');
  expect((await network.advise(message)).body).toEqual({ transactionId: body.transactionId });
  expect(await balancesOf(world, payer)).toEqual({ available: 3_750, held: 1_250, receivable: 0 });
  expect(await signalsOf(payer)).toEqual([['approved_by_network', 'refused_by_rules']]);
  await network.clear(payer, { authorizationId: message.id });
  expect(await balancesOf(world, payer)).toEqual({ available: 3_750, held: 0, receivable: 0 });
  const [row] = await world.sql('select status, cleared_cents::int as cleared from transactions where id = $1', [
    body.transactionId,
  ]);
  expect(row).toEqual({ status: 'completed', cleared: 1_250 });
});

test('that Bursar had approved in part: the rest is held too', async () => {
  const payer = await aPayer(world, { fundsCents: 5_000, card: { max_transaction_cents: 500 } });
  const message = network.authorizationOf(payer, { partialSupported: true });
  const { body } = await network.send<Authorized>('authorizations', message);
  expect(body).toMatchObject({ decision: 'partial', approvedCents: 500 });
  await network.advise(message);
  expect(await balancesOf(world, payer)).toEqual({ available: 3_750, held: 1_250, receivable: 0 });
});

describe('in any order with the clearing', () => {
  const orders = [
    ['authorization', 'advice', 'clearing'],
    ['authorization', 'clearing', 'advice'],
    ['advice', 'authorization', 'clearing'],
    ['advice', 'clearing', 'authorization'],
    ['clearing', 'advice', 'authorization'],
    ['clearing', 'authorization', 'advice'],
  ] as const;

  test.each(orders)('%s, %s, %s: collected once, and the intent is paid', async (...order) => {
    const payer = await aPayer(world, { fundsCents: 5_000, policy: { require_intent: true } });
    const intentId = await anIntent(world, payer);
    const message = network.authorizationOf(payer);
    const ids = { advice: randomUUID(), clearing: randomUUID() };
    const say = {
      authorization: () => network.send<object>('authorizations', message),
      advice: () => network.advise(message, { id: ids.advice }),
      clearing: () => network.clear(payer, { id: ids.clearing, authorizationId: message.id }),
    };
    for (const kind of [...order, ...order]) expect((await say[kind]()).status).toBe(200);
    expect(await balancesOf(world, payer)).toEqual({ available: 3_750, held: 0, receivable: 0 });
    const [intent] = await world.sql('select status from intents where id = $1', [intentId]);
    expect(intent).toEqual({ status: 'completed' });
  });

  test.each([
    ['authorization', 'reversal', 'advice'],
    ['reversal', 'authorization', 'advice'],
    ['reversal', 'advice', 'authorization'],
    ['advice', 'reversal', 'authorization'],
  ] as const)('%s, %s, %s: what was reversed is not held', async (...order) => {
    const payer = await aPayer(world, { fundsCents: 5_000, card: { max_transaction_cents: 500 } });
    const message = network.authorizationOf(payer);
    const say = {
      authorization: () => network.send<object>('authorizations', message),
      advice: () => network.advise(message),
      reversal: () => network.reverse(payer, { authorizationId: message.id }),
    };
    for (const kind of order) expect((await say[kind]()).status).toBe(200);
    expect(await balancesOf(world, payer)).toEqual({ available: 5_000, held: 0, receivable: 0 });
  });
});

test('of an unknown card nothing is held, and it is answered', async () => {
  const payer = { ...(await aPayer(world)), cardRef: `cr_${randomUUID()}` };
  const message = network.authorizationOf(payer);
  expect(await network.advise(message)).toEqual({ status: 200, body: { transactionId: null } });
  const late = await network.send<Authorized>('authorizations', message);
  expect(late.body).toMatchObject({ decision: 'declined', rule: 'unknown_card' });
});

test('of another card than its authorization it is kept unbooked and answered 409', async () => {
  const [payer, other] = [await aPayer(world), await aPayer(world, { fundsCents: 5_000 })];
  const message = network.authorizationOf(payer);
  await network.send('authorizations', message);
  const advice = { id: randomUUID() };
  const first = await network.advise({ ...message, cardRef: other.cardRef }, advice);
  expect(first.status).toBe(409);
  expect(await network.advise({ ...message, cardRef: other.cardRef }, advice)).toEqual(first);
  expect(await balancesOf(world, other)).toEqual({ available: 5_000, held: 0, receivable: 0 });
});
