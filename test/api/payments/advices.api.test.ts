/**
 * Advices: what the network approved in Bursar's place. Before, after and without the authorization; above limits and
 * money; in any order with clearing and reversal; repeated, and of another or an unknown card. Real HTTP, rows and book.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { newId } from '../../../src/kernel/ids.ts';
import { eventNamesOf } from '../../support/events.ts';
import { aCredential, apiShop } from '../../support/mpp-world.ts';
import { type Network, usePayments } from '../../support/payments-suite.ts';
import {
  type Authorized,
  anIntent,
  aPayer,
  balancesOf,
  expireIn,
  fund,
  type Payer,
} from '../../support/payments-world.ts';
import { aSubscriber, musicClub } from '../../support/recurring-world.ts';
import type { World } from '../../support/world.ts';

let world: World;
let network: Network;
usePayments((started) => {
  ({ world, network } = started);
});

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);
const intentOf = async (id: string) =>
  (await world.sql('select status, matched_transaction_id as matched from intents where id = $1', [id]))[0];

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
  // Sent again, the authorization in it may have a new stamp.
  const stampedAnew = { ...message, sentAt: '2030-01-01T00:00:00Z' };
  expect(await network.advise(stampedAnew, advice)).toEqual(first);
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

describe('for which there is not enough money to hold, reversed in parts', () => {
  const underheld = async () => {
    const payer = await aPayer(world, { fundsCents: 1_000 });
    const message = network.authorizationOf(payer, { amountCents: 2_500 });
    const { body } = await network.advise(message, { approvedCents: 2_500 });
    const state = async () => {
      const [row] = await world.sql(
        `select status, amount_cents::int as amount, held_cents::int as held, reversed_cents::int as reversed,
           cleared_cents::int as cleared from transactions where id = $1`,
        [body.transactionId],
      );
      return row;
    };
    const reverse = (amountCents: number) => network.reverse(payer, { authorizationId: message.id, amountCents });
    return { payer, authorizationId: message.id, reverse, state };
  };
  const pending = { status: 'pending', cleared: 0 };

  test('the parts add up: what is still to come stays held, and the last part ends the payment', async () => {
    const { payer, reverse, state } = await underheld();
    expect(await state()).toEqual({ ...pending, amount: 2_500, held: 1_000, reversed: 0 });
    await reverse(900);
    expect(await state()).toEqual({ ...pending, amount: 1_600, held: 1_000, reversed: 900 });
    await reverse(900);
    expect(await state()).toEqual({ ...pending, amount: 700, held: 700, reversed: 1_800 });
    expect(await balancesOf(world, payer)).toEqual({ available: 300, held: 700, receivable: 0 });
    await reverse(700);
    expect(await state()).toEqual({ ...pending, status: 'reversed', amount: 700, held: 0, reversed: 2_500 });
    expect(await balancesOf(world, payer)).toEqual({ available: 1_000, held: 0, receivable: 0 });
  });

  test('each part is told, also one for which nothing was held', async () => {
    const { payer, reverse } = await underheld();
    await reverse(900);
    await reverse(900);
    const told = await world.sql(
      `select (data ->> 'amountEuros')::float8 as amount from events
       where agent_id = $1 and name = 'transaction.updated' order by seq`,
      [payer.agentId],
    );
    expect(told).toEqual([{ amount: 16 }, { amount: 7 }]);
  });

  test.each([
    ['all that is still to come', 700, { available: 300, held: 0, receivable: 0 }],
    ['more than that', 1_200, { available: 0, held: 0, receivable: 200 }],
  ])('then %s is collected: from the hold, from what is available, and owed', async (_what, amountCents, after) => {
    const { payer, authorizationId, reverse, state } = await underheld();
    await Promise.all([reverse(900), reverse(900)]);
    await network.clear(payer, { authorizationId, amountCents, final: true });
    expect(await balancesOf(world, payer)).toEqual(after);
    expect(await state()).toMatchObject({ status: 'completed', amount: amountCents, cleared: amountCents });
  });

  test('what is collected in between counts as well, and the money that came back settles nothing twice', async () => {
    const { payer, authorizationId, reverse, state } = await underheld();
    await reverse(900);
    await network.clear(payer, { authorizationId, amountCents: 1_100, final: false });
    expect(await state()).toEqual({ status: 'pending', amount: 1_600, held: 0, reversed: 900, cleared: 1_100 });
    expect(await balancesOf(world, payer)).toEqual({ available: 0, held: 0, receivable: 100 });
    await reverse(499);
    expect(await state()).toMatchObject({ status: 'pending', amount: 1_101 });
    await reverse(1);
    expect(await state()).toEqual({ status: 'completed', amount: 1_100, held: 0, reversed: 1_400, cleared: 1_100 });
    expect(await balancesOf(world, payer)).toEqual({ available: 0, held: 0, receivable: 100 });
  });

  test.each([
    ['authorization', 'reversal', 'advice'],
    ['authorization', 'advice', 'reversal'],
    ['reversal', 'authorization', 'advice'],
    ['reversal', 'advice', 'authorization'],
    ['advice', 'authorization', 'reversal'],
    ['advice', 'reversal', 'authorization'],
  ] as const)('%s, %s, %s of a charge that the rules decline: held is what is left', async (...order) => {
    const payer = await aPayer(world, { fundsCents: 5_000, card: { max_transaction_cents: 500 } });
    const message = network.authorizationOf(payer);
    const parts = [100, 200].map((amountCents, i) => ({ id: `rev${i}_${message.id}`, amountCents }));
    const say = {
      authorization: () => network.send<object>('authorizations', message),
      advice: () => network.advise(message, { id: `adv_${message.id}` }),
      reversal: () =>
        Promise.all(parts.map((part) => network.reverse(payer, { authorizationId: message.id, ...part }))),
    };
    for (const kind of [...order, ...order]) await say[kind]();
    const [row] = await world.sql(
      `select status, amount_cents::int as amount, held_cents::int as held, reversed_cents::int as reversed
       from transactions where authorization_id = $1`,
      [message.id],
    );
    expect(row).toEqual({ status: 'pending', amount: 950, held: 950, reversed: 300 });
    expect(await balancesOf(world, payer)).toEqual({ available: 4_050, held: 950, receivable: 0 });
  });

  test('parts that are the whole of a charge that was declined leave nothing for its advice to hold', async () => {
    const payer = await aPayer(world, { fundsCents: 5_000, card: { max_transaction_cents: 500 } });
    const message = network.authorizationOf(payer);
    await network.send('authorizations', message);
    for (const amountCents of [600, 650]) await network.reverse(payer, { authorizationId: message.id, amountCents });
    await network.advise(message);
    expect(await balancesOf(world, payer)).toEqual({ available: 5_000, held: 0, receivable: 0 });
  });

  test('a larger advice later holds what is missing without what was reversed', async () => {
    const { payer, authorizationId, reverse, state } = await underheld();
    await reverse(900);
    await reverse(900);
    await fund(world, payer.owner.ownerId, `wallet:${payer.walletId}`, 5_000);
    const message = network.authorizationOf(payer, { id: authorizationId, amountCents: 2_500 });
    await network.advise(message, { approvedCents: 3_000 });
    expect(await state()).toEqual({ ...pending, amount: 1_200, held: 1_200, reversed: 1_800 });
    expect(await balancesOf(world, payer)).toEqual({ available: 4_800, held: 1_200, receivable: 0 });
  });
});

test.each([false, true])(
  'above what was asked for: held, with an alert that says so (authorization answered: %s)',
  async (isAnswered) => {
    const payer = await aPayer(world, { fundsCents: 5_000 });
    const message = network.authorizationOf(payer);
    if (isAnswered) await network.send('authorizations', message);
    await network.advise(message, { approvedCents: 1_251 });
    expect(await balancesOf(world, payer)).toEqual({ available: 3_749, held: 1_251, receivable: 0 });
    expect((await signalsOf(payer)).flat()).toContain('approved_above_request');
  },
);

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

describe('on a charge that Bursar had declined although an intent fits it', () => {
  const limit = (payer: Payer, amountCents: number | null) =>
    world.sql('update cards set max_transaction_cents = $2, version = version + 1 where id = $1', [
      payer.cardId,
      amountCents,
    ]);
  async function declined() {
    const payer = await aPayer(world, {
      fundsCents: 10_000,
      policy: { require_intent: true },
      card: { max_transaction_cents: 500 },
    });
    const intentId = await anIntent(world, payer);
    const message = network.authorizationOf(payer);
    const { body } = await network.send<Authorized>('authorizations', message);
    expect(body.decision).toBe('declined');
    await limit(payer, null);
    return { payer, intentId, message, transactionId: body.transactionId };
  }

  test('it pays for the intent, and nothing else does', async () => {
    const { payer, intentId, message, transactionId } = await declined();
    await network.advise(message);
    expect(await intentOf(intentId)).toEqual({ status: 'approved', matched: transactionId });
    expect((await network.authorize(payer)).body).toMatchObject({ decision: 'declined', rule: 'intent_required' });
    await network.clear(payer, { authorizationId: message.id });
    expect(await intentOf(intentId)).toEqual({ status: 'completed', matched: transactionId });
  });

  test('given back, the intent is open again', async () => {
    const { payer, intentId, message } = await declined();
    await network.advise(message);
    await network.reverse(payer, { authorizationId: message.id });
    expect(await intentOf(intentId)).toEqual({ status: 'approved', matched: null });
  });

  test('an intent that is taken meanwhile and free again is paid by the clearing', async () => {
    const { payer, intentId, message, transactionId } = await declined();
    const other = network.authorizationOf(payer);
    const { body } = await network.send<Authorized>('authorizations', other);
    await network.advise(message);
    expect(await intentOf(intentId)).toEqual({ status: 'approved', matched: body.transactionId });
    await network.reverse(payer, { authorizationId: other.id });
    await network.clear(payer, { authorizationId: message.id });
    expect(await intentOf(intentId)).toEqual({ status: 'completed', matched: transactionId });
  });

  test('of a recurring intent it pays for the window', async () => {
    const { payer, declare, charge, clear, windows } = await aSubscriber(world);
    const intent = await declare();
    await limit(payer, 500);
    const message = network.authorizationOf(payer, { amountCents: 1_000, merchant: musicClub });
    const { body } = await network.send<Authorized>('authorizations', message);
    expect(body.decision).toBe('declined');
    await limit(payer, null);
    await network.advise(message, { approvedCents: 1_000 });
    const { transactionId } = body;
    expect(await windows(intent.id)).toMatchObject([{ number: 1, status: 'matched', transactionId }]);
    expect(await charge()).toMatchObject({ decision: 'declined', rule: 'intent_required' });
    await clear(message.id);
    expect(await windows(intent.id)).toMatchObject([{ number: 1, status: 'completed', transactionId }]);
  });
});

test('what a reversal and a clearing ended before the authorization came is not held', async () => {
  const payer = await aPayer(world, { fundsCents: 5_000 });
  const message = network.authorizationOf(payer);
  await network.reverse(payer, { authorizationId: message.id });
  await network.clear(payer, { authorizationId: message.id, amountCents: 400, final: false });
  await expireIn(world, inDays(1.1));
  expect((await network.advise(message)).status).toBe(200);
  expect(await balancesOf(world, payer)).toEqual({ available: 4_600, held: 0, receivable: 0 });
});

test('about a verification it is 400, because nothing is held for one', async () => {
  const payer = await aPayer(world);
  const message = network.authorizationOf(payer, { kind: 'verification', amountCents: 0 });
  expect(await network.advise(message)).toMatchObject({ status: 400 });
});

test.each(['kept unbooked', 'booked'])('%s, it stores no payment token', async (how) => {
  const [payer, other] = [await aPayer(world), await aPayer(world)];
  const token = `spt_${randomUUID()}`;
  const message = network.authorizationOf(payer, { token });
  const id = randomUUID();
  if (how === 'kept unbooked') await network.send('authorizations', network.authorizationOf(payer, { id: message.id }));
  const sent = how === 'kept unbooked' ? { ...message, cardRef: other.cardRef } : message;
  expect((await network.advise(sent, { id })).status).toBe(how === 'booked' ? 200 : 409);
  const [stored] = await world.sql<{ row: object; amount: number | null }>(
    `select to_jsonb(m) as row, (select u.amount_cents::int from unbooked_network_messages u where u.id = m.id) as amount
     from network_messages m where m.id = $1 and m.kind = 'advice'`,
    [id],
  );
  expect(JSON.stringify(stored?.row)).not.toContain(token);
  expect(stored?.amount).toBe(how === 'booked' ? null : 1_250);
});

describe('with messages that came before it, or a rule that it breaks', () => {
  test.each<[string, Parameters<typeof aPayer>[1], string]>([
    ['a card for one payment is closed', { card: { usage: 'single' } }, 'card.closed'],
    ['a card that reached its count is frozen', { policy: { max_usage_count: 1 } }, 'card.frozen'],
  ])('%s', async (_, over, event) => {
    const payer = await aPayer(world, over);
    const message = network.authorizationOf(payer);
    await network.clear(payer, { authorizationId: message.id });
    await network.advise(message);
    expect(await eventNamesOf(world, payer.owner.ownerId)).toContain(event);
  });

  test('a refund is booked', async () => {
    const payer = await aPayer(world, { fundsCents: 5_000 });
    const message = network.authorizationOf(payer);
    await network.refund(payer, { authorizationId: message.id, amountCents: 400 });
    await network.advise(message);
    expect(await balancesOf(world, payer)).toEqual({ available: 4_150, held: 1_250, receivable: 0 });
    expect(await eventNamesOf(world, payer.owner.ownerId)).toContain('transaction.refunded');
  });

  test('an intent that nearly fits is named', async () => {
    const payer = await aPayer(world, { policy: { require_intent: true } });
    const intentId = await anIntent(world, payer, { amountCents: 1_000 });
    await network.advise(network.authorizationOf(payer));
    expect(await eventNamesOf(world, intentId)).toEqual(['intent.mismatched']);
  });

  test('the window of a recurring intent is completed', async () => {
    const { payer, declare, clear, eventsOf } = await aSubscriber(world);
    const intent = await declare();
    const message = network.authorizationOf(payer, { amountCents: 1_000, merchant: musicClub });
    await clear(message.id);
    await network.advise(message, { approvedCents: 1_000 });
    expect((await eventsOf(intent.id)).slice(-2)).toEqual(['intent.matched', 'intent_window.completed']);
  });

  test('the credential of a machine payment is used, and the payment completed', async () => {
    const payer = await aPayer(world, { fundsCents: 10_000 });
    const credential = await aCredential(world, payer, await anIntent(world, payer, { merchant: 'shop.example' }));
    const message = network.authorizationOf(payer, { token: credential.token, merchant: apiShop });
    await network.clear(payer, { authorizationId: message.id });
    await network.advise(message);
    expect(await eventNamesOf(world, credential.id)).toEqual(['mpp.credential.consumed', 'mpp.transaction.completed']);
  });
});

describe('a refund that waited is credited to the wallet that takes the money', () => {
  async function closed(what: 'agent' | 'wallet'): Promise<{ payer: Payer; credited: () => Promise<unknown> }> {
    const payer = await aPayer(world, { fundsCents: 5_000, funding: what === 'agent' ? 'budget' : 'wallet' });
    const walletId = what === 'agent' ? payer.walletId : newId('wallet');
    if (what === 'agent') {
      await world.sql(`update agents set status = 'closed', version = version + 1 where id = $1`, [payer.agentId]);
    } else {
      await world.sql(
        `insert into wallets (id, owner_id, name, is_default, created_at, updated_at) values ($1, $2, 'Default', true, now(), now())`,
        [walletId, payer.owner.ownerId],
      );
      await world.sql(`update wallets set status = 'closed', closed_at = now() where id = $1`, [payer.walletId]);
    }
    return { payer, credited: async () => (await balancesOf(world, { ...payer, walletId })).available };
  }

  test.each([
    ['authorization', 'agent'],
    ['authorization', 'wallet'],
    ['advice', 'agent'],
    ['advice', 'wallet'],
  ] as const)('with the %s, where the %s is closed', async (kind, what) => {
    const { payer, credited } = await closed(what);
    const message = network.authorizationOf(payer);
    await network.refund(payer, { authorizationId: message.id });
    const { status } =
      kind === 'advice' ? await network.advise(message) : await network.send('authorizations', message);
    expect(status).toBe(200);
    expect(await credited()).toBe(1_250);
  });

  test('also what a clearing that waited with an advice releases', async () => {
    const { payer, credited } = await closed('agent');
    const message = network.authorizationOf(payer);
    await network.clear(payer, { authorizationId: message.id, amountCents: 1_000 });
    expect((await network.advise(message)).status).toBe(200);
    expect(await credited()).toBe(250);
  });

  test.each(['agent', 'wallet'] as const)(
    'after a day without an authorization, where the %s is closed',
    async (what) => {
      const { payer, credited } = await closed(what);
      const authorizationId = randomUUID();
      await network.clear(payer, { authorizationId });
      await network.refund(payer, { authorizationId, amountCents: 400 });
      await expireIn(world, inDays(1.1));
      expect(await credited()).toBe(400);
    },
  );
});

describe('of a charge about which a person is asked', () => {
  const asking = { policy: { auto_approve_limit_cents: 1_000 }, fundsCents: 5_000 };
  const questionsOf = (payer: Payer) =>
    world.sql<{ id: string; status: string }>('select id, status from intents where agent_id = $1 order by id', [
      payer.agentId,
    ]);
  const approve = (id: string | undefined) =>
    world.sql(`update intents set status = 'approved', is_auto_approved = false, version = version + 1 where id = $1`, [
      id,
    ]);

  test.each([
    ['approves it', (message: ReturnType<Network['authorizationOf']>) => network.advise(message)],
    [
      'collects it',
      (message: ReturnType<Network['authorizationOf']>, payer: Payer) =>
        network.clear(payer, { authorizationId: message.id }),
    ],
  ])('the network %s: the request ends, and the next attempt is declined', async (_what, goOn) => {
    const payer = await aPayer(world, asking);
    const [first, again] = [network.authorizationOf(payer), network.authorizationOf(payer)];
    for (const message of [first, again])
      expect((await network.send<Authorized>('authorizations', message)).body.decision).toBe('declined');
    expect(await questionsOf(payer)).toEqual([{ id: expect.any(String), status: 'pending_approval' }]);
    // A person is asked once, about the first attempt; the network goes on with the second.
    expect((await goOn(again, payer)).status).toBe(200);
    const [asked] = await questionsOf(payer);
    expect(asked?.status).toBe('cancelled');
    expect((await network.authorize(payer)).body.decision).toBe('declined');
    const { available, held } = await balancesOf(world, payer);
    expect([available, held === 0 || held === 1_250]).toEqual([3_750, true]);
  });

  test('what a person has approved is used up by it', async () => {
    const payer = await aPayer(world, asking);
    const message = network.authorizationOf(payer);
    await network.send('authorizations', message);
    const [asked] = await questionsOf(payer);
    await approve(asked?.id);
    const { body } = await network.advise(message);
    expect(await intentOf(asked?.id ?? '')).toEqual({ status: 'approved', matched: body.transactionId });
    expect((await network.authorize(payer)).body.decision).toBe('declined');
    expect(await balancesOf(world, payer)).toMatchObject({ available: 3_750, held: 1_250 });
  });

  test('an earlier payment of the same amount at the same merchant ends no request, and uses up no approval', async () => {
    const payer = await aPayer(world, { fundsCents: 5_000 });
    const earlier = [network.authorizationOf(payer), network.authorizationOf(payer)];
    for (const message of earlier) {
      expect((await network.send<Authorized>('authorizations', message)).body.decision).toBe('approved');
    }
    await world.sql('update policies set auto_approve_limit_cents = 1000, version = version + 1 where id = $1', [
      payer.policyId,
    ]);
    expect((await network.authorize(payer)).body.decision).toBe('declined');
    await network.clear(payer, { authorizationId: earlier[0]?.id });
    const [asked] = await questionsOf(payer);
    expect(asked?.status).toBe('pending_approval');
    await approve(asked?.id);
    await network.clear(payer, { authorizationId: earlier[1]?.id });
    expect(await intentOf(asked?.id ?? '')).toEqual({ status: 'approved', matched: null });
    expect((await network.authorize(payer)).body.decision).toBe('approved');
  });

  test.each([
    ['another amount', { amountCents: 1_251 }],
    ['another merchant', { merchant: { ...apiShop, id: 'another-shop' } }],
  ])('%s: the request stands', async (_what, other) => {
    const payer = await aPayer(world, asking);
    await network.authorize(payer);
    const message = network.authorizationOf(payer, other);
    await network.advise(message);
    expect((await questionsOf(payer))[0]?.status).toBe('pending_approval');
  });
});
