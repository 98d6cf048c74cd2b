/**
 * Messages of the network that are unusual but allowed, and messages that do not fit their authorization: equal ids,
 * another card, another currency, an amount of 0, amounts beyond every limit, and a clearing after everything was given
 * back. Real HTTP, rows and book.
 * @module
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { eventNamesOf } from '../../support/events.ts';
import {
  type Authorized,
  anIntent,
  aPayer,
  balancesOf,
  brokenInvariants,
  expireIn,
  journalsOf,
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
afterEach(async () => {
  expect(await brokenInvariants(world)).toEqual([]);
});
afterAll(async () => {
  await world.close();
});

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);
const authorized = async (payer: Payer, over: Record<string, unknown> = {}) => {
  const message = network.authorizationOf(payer, over);
  const { body } = await network.send<Authorized>('authorizations', message);
  return { authorizationId: message.id, transactionId: body.transactionId ?? '', decision: body.decision };
};
const transaction = async (id: string) =>
  (
    await world.sql(
      `select status, type, held_cents::int as held, cleared_cents::int as cleared, intent_id as intent,
         authorized_at is not null as counts from transactions where id = $1`,
      [id],
    )
  )[0];
const intentOf = async (id: string) =>
  (await world.sql('select status, matched_transaction_id as matched from intents where id = $1', [id]))[0];
const eventKinds = async (transactionId: string) =>
  (
    await world.sql<{ kind: string }>('select kind from transaction_events where transaction_id = $1 order by seq', [
      transactionId,
    ])
  ).map(({ kind }) => kind);

describe('ids are unique per kind of message', () => {
  test('a clearing and a reversal whose ids equal the id of their authorization are booked, once each', async () => {
    const payer = await aPayer(world, { fundsCents: 5_000 });
    const { authorizationId, transactionId } = await authorized(payer);
    const clearing = { id: authorizationId, authorizationId, amountCents: 250, final: false };
    const reversal = { id: authorizationId, authorizationId, amountCents: 300 };
    for (let turn = 0; turn < 2; turn++) {
      expect(await network.clear(payer, clearing)).toEqual({ status: 200, body: { transactionId } });
      expect(await network.reverse(payer, reversal)).toEqual({ status: 200, body: { transactionId } });
    }
    expect(await balancesOf(world, payer)).toEqual({ available: 4_050, held: 700, receivable: 0 });
    expect((await journalsOf(world, payer.owner.ownerId)).sort()).toEqual(['authorization', 'clearing', 'reversal']);
    expect(await eventKinds(transactionId)).toEqual(['authorization', 'clearing', 'reversal']);
  });

  test('also where both came before the authorization', async () => {
    const payer = await aPayer(world, { fundsCents: 5_000 });
    const message = network.authorizationOf(payer);
    await network.clear(payer, { id: message.id, authorizationId: message.id, amountCents: 250, final: false });
    await network.reverse(payer, { id: message.id, authorizationId: message.id, amountCents: 300 });
    const { body } = await network.send<Authorized>('authorizations', message);
    expect(body.decision).toBe('approved');
    expect(await balancesOf(world, payer)).toEqual({ available: 4_050, held: 700, receivable: 0 });
    expect((await network.send('authorizations', message)).body).toEqual(body);
  });

  test('also where the clearing was booked before the authorization came', async () => {
    const payer = await aPayer(world, { fundsCents: 5_000 });
    const message = network.authorizationOf(payer);
    await network.clear(payer, { id: message.id, authorizationId: message.id });
    expect((await expireIn(world, inDays(1.1))).orphans).toBe(1);
    expect((await network.send<Authorized>('authorizations', message)).body.decision).toBe('approved');
    expect(await balancesOf(world, payer)).toEqual({ available: 3_750, held: 0, receivable: 0 });
  });

  test('the same id and kind with another content stays 409', async () => {
    const payer = await aPayer(world, { fundsCents: 5_000 });
    const { authorizationId } = await authorized(payer);
    const clearing = { id: authorizationId, authorizationId, amountCents: 250, final: false };
    expect((await network.clear(payer, clearing)).status).toBe(200);
    expect((await network.clear(payer, { ...clearing, amountCents: 251 })).status).toBe(409);
  });
});

describe('a message that does not fit its authorization', () => {
  const unbooked = (cardRef: string) =>
    world.sql('select kind, reason from unbooked_network_messages where card_ref = $1 order by kind', [cardRef]);

  test.each([
    ['clearing', 'of another card', 'other_card'],
    ['reversal', 'of another card', 'other_card'],
    ['clearing', 'in another currency', 'other_currency'],
    ['reversal', 'in another currency', 'other_currency'],
  ])('a %s %s is kept unbooked and answered 409, again and again', async (kind, _, reason) => {
    const [payer, other] = [await aPayer(world, { fundsCents: 5_000 }), await aPayer(world, { fundsCents: 5_000 })];
    const { authorizationId, transactionId } = await authorized(payer);
    const sender = reason === 'other_card' ? other : payer;
    const over = {
      id: `odd_${authorizationId}`,
      authorizationId,
      ...(reason === 'other_currency' ? { currency: 'USD' } : {}),
    };
    const send = () => (kind === 'clearing' ? network.clear(sender, over) : network.reverse(sender, over));
    const first = await send();
    expect(first.status).toBe(409);
    expect(await send()).toEqual(first);
    expect(await transaction(transactionId)).toMatchObject({ status: 'pending', held: 1_250, cleared: 0 });
    expect(await balancesOf(world, payer)).toEqual({ available: 3_750, held: 1_250, receivable: 0 });
    expect(await balancesOf(world, other)).toEqual({ available: 5_000, held: 0, receivable: 0 });
    expect(await unbooked(sender.cardRef)).toEqual([{ kind, reason }]);
    await expireIn(world, inDays(1.1));
    expect(await unbooked(sender.cardRef)).toEqual([{ kind, reason }]);
  });

  test('the currency EUR may be given', async () => {
    const payer = await aPayer(world, { fundsCents: 5_000 });
    const { authorizationId, transactionId } = await authorized(payer);
    const answer = await network.clear(payer, { authorizationId, currency: 'EUR' });
    expect(answer).toEqual({ status: 200, body: { transactionId } });
  });

  test('one of another card that came before the authorization is not booked with it', async () => {
    const [payer, other] = [await aPayer(world, { fundsCents: 5_000 }), await aPayer(world, { fundsCents: 5_000 })];
    const message = network.authorizationOf(payer);
    await network.clear(other, { authorizationId: message.id, amountCents: 1_000 });
    await network.reverse(other, { authorizationId: message.id });
    await network.clear(payer, { authorizationId: message.id, amountCents: 250, final: false });
    expect((await network.send<Authorized>('authorizations', message)).body.decision).toBe('approved');
    expect(await balancesOf(world, payer)).toEqual({ available: 3_750, held: 1_000, receivable: 0 });
    expect(await balancesOf(world, other)).toEqual({ available: 5_000, held: 0, receivable: 0 });
    expect(await unbooked(other.cardRef)).toEqual([
      { kind: 'clearing', reason: 'other_card' },
      { kind: 'reversal', reason: 'other_card' },
    ]);
  });

  test('one in another currency never waits for its authorization', async () => {
    const payer = await aPayer(world, { fundsCents: 5_000 });
    const message = network.authorizationOf(payer);
    expect((await network.reverse(payer, { authorizationId: message.id, currency: 'USD' })).status).toBe(409);
    expect((await network.clear(payer, { authorizationId: message.id, currency: 'USD' })).status).toBe(409);
    expect((await network.send<Authorized>('authorizations', message)).body.decision).toBe('approved');
    expect((await balancesOf(world, payer)).held).toBe(1_250);
  });

  test('of two cards with clearings for one missing authorization, one is booked', async () => {
    const [payer, other] = [await aPayer(world, { fundsCents: 5_000 }), await aPayer(world, { fundsCents: 5_000 })];
    const message = network.authorizationOf(payer);
    await network.clear(payer, { authorizationId: message.id });
    await network.clear(other, { authorizationId: message.id });
    expect((await expireIn(world, inDays(1.1))).orphans).toBeGreaterThanOrEqual(1);
    const available = [await balancesOf(world, payer), await balancesOf(world, other)].map((money) => money.available);
    expect(available.sort()).toEqual([3_750, 5_000]);
    expect([...(await unbooked(payer.cardRef)), ...(await unbooked(other.cardRef))]).toEqual([
      { kind: 'clearing', reason: 'other_card' },
    ]);
    expect((await expireIn(world, inDays(1.2))).orphans).toBe(0);
  });
});

describe('a clearing of 0', () => {
  test('that is final gives the hold back and ends the payment', async () => {
    const payer = await aPayer(world, { fundsCents: 5_000, policy: { require_intent: true } });
    const intentId = await anIntent(world, payer);
    const { authorizationId, transactionId } = await authorized(payer);
    expect((await network.clear(payer, { authorizationId, amountCents: 0 })).status).toBe(200);
    expect(await transaction(transactionId)).toMatchObject({ status: 'reversed', type: 'reversal', held: 0 });
    expect(await balancesOf(world, payer)).toEqual({ available: 5_000, held: 0, receivable: 0 });
    expect(await intentOf(intentId)).toEqual({ status: 'approved', matched: null });
  });

  test('that is final after a part was collected completes the payment with that part', async () => {
    const payer = await aPayer(world, { fundsCents: 5_000 });
    const { authorizationId, transactionId } = await authorized(payer);
    await network.clear(payer, { authorizationId, amountCents: 400, final: false });
    await network.clear(payer, { authorizationId, amountCents: 0 });
    expect(await transaction(transactionId)).toMatchObject({ status: 'completed', type: 'capture', cleared: 400 });
    expect(await balancesOf(world, payer)).toEqual({ available: 4_600, held: 0, receivable: 0 });
  });

  test('that is not final does not change a live hold', async () => {
    const payer = await aPayer(world, { fundsCents: 5_000 });
    const { authorizationId, transactionId } = await authorized(payer);
    const before = await eventNamesOf(world, payer.owner.ownerId);
    await network.clear(payer, { authorizationId, amountCents: 0, final: false });
    expect(await transaction(transactionId)).toMatchObject({ status: 'pending', type: 'authorization', held: 1_250 });
    expect(await eventNamesOf(world, payer.owner.ownerId)).toEqual(before);
    expect(await eventKinds(transactionId)).toEqual(['authorization', 'clearing']);
  });

  test.each([true, false])('of a declined charge is recorded, and nothing moves (final: %s)', async (final) => {
    const payer = await aPayer(world, { fundsCents: 0 });
    const { authorizationId, transactionId, decision } = await authorized(payer);
    expect(decision).toBe('declined');
    const before = await eventNamesOf(world, payer.owner.ownerId);
    expect((await network.clear(payer, { authorizationId, amountCents: 0, final })).status).toBe(200);
    expect(await transaction(transactionId)).toMatchObject({
      status: 'failed',
      type: 'authorization',
      cleared: 0,
      counts: false,
    });
    expect(await eventNamesOf(world, payer.owner.ownerId)).toEqual(before);
    expect(await eventKinds(transactionId)).toEqual(['authorization', 'clearing']);
    await expireIn(world, inDays(40));
    expect(await transaction(transactionId)).toMatchObject({ status: 'failed' });
  });

  test.each([true, false])(
    'before the authorization (final: %s) collects nothing and disables no rule',
    async (final) => {
      const payer = await aPayer(world, { fundsCents: 5_000, card: { status: 'frozen', frozen_by: 'card' } });
      const message = network.authorizationOf(payer);
      await network.clear(payer, { authorizationId: message.id, amountCents: 0, final });
      const { body } = await network.send<Authorized>('authorizations', message);
      expect(body).toMatchObject({ decision: 'declined', rule: 'card_status' });
      expect(await transaction(body.transactionId ?? '')).toMatchObject({ status: 'failed' });
    },
  );
});

describe('a clearing of 0 whose authorization comes after more than a day', () => {
  test.each([true, false])('collects nothing, so nothing is booked before it comes (final: %s)', async (final) => {
    const payer = await aPayer(world, { fundsCents: 5_000 });
    const message = network.authorizationOf(payer);
    await network.clear(payer, { authorizationId: message.id, amountCents: 0, final });
    await expireIn(world, inDays(1.1));
    const transactions = 'select id from transactions where agent_id = $1';
    expect(await world.sql(transactions, [payer.agentId])).toEqual([]);
    await network.send<Authorized>('authorizations', message);
    const held = final ? 0 : 1_250; // After a final clearing nothing is held.
    expect(await balancesOf(world, payer)).toEqual({ available: 5_000 - held, held, receivable: 0 });
    await expireIn(world, inDays(8));
    const left = await world.sql(`${transactions} and status = 'pending'`, [payer.agentId]);
    expect(left).toEqual([]);
    expect(await balancesOf(world, payer)).toEqual({ available: 5_000, held: 0, receivable: 0 });
  });

  test('that is final, with a part collected after it: nothing more is held', async () => {
    const payer = await aPayer(world, { fundsCents: 5_000 });
    const message = network.authorizationOf(payer);
    const authorizationId = message.id;
    await network.clear(payer, { authorizationId, amountCents: 0, final: true });
    await network.clear(payer, { authorizationId, amountCents: 400, final: false });
    await expireIn(world, inDays(1.1));
    await network.send<Authorized>('authorizations', message);
    expect(await balancesOf(world, payer)).toEqual({ available: 4_600, held: 0, receivable: 0 });
  });
});

describe('a clearing after everything was given back', () => {
  const endings: [string, (payer: Payer, authorizationId: string) => Promise<unknown>][] = [
    ['a reversal', (payer, authorizationId) => network.reverse(payer, { authorizationId })],
    ['its age', () => expireIn(world, inDays(7.1))],
    ['a final clearing of 0', (payer, authorizationId) => network.clear(payer, { authorizationId, amountCents: 0 })],
  ];

  test.each(endings)('by %s completes its intent, so that nothing pays for it twice', async (_, giveBack) => {
    const payer = await aPayer(world, { fundsCents: 5_000, policy: { require_intent: true } });
    const intentId = await anIntent(world, payer, { ttlMs: 60 * 86_400_000 });
    const { authorizationId, transactionId } = await authorized(payer);
    await giveBack(payer, authorizationId);
    expect(await intentOf(intentId)).toEqual({ status: 'approved', matched: null });
    await network.clear(payer, { authorizationId });
    expect(await intentOf(intentId)).toEqual({ status: 'completed', matched: transactionId });
    expect((await network.authorize(payer)).body).toMatchObject({ decision: 'declined', rule: 'intent_required' });
    expect(await balancesOf(world, payer)).toEqual({ available: 3_750, held: 0, receivable: 0 });
    const names = await eventNamesOf(world, payer.owner.ownerId);
    expect(names.filter((name) => name === 'intent.completed')).toHaveLength(1);
    expect(names).toContain('risk.alert_created');
  });

  test('that is not the last one takes the intent, and completes it when it is old', async () => {
    const payer = await aPayer(world, { fundsCents: 5_000, policy: { require_intent: true } });
    const intentId = await anIntent(world, payer, { ttlMs: 60 * 86_400_000 });
    const { authorizationId, transactionId } = await authorized(payer);
    await network.reverse(payer, { authorizationId });
    await network.clear(payer, { authorizationId, amountCents: 400, final: false });
    expect(await intentOf(intentId)).toEqual({ status: 'approved', matched: transactionId });
    expect((await network.authorize(payer)).body.decision).toBe('declined');
    await expireIn(world, inDays(8));
    expect(await intentOf(intentId)).toMatchObject({ status: 'completed' });
  });

  test('leaves the intent to the payment that has taken it meanwhile', async () => {
    const payer = await aPayer(world, { fundsCents: 5_000, policy: { require_intent: true } });
    const intentId = await anIntent(world, payer);
    const { authorizationId } = await authorized(payer);
    await network.reverse(payer, { authorizationId });
    const second = await authorized(payer);
    await network.clear(payer, { authorizationId });
    expect(await intentOf(intentId)).toEqual({ status: 'approved', matched: second.transactionId });
  });

  test('of a charge that was declined completes the intent that it was for', async () => {
    const payer = await aPayer(world, { fundsCents: 0, policy: { require_intent: true } });
    const intentId = await anIntent(world, payer);
    const { authorizationId, transactionId, decision } = await authorized(payer);
    expect(decision).toBe('declined');
    expect(await transaction(transactionId)).toMatchObject({ intent: null });
    await network.clear(payer, { authorizationId });
    expect(await intentOf(intentId)).toEqual({ status: 'completed', matched: transactionId });
    expect(await transaction(transactionId)).toMatchObject({ status: 'completed', intent: intentId });
  });
});

describe('amounts at the edge', () => {
  const most = 99_999_999_999;
  const beyond = [
    most + 1,
    Number.MAX_SAFE_INTEGER,
    Number.MAX_SAFE_INTEGER + 1,
    10_000_000_000_000_000,
    1e300,
    -1,
    0.5,
  ];

  test('the largest is taken', async () => {
    const payer = await aPayer(world, { fundsCents: most });
    const { authorizationId, decision } = await authorized(payer, { amountCents: most });
    expect(decision).toBe('approved');
    expect((await network.clear(payer, { authorizationId, amountCents: most })).status).toBe(200);
    expect((await network.reverse(payer, { authorizationId, amountCents: most })).status).toBe(200);
  });

  test.each(beyond)('%d is 400 in every message', async (amountCents) => {
    const payer = await aPayer(world);
    const message = network.authorizationOf(payer, { amountCents });
    const statuses = [
      (await network.send('authorizations', message)).status,
      (await network.clear(payer, { authorizationId: message.id, amountCents })).status,
      (await network.reverse(payer, { authorizationId: message.id, amountCents })).status,
    ];
    expect(statuses).toEqual([400, 400, 400]);
  });
});
