/**
 * Refunds of the network: linked with the payment that they give back, or not; in any order, repeated, late, beyond
 * what was collected, to a closed agent, and of an unknown card. Real HTTP, rows and book.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { eventNamesOf } from '../../support/events.ts';
import { type Network, usePayments } from '../../support/payments-suite.ts';
import { type Authorized, aPayer, balancesOf, expireIn, journalsOf, type Payer } from '../../support/payments-world.ts';
import type { World } from '../../support/world.ts';

let world: World;
let network: Network;
usePayments((started) => {
  ({ world, network } = started);
});

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);

async function collected(payer: Payer, amountCents = 1_250) {
  const message = network.authorizationOf(payer);
  const { body } = await network.send<Authorized>('authorizations', message);
  await network.clear(payer, { authorizationId: message.id, amountCents });
  return { authorizationId: message.id, transactionId: body.transactionId ?? '' };
}

const transactionsOf = (payer: Payer) =>
  world.sql<{ id: string; type: string; status: string }>(
    `select id, type, status, amount_cents::int as amount, refunded_cents::int as refunded,
       original_transaction_id as original from transactions where agent_id = $1 order by type, created_at`,
    [payer.agentId],
  );

test('a part keeps the payment completed, and the rest makes it reversed; each is a separate transaction', async () => {
  const payer = await aPayer(world, { fundsCents: 5_000 });
  const { authorizationId, transactionId } = await collected(payer);
  const part = { id: `ref_${randomUUID()}`, authorizationId, amountCents: 400 };
  const first = await network.refund(payer, part);
  expect(first.status).toBe(200);
  expect(first.body.transactionId).toMatch(/^tx_/);
  expect(await network.refund(payer, part)).toEqual(first);
  expect((await network.refund(payer, { ...part, amountCents: 401 })).status).toBe(409);
  expect(await balancesOf(world, payer)).toEqual({ available: 4_150, held: 0, receivable: 0 });
  const of = (status: string, refunded: number, refunds: readonly number[]) => [
    { id: transactionId, type: 'capture', status, amount: 1_250, refunded, original: null },
    ...refunds.map((amount) => ({
      ...{ id: expect.any(String), type: 'refund', status: 'completed', amount, refunded: 0 },
      original: transactionId,
    })),
  ];
  expect(await transactionsOf(payer)).toEqual(of('completed', 400, [400]));
  await network.refund(payer, { authorizationId, amountCents: 850 });
  expect(await transactionsOf(payer)).toEqual(of('reversed', 1_250, [400, 850]));
  expect(await balancesOf(world, payer)).toEqual({ available: 5_000, held: 0, receivable: 0 });
  const [spent] = await world.sql('select sum(spent_cents)::int as cents from spending_days where agent_id = $1', [
    payer.agentId,
  ]);
  expect(spent).toEqual({ cents: 1_250 }); // A refund gives no limit back.
  const names = await eventNamesOf(world, payer.owner.ownerId);
  expect(names.filter((name) => name === 'transaction.refunded')).toHaveLength(2);
  expect(names).not.toContain('risk.alert_created');
});

describe('in any order with the authorization and the clearing', () => {
  const orders = [
    ['authorization', 'clearing', 'refund'],
    ['authorization', 'refund', 'clearing'],
    ['clearing', 'authorization', 'refund'],
    ['clearing', 'refund', 'authorization'],
    ['refund', 'authorization', 'clearing'],
    ['refund', 'clearing', 'authorization'],
  ] as const;

  test.each(orders)('%s, %s, %s ends the same', async (...order) => {
    const payer = await aPayer(world, { fundsCents: 5_000 });
    const message = network.authorizationOf(payer);
    const ids = { clearing: randomUUID(), refund: randomUUID() };
    const say = {
      authorization: () => network.send<object>('authorizations', message),
      clearing: () => network.clear(payer, { id: ids.clearing, authorizationId: message.id }),
      refund: () => network.refund(payer, { id: ids.refund, authorizationId: message.id }),
    };
    for (const kind of order) expect((await say[kind]()).status).toBe(200);
    // Everything again changes nothing.
    for (const kind of order) expect((await say[kind]()).status).toBe(200);
    expect(await balancesOf(world, payer)).toEqual({ available: 5_000, held: 0, receivable: 0 });
    expect(await transactionsOf(payer)).toMatchObject([
      { type: 'capture', status: 'reversed', refunded: 1_250 },
      { type: 'refund', status: 'completed', amount: 1_250 },
    ]);
  });
});

test('an authorization that never comes: credited after a day, without a link', async () => {
  const payer = await aPayer(world, { fundsCents: 5_000 });
  expect((await network.refund(payer, { authorizationId: randomUUID() })).body).toEqual({ transactionId: null });
  expect(await balancesOf(world, payer)).toEqual({ available: 5_000, held: 0, receivable: 0 });
  await expireIn(world, inDays(1.1));
  expect(await balancesOf(world, payer)).toEqual({ available: 6_250, held: 0, receivable: 0 });
  await expireIn(world, inDays(1.2));
  expect(await transactionsOf(payer)).toMatchObject([{ type: 'refund', amount: 1_250, original: null }]);
});

test('an authorization of another card, which is not known: it is kept unbooked', async () => {
  const payer = await aPayer(world, { fundsCents: 5_000 });
  const message = network.authorizationOf(payer, { cardRef: `cr_${randomUUID()}` });
  await network.refund(payer, { authorizationId: message.id });
  expect((await network.send<Authorized>('authorizations', message)).body.rule).toBe('unknown_card');
  await expireIn(world, inDays(1.1));
  expect(await balancesOf(world, payer)).toEqual({ available: 5_000, held: 0, receivable: 0 });
  expect(
    await world.sql('select kind, reason from unbooked_network_messages where card_ref = $1', [payer.cardRef]),
  ).toEqual([{ kind: 'refund', reason: 'other_card' }]);
});

test('a clearing and a refund whose authorization never comes belong together', async () => {
  const payer = await aPayer(world, { fundsCents: 5_000 });
  const authorizationId = randomUUID();
  await network.refund(payer, { authorizationId, amountCents: 400 });
  await network.clear(payer, { authorizationId });
  await expireIn(world, inDays(1.1));
  expect(await balancesOf(world, payer)).toEqual({ available: 4_150, held: 0, receivable: 0 });
  expect(await transactionsOf(payer)).toMatchObject([{ type: 'capture', refunded: 400 }, { type: 'refund' }]);
});

test('without an authorization it is credited at once, and settles what is owed first', async () => {
  const payer = await aPayer(world, { fundsCents: 1_250 });
  const { authorizationId } = await collected(payer);
  await network.clear(payer, { authorizationId, amountCents: 300 });
  expect((await balancesOf(world, payer)).receivable).toBe(300);
  expect((await network.refund(payer, { amountCents: 500 })).status).toBe(200);
  expect(await balancesOf(world, payer)).toEqual({ available: 200, held: 0, receivable: 0 });
  expect((await journalsOf(world, payer.owner.ownerId)).filter((kind) => kind === 'refund')).toHaveLength(1);
});

test.each([
  ['the last clearing', 4],
  ['a reversal', 10],
  ['its age', 10],
])(
  'more than is collected in the end: the alert comes with the end of the payment, by %s',
  async (end, beyondEuros) => {
    const payer = await aPayer(world, { fundsCents: 5_000 });
    const message = network.authorizationOf(payer);
    const { body } = await network.send<Authorized>('authorizations', message);
    const authorizationId = message.id;
    await network.refund(payer, { authorizationId, amountCents: 1_000 });
    const alerts = () =>
      world.sql<{ data: { signals: string[]; beyondEuros: number } }>(
        `select data from events where subject_id = $1 and name = 'risk.alert_created'`,
        [body.transactionId],
      );
    expect(await alerts()).toEqual([]);
    if (end === 'the last clearing') await network.clear(payer, { authorizationId, amountCents: 600, final: true });
    else if (end === 'a reversal') await network.reverse(payer, { authorizationId });
    else await expireIn(world, inDays(8));
    const found = await alerts();
    expect(found.map(({ data }) => [data.signals, data.beyondEuros])).toEqual([
      [['refunded_above_collected'], beyondEuros],
    ]);
  },
);

test('more than was collected is credited, with an alert', async () => {
  const payer = await aPayer(world, { fundsCents: 5_000 });
  const { authorizationId, transactionId } = await collected(payer);
  await network.refund(payer, { authorizationId, amountCents: 2_000 });
  expect((await balancesOf(world, payer)).available).toBe(5_750);
  const alerts = await world.sql<{ data: { signals: string[]; beyondEuros: number } }>(
    `select data from events where subject_id = $1 and name = 'risk.alert_created'`,
    [transactionId],
  );
  expect(alerts.map(({ data }) => [data.signals, data.beyondEuros])).toEqual([[['refunded_above_collected'], 7.5]]);
});

test('what the budget of a closed agent paid goes back to the wallet', async () => {
  const payer = await aPayer(world, { fundsCents: 5_000, funding: 'budget' });
  const { authorizationId } = await collected(payer);
  await world.sql(`update agents set status = 'closed' where id = $1`, [payer.agentId]);
  expect((await network.refund(payer, { authorizationId })).status).toBe(200);
  expect((await balancesOf(world, payer)).available).toBe(1_250);
});

test('of an unknown card it goes to suspense, once', async () => {
  const payer = { ...(await aPayer(world)), cardRef: `cr_${randomUUID()}` };
  const suspense = async () =>
    (
      await world.sql(`select coalesce(sum(amount_cents), 0)::int as cents from ledger_entries
      where account = 'suspense:own_operator'`)
    )[0] as { cents: number };
  const before = (await suspense()).cents;
  const message = { id: randomUUID(), authorizationId: randomUUID(), amountCents: 700 };
  for (let turn = 0; turn < 2; turn++) {
    expect((await network.refund(payer, message)).body).toEqual({ transactionId: null });
  }
  expect((await suspense()).cents - before).toBe(700);
});

test.each([
  ['of another card', 'other_card'],
  ['in another currency', 'other_currency'],
])('%s it is kept unbooked and answered 409', async (_, reason) => {
  const [payer, other] = [await aPayer(world, { fundsCents: 5_000 }), await aPayer(world, { fundsCents: 5_000 })];
  const { authorizationId } = await collected(payer);
  const sender = reason === 'other_card' ? other : payer;
  const message = { id: randomUUID(), authorizationId, ...(reason === 'other_currency' ? { currency: 'USD' } : {}) };
  const first = await network.refund(sender, message);
  expect(first.status).toBe(409);
  expect(await network.refund(sender, message)).toEqual(first);
  expect(
    await world.sql('select kind, reason from unbooked_network_messages where card_ref = $1', [sender.cardRef]),
  ).toEqual([{ kind: 'refund', reason }]);
  expect((await balancesOf(world, payer)).available).toBe(3_750);
});
