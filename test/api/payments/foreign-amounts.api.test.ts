/**
 * What a merchant abroad charges, in its own currency, by each message of the network: kept with the payment's event,
 * shown as it was sent, and never converted. Real HTTP, rows and book.
 * @module
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createClient, sendTo } from '../../../src/client/client.ts';
import { transactionsArea } from '../../../src/domains/payments/transactions/transaction.contract.ts';
import { bookOrphanClearings } from '../../../src/usecases/payments/book-orphan-clearings.ts';
import {
  type Authorized,
  aPayer,
  balancesOf,
  brokenInvariants,
  inDatabase,
  networkOf,
  type Payer,
  sandboxShop,
} from '../../support/payments-world.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
let network: ReturnType<typeof networkOf>;
let payer: Payer;
beforeAll(async () => {
  world = await startWorld();
  network = networkOf(world);
  payer = await aPayer(world);
});
afterEach(async () => {
  expect(await brokenInvariants(world)).toEqual([]);
});
afterAll(async () => {
  await world.close();
});

const dollars = (merchantAmount: number) => ({ merchantAmount, merchantCurrency: 'USD' });
const nothing = { merchantAmount: null, merchantCurrency: null };
const shown = (id: string | null) =>
  createClient(transactionsArea, sendTo(world.apiUrl, payer.owner.key)).getTransaction({ params: { id: id as never } });
const ownOf = async (id: string | null) => {
  const { merchantAmount, merchantCurrency } = await shown(id);
  return { merchantAmount, merchantCurrency };
};
const eventsOf = async (id: string | null) =>
  (await shown(id)).events.map(({ kind, merchantAmount, merchantCurrency }) => [
    kind,
    merchantAmount,
    merchantCurrency,
  ]);
const authorized = async (over: Record<string, unknown> = {}) => {
  const message = network.authorizationOf(payer, over);
  const { status, body } = await network.send<Authorized>('authorizations', message);
  expect(status).toBe(200);
  return { message, authorizationId: message.id, transactionId: body.transactionId };
};

test('every message of a payment shows its own amount; the payment shows that of its authorization', async () => {
  const { authorizationId, transactionId } = await authorized(dollars(13.37));
  await network.increment(payer, { authorizationId, amountCents: 500, ...dollars(5.35) });
  await network.reverse(payer, { authorizationId, amountCents: 250, ...dollars(2.67) });
  await network.clear(payer, { authorizationId, amountCents: 500, final: false, ...dollars(5.4) });
  await network.clear(payer, { authorizationId, amountCents: 1_000, final: true });
  const refunded = await network.refund(payer, { authorizationId, amountCents: 500, ...dollars(5.5) });
  expect(await eventsOf(transactionId)).toEqual([
    ['authorization', 13.37, 'USD'],
    ['increment', 5.35, 'USD'],
    ['reversal', 2.67, 'USD'],
    ['clearing', 5.4, 'USD'],
    ['clearing', null, null],
  ]);
  expect(await shown(transactionId)).toMatchObject({ ...dollars(13.37), currency: 'EUR', clearedEuros: 15 });
  expect(await shown(refunded.body.transactionId)).toMatchObject({ ...dollars(5.5), type: 'refund', amountEuros: 5 });
  expect(await eventsOf(refunded.body.transactionId)).toEqual([['refund', 5.5, 'USD']]);
});

test('a list shows the same as the record', async () => {
  const { transactionId } = await authorized({ ...dollars(99_999_999_999.9999) });
  const { data } = await createClient(transactionsArea, sendTo(world.apiUrl, payer.owner.key)).listTransactions();
  expect(data.find(({ id }) => id === transactionId)).toEqual(await shown(transactionId));
  expect(await eventsOf(transactionId)).toEqual([['authorization', 99_999_999_999.9999, 'USD']]);
});

test('declined charges and declined increments keep what was asked for', async () => {
  const { transactionId } = await authorized({ amountCents: 99_000_000, ...dollars(1_058_823.53) });
  expect(await shown(transactionId)).toMatchObject({ status: 'failed', ...dollars(1_058_823.53) });
  expect(await eventsOf(transactionId)).toEqual([['authorization', 1_058_823.53, 'USD']]);
  const held = await authorized();
  await network.increment(payer, {
    authorizationId: held.authorizationId,
    amountCents: 99_000_000,
    ...dollars(1_000_000),
  });
  expect(await eventsOf(held.transactionId)).toEqual([
    ['authorization', null, null],
    ['increment', 1_000_000, 'USD'],
  ]);
});

describe('an advice carries the amounts of its authorization', () => {
  test('where it stands for the authorization, the payment has them, and gives the authorization its answer', async () => {
    const message = network.authorizationOf(payer, dollars(13.37));
    const { body } = await network.advise(message);
    expect(await ownOf(body.transactionId)).toEqual(dollars(13.37));
    expect(await eventsOf(body.transactionId)).toEqual([
      ['authorization', 13.37, 'USD'],
      ['advice', 13.37, 'USD'],
    ]);
    expect((await network.send<Authorized>('authorizations', message)).body.transactionId).toBe(body.transactionId);
    const other = await network.send('authorizations', { ...message, merchantAmount: 13.38 });
    expect(other.status).toBe(409);
  });

  test('where the authorization was answered, its event has them', async () => {
    const { message, transactionId } = await authorized({ amountCents: 99_000_000 });
    await network.advise({ ...message, ...dollars(7) }, { approvedCents: 700 });
    expect(await ownOf(transactionId)).toEqual(nothing);
    expect(await eventsOf(transactionId)).toEqual([
      ['authorization', null, null],
      ['advice', 7, 'USD'],
    ]);
  });
});

describe('a message that waits for its authorization keeps them', () => {
  test('until it comes', async () => {
    const message = network.authorizationOf(payer, { amountCents: 2_000, ...dollars(21) });
    const { id: authorizationId } = message;
    await network.clear(payer, { authorizationId, amountCents: 500, final: false, ...dollars(5.25) });
    await network.reverse(payer, { authorizationId, amountCents: 300, ...dollars(3.15) });
    const refunded = { id: `ref_${authorizationId}`, authorizationId, amountCents: 100, ...dollars(1.05) };
    await network.refund(payer, refunded);
    const { body } = await network.send<Authorized>('authorizations', message);
    expect(await ownOf(body.transactionId)).toEqual(dollars(21));
    expect(await eventsOf(body.transactionId)).toEqual([
      ['authorization', 21, 'USD'],
      ['clearing', 5.25, 'USD'],
      ['reversal', 3.15, 'USD'],
    ]);
    const [refund] = await world.sql<{ id: string }>('select id from transactions where original_transaction_id = $1', [
      body.transactionId,
    ]);
    expect(await shown(refund?.id ?? '')).toMatchObject(dollars(1.05));
  });

  test('or a day is over: the payment has none of its own until its authorization comes', async () => {
    const message = network.authorizationOf(payer, { amountCents: 1_250, ...dollars(13.37) });
    const { id: authorizationId } = message;
    const orphan = `auth_none_${authorizationId}`;
    await network.clear(payer, { authorizationId, amountCents: 500, final: false, ...dollars(5.25) });
    await network.refund(payer, { id: orphan, authorizationId: orphan, amountCents: 100, ...dollars(1.05) });
    const later = new Date(Date.now() + 2 * 86_400_000);
    await inDatabase(world, async (database) => {
      expect((await bookOrphanClearings({ database })(later)).failures).toEqual([]);
    });
    const [booked] = await world.sql<{ id: string }>('select id from transactions where authorization_id = $1', [
      authorizationId,
    ]);
    const id = booked?.id ?? '';
    expect(await ownOf(id)).toEqual(nothing);
    expect(await eventsOf(id)).toEqual([['clearing', 5.25, 'USD']]);
    const [refund] = await world.sql<{ id: string }>('select id from transactions where issuer_settlement_id = $1', [
      orphan,
    ]);
    expect(await ownOf(refund?.id ?? '')).toEqual(dollars(1.05));
    expect((await network.send<Authorized>('authorizations', message)).body.transactionId).toBe(id);
    expect(await ownOf(id)).toEqual(dollars(13.37));
    expect(await eventsOf(id)).toEqual([
      ['clearing', 5.25, 'USD'],
      ['authorization', 13.37, 'USD'],
    ]);
  });
});

const about = (authorizationId: string) => ({ id: `m_${authorizationId}`, authorizationId, cardRef: payer.cardRef });
const kinds = (authorizationId: string): [string, object][] => [
  ['authorizations', network.authorizationOf(payer)],
  ['increments', { ...about(authorizationId), amountCents: 500 }],
  ['clearings', { ...about(authorizationId), amountCents: 500, final: true, merchant: sandboxShop }],
  ['reversals', { ...about(authorizationId), amountCents: 500 }],
  ['refunds', { ...about(authorizationId), amountCents: 500 }],
];

test('another merchant amount or currency is another message; the same is answered again', async () => {
  const { authorizationId } = await authorized({ amountCents: 2_500 });
  const before = await balancesOf(world, payer);
  for (const [kind, message] of kinds(authorizationId)) {
    const first = await network.send(kind, { ...message, ...dollars(5.25) });
    expect([kind, first.status]).toEqual([kind, 200]);
    const after = await balancesOf(world, payer);
    expect([kind, await network.send(kind, { ...message, ...dollars(5.25) })]).toEqual([kind, first]);
    for (const over of [dollars(5.26), { merchantAmount: 5.25, merchantCurrency: 'CAD' }, {}])
      expect([kind, over, (await network.send(kind, { ...message, ...over })).status]).toEqual([kind, over, 409]);
    expect([kind, await balancesOf(world, payer)]).toEqual([kind, after]);
  }
  expect(await balancesOf(world, payer)).not.toEqual(before);
});

test('one without the other, a malformed currency and an amount that a number cannot keep are 400, and nothing is kept', async () => {
  const { authorizationId } = await authorized();
  const { id: _id, ...authorization } = network.authorizationOf(payer);
  const all: [string, object][] = kinds(authorizationId);
  const count = async () => (await world.sql('select count(*)::int as n from network_messages'))[0];
  const before = await count();
  const refused: [object, RegExp][] = [
    [{ merchantAmount: 5.25 }, /merchantCurrency.*goes together with merchantAmount: send both or neither/],
    [{ merchantCurrency: 'USD' }, /merchantCurrency.*goes together with merchantAmount: send both or neither/],
    [{ merchantAmount: 5.25, merchantCurrency: 'usd' }, /merchantCurrency.*ISO 4217/],
    [dollars(-1), /merchantAmount.*not negative/],
    [dollars(1.00001), /merchantAmount.*at most four of them decimals/],
    [dollars(1_234_567_890_123_456), /merchantAmount.*at most 15 digits/],
  ];
  for (const [over, why] of refused) {
    for (const [kind, message] of all) {
      const { status, body } = await network.send<{ error: string }>(kind, { ...message, ...over });
      expect([kind, over, status]).toEqual([kind, over, 400]);
      expect(body.error).toMatch(why);
    }
    const advised = await network.advise({ ...authorization, id: 'auth_in_advice', ...over });
    expect(advised.status).toBe(400);
  }
  expect(await count()).toEqual(before);
});

test('the largest and the smallest amounts come back as they were sent', async () => {
  for (const merchantAmount of [0, 0.0001, 0.1, 13.3, 1_000_000, 123_456_789_012_345, 99_999_999_999.9999]) {
    const { transactionId } = await authorized({ amountCents: 1, merchantAmount, merchantCurrency: 'CLF' });
    expect(await ownOf(transactionId)).toEqual({ merchantAmount, merchantCurrency: 'CLF' });
    expect(await eventsOf(transactionId)).toEqual([['authorization', merchantAmount, 'CLF']]);
  }
});
