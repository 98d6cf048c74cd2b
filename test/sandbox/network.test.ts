/** The card network driven by hand: purchases, clearings, reversals, stand-in, and messages Bursar does not take. @module */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { approves, clockKey, type NetworkMessage, networkKey } from './fake-bursar.ts';
import { type Answered, eventually, startWorld, type World } from './world.ts';

let world: World;
let cardRef: string;
beforeEach(async () => {
  world = await startWorld();
  cardRef = await world.issue('ca_known');
});
afterEach(() => world.stop());

const purchase = (fields: object = {}, key?: string): Promise<Answered> =>
  world.send('POST', '/network/purchases', { cardRef, amountCents: 2_000, merchant: 'sandbox-shop', ...fields }, key);
const messages = async (state: string) =>
  (await world.send('GET', `/network/messages?state=${state}`)).body.messages as Record<string, unknown>[];
const only = (kind: string, answer: ReturnType<World['bursar']['answering']>) => (message: NetworkMessage) =>
  message.kind === kind ? answer : undefined;

describe('purchases', () => {
  test('an approved one is cleared before the answer', async () => {
    const { status, body } = await purchase();
    expect(status).toBe(200);
    expect(body).toEqual({
      authorizationId: expect.stringMatching(/^auth_/),
      decision: 'approved',
      approvedCents: 2_000,
      transactionId: expect.stringMatching(/^tx_/),
      clearingId: expect.stringMatching(/^clr_/),
    });
    expect(world.bursar.of('clearings').map(({ body: sent }) => sent.id)).toEqual([body.clearingId]);
    expect('token' in (world.bursar.of('authorizations')[0]?.body ?? {})).toBe(false);
  });

  test('by cardId, anywhere, with everything a message can say, and without clearing', async () => {
    const merchant = { name: 'Café Zürich', mcc: '5812', country: 'CH' };
    const foreign = { merchantAmount: 18.5, merchantCurrency: 'CHF', recurring: true, partialSupported: true };
    const { body } = await world.send('POST', '/network/purchases', {
      cardId: 'ca_known',
      amountCents: 1_990,
      merchant,
      clear: false,
      ...foreign,
    });
    expect(body).not.toHaveProperty('clearingId');
    expect(world.bursar.messages.map(({ kind }) => kind)).toEqual(['authorizations']);
    expect(world.bursar.messages[0]?.body).toMatchObject({
      cardRef,
      merchant: { ...merchant, id: 'm_caf_z_rich' },
      ...foreign,
    });
  });

  test('abroad: what follows names its part of the merchant’s amount, in the smallest unit of its currency', async () => {
    const send = (step: string, body: object) => world.send('POST', `/network/${step}`, body);
    const yen = { merchantAmount: 3_251, merchantCurrency: 'JPY' };
    const { authorizationId } = (await purchase({ clear: false, ...yen })).body;
    await send('increment', { authorizationId, amountCents: 500 });
    await send('reverse', { authorizationId, amountCents: 100 });
    await send('clear', { authorizationId, amountCents: 1_999, final: false });
    await send('refund', { authorizationId, amountCents: 2_000 });
    await send('reverse', { authorizationId });
    const charged = (kind: Parameters<typeof world.bursar.of>[0]) =>
      world.bursar.of(kind).map(({ body }) => [body.amountCents, body.merchantAmount, body.merchantCurrency]);
    expect(charged('increments')).toEqual([[500, 813, 'JPY']]);
    expect(charged('clearings')).toEqual([[1_999, 3_249, 'JPY']]);
    expect(charged('refunds')).toEqual([[2_000, 3_251, 'JPY']]);
    expect(charged('reversals')).toEqual([
      [100, 163, 'JPY'],
      [undefined, undefined, undefined], // All that is left: no amount in either currency.
    ]);
    await purchase({ merchantAmount: 18.5, merchantCurrency: 'CHF' });
    expect(charged('clearings')[1]).toEqual([2_000, 18.5, 'CHF']);
    await purchase();
    expect(charged('clearings')[2]).toEqual([2_000, undefined, undefined]);
  });

  test('a partial approval clears its part; a terminal that does not take it has it reversed', async () => {
    const partial = { status: 200, body: { decision: 'partial', approvedCents: 500 } };
    world.bursar.answering = only('authorizations', partial);
    expect((await purchase({ partialSupported: true })).body).toMatchObject({
      decision: 'partial',
      approvedCents: 500,
    });
    expect(world.bursar.of('clearings')[0]?.body).toMatchObject({ amountCents: 500 });
    expect((await purchase()).body).toMatchObject({ decision: 'declined', approvedCents: 0, rule: 'stand_in' });
    await eventually(
      () => world.bursar.of('reversals').length,
      (count) => count === 1,
    );
    expect(world.bursar.of('clearings')).toHaveLength(1);
  });

  test('a verification holds nothing and clears nothing', async () => {
    const { body } = await purchase({ amountCents: 0, kind: 'verification' });
    expect(body).toMatchObject({ decision: 'approved', approvedCents: 0 });
    expect(world.bursar.messages.map(({ kind }) => kind)).toEqual(['authorizations']);
  });

  test('with a key a repeat is the same purchase, another one is refused', async () => {
    const [first, again] = await Promise.all([purchase({}, 'k'), purchase({}, 'k')]);
    expect(again).toEqual(first);
    expect(await purchase({}, 'k')).toEqual(first);
    expect((await purchase({ amountCents: 1 }, 'k')).status).toBe(422);
    expect([world.bursar.of('authorizations').length, world.bursar.of('clearings').length]).toEqual([1, 1]);
  });

  test('by payment token: its card is charged, and Bursar sees the token', async () => {
    const expiresAt = new Date(Date.now() + 60_000).toISOString();
    const order = { cardRef, merchantId: 'acme', ceilingCents: 2_000, expiresAt };
    const { body: minted } = await world.send('POST', '/processor/tokens', order, 'mint');
    const { paymentToken } = minted;
    const merchant = { id: 'acme', name: 'Acme' };
    const [first, again] = await Promise.all([
      purchase({ cardRef: undefined, paymentToken, merchant }, 'k'),
      purchase({ cardRef: undefined, paymentToken, merchant }, 'k'),
    ]);
    expect(first).toMatchObject({ status: 200, body: { decision: 'approved' } });
    expect(again).toEqual(first);
    const sent = world.bursar.of('authorizations').map(({ body }) => body);
    expect(sent).toEqual([expect.objectContaining({ cardRef, token: paymentToken, amountCents: 2_000 })]);
    const unknown = await purchase({ cardRef: undefined, paymentToken: 'spt_unknown' });
    expect(unknown).toEqual({ status: 404, body: { error: 'no such payment token' } });
  });

  test.each([
    ['an unknown card', { cardRef: 'pc_nothing' }, 404],
    ['an unknown cardId', { cardRef: undefined, cardId: 'ca_nothing' }, 404],
    ['both names', { cardId: 'ca_known' }, 400],
    ['a card and a payment token', { paymentToken: 'spt_1' }, 400],
    ['neither name', { cardRef: undefined }, 400],
    ['an unknown shop', { merchant: 'corner-shop' }, 400],
    ['a merchant without a name', { merchant: { mcc: '5812' } }, 400],
    ['a negative amount', { amountCents: -1 }, 400],
    ['a broken amount', { amountCents: 1.5 }, 400],
    ['nothing', { amountCents: 0 }, 400],
    ['an amount to verify', { kind: 'verification' }, 400],
    ['an unknown field', { colour: 'red' }, 400],
    ['a foreign amount without its currency', { merchantAmount: 18.5 }, 400],
    ['a foreign currency without its amount', { merchantCurrency: 'CHF' }, 400],
    ['a foreign amount of five decimals', { merchantAmount: 1.00001, merchantCurrency: 'CHF' }, 400],
  ])('%s is refused and nothing is sent', async (_what, fields, status) => {
    const answer = await purchase(fields);
    expect(answer).toMatchObject({ status, body: { error: expect.any(String) } });
    expect(world.bursar.messages).toEqual([]);
  });
});

describe('clearings and reversals by hand', () => {
  const held = async () => (await purchase({ clear: false })).body.authorizationId;
  const clear = (body: object) => world.send('POST', '/network/clear', body);
  const reverse = (body: object) => world.send('POST', '/network/reverse', body);
  const increment = (body: object) => world.send('POST', '/network/increment', body);

  test('after an increment that was granted, the rest is larger by it; by one that was refused it is not', async () => {
    const authorizationId = await held();
    const granted = await increment({ authorizationId, amountCents: 500 });
    expect(granted.body).toMatchObject({ authorizationId, decision: 'approved', approvedCents: 500 });
    const reason = 'not enough money';
    const declined = {
      decision: 'declined',
      approvedCents: 0,
      transactionId: 'tx_1',
      rule: 'insufficient_funds',
      reason,
    };
    world.bursar.answering = ({ kind }) => (kind === 'increments' ? { status: 200, body: declined } : undefined);
    const refused = await increment({ authorizationId, amountCents: 900, partialSupported: true });
    expect(refused.body).toMatchObject({ decision: 'declined', approvedCents: 0, rule: 'insufficient_funds', reason });
    await clear({ authorizationId });
    expect(world.bursar.of('clearings').map(({ body }) => body.amountCents)).toEqual([2_500]);
    expect(world.bursar.of('increments').map(({ body }) => body)).toEqual([
      expect.objectContaining({
        id: granted.body.incrementId,
        authorizationId,
        cardRef,
        amountCents: 500,
        currency: 'EUR',
      }),
      expect.objectContaining({ id: refused.body.incrementId, amountCents: 900, partialSupported: true }),
    ]);
  });

  test('an increment without an answer is declined, asked about again, and given back where it was granted', async () => {
    const authorizationId = await held();
    world.bursar.answering = ({ kind }) => (kind === 'increments' ? { status: 503, body: {} } : undefined);
    const unanswered = await increment({ authorizationId, amountCents: 500 });
    expect(unanswered.body).toMatchObject({ decision: 'declined', approvedCents: 0, rule: 'stand_in' });
    world.bursar.answering = () => undefined;
    await clear({ authorizationId });
    const asked = world.bursar.of('increments').map(({ raw }) => raw);
    expect(asked.length).toBe(2);
    expect(new Set(asked).size).toBe(1);
    expect(world.bursar.of('reversals').map(({ body }) => body)).toEqual([
      { id: expect.any(String), authorizationId, cardRef, amountCents: 500 },
    ]);
    expect(world.bursar.of('clearings').map(({ body }) => body.amountCents)).toEqual([2_000]);
  });

  test('only an approved authorization grows', async () => {
    expect((await increment({ authorizationId: 'auth_unknown', amountCents: 1 })).status).toBe(404);
    expect((await increment({ authorizationId: await held(), amountCents: 0 })).status).toBe(400);
  });

  test('in parts, the rest by default, each under its own id', async () => {
    const authorizationId = await held();
    const part = await clear({ authorizationId, amountCents: 700, final: false });
    const rest = await clear({ authorizationId });
    expect(part).toMatchObject({ status: 200, body: { state: 'acknowledged', status: 200 } });
    expect(world.bursar.of('clearings').map(({ body }) => [body.id, body.amountCents, body.final])).toEqual([
      [part.body.clearingId, 700, false],
      [rest.body.clearingId, 1_300, true],
    ]);
    expect((await clear({ authorizationId })).status).toBe(409);
    expect((await clear({ authorizationId, amountCents: 1 })).status).toBe(200);
  });

  test('in part or whole reversed', async () => {
    const authorizationId = await held();
    await reverse({ authorizationId, amountCents: 500 });
    expect((await clear({ authorizationId, final: false })).status).toBe(200);
    const whole = await reverse({ authorizationId });
    expect(world.bursar.of('clearings')[0]?.body.amountCents).toBe(1_500);
    expect(world.bursar.of('reversals').map(({ body }) => body)).toEqual([
      { id: expect.any(String), authorizationId, cardRef, amountCents: 500 },
      { id: whole.body.reversalId, authorizationId, cardRef },
    ]);
  });

  test('a whole reversal before the hotel’s day: its clearing is not sent any more', async () => {
    const { body } = await purchase({ merchant: 'sandbox-hotel' });
    await reverse({ authorizationId: body.authorizationId });
    expect(await messages('withdrawn')).toMatchObject([{ id: body.clearingId }]);
    world.bursar.offsetMs = 48 * 3_600_000;
    await world.send('POST', '/network/purchases', { cardRef, amountCents: 1, merchant: 'sandbox-shop' });
    expect(world.bursar.of('clearings').map(({ body: sent }) => sent.amountCents)).toEqual([1]);
  });

  test('only for approved authorizations', async () => {
    world.bursar.answering = only('authorizations', { status: 200, body: { decision: 'declined', approvedCents: 0 } });
    const authorizationId = await held();
    expect((await clear({ authorizationId })).status).toBe(409);
    expect((await reverse({ authorizationId })).status).toBe(409);
    expect((await clear({ authorizationId: 'auth_unknown' })).status).toBe(404);
    expect((await reverse({ authorizationId: 'auth_unknown' })).status).toBe(404);
    expect((await world.send('GET', '/network/authorizations/auth_unknown')).status).toBe(404);
    expect((await clear({})).status).toBe(400);
    expect((await reverse({ authorizationId, amountCents: 0 })).status).toBe(400);
    expect((await world.send('GET', '/network/messages?state=lost')).status).toBe(400);
  });
});

test('no token, key or secret is logged, whatever happens', async () => {
  const lines: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => lines.push(line) });
  const logged = await startWorld({ log });
  try {
    const good = await logged.ready();
    await logged.pay(good.order, good.token, 'pay-key');
    logged.bursar.answering = only('authorizations', { status: 500 });
    const bad = await logged.ready();
    await logged.pay(bad.order, bad.token);
    await logged.send('POST', bad.order.payUrl, '{broken', 'k');
    const all = lines.join('');
    expect(all).toContain('stand-in declined');
    for (const secret of [good.token, bad.token, 'spt_', networkKey, clockKey]) expect(all).not.toContain(secret);
  } finally {
    await logged.stop();
  }
});

describe('stand-in', () => {
  beforeEach(async () => {
    await world.stop();
    world = await startWorld({ decisionTimeoutMs: 400 });
    cardRef = await world.issue('ca_known');
  });

  test.each([
    ['is slow', { status: 200, body: {}, afterMs: 600 }],
    ['hangs up', { status: 200, hangUp: true }],
    ['answers 500', { status: 500 }],
    ['answers 401', { status: 401 }],
    ['answers nonsense', { status: 200, body: { decision: 'perhaps' } }],
    ['approves another amount', { status: 200, body: { decision: 'approved', approvedCents: 1 } }],
    ['declines with an amount', { status: 200, body: { decision: 'declined', approvedCents: 2_000 } }],
  ])('where Bursar %s the network declines, and reverses what may be held', async (_what, answer) => {
    world.bursar.answering = only('authorizations', answer);
    const { body } = await purchase();
    expect(body).toMatchObject({ decision: 'declined', approvedCents: 0, rule: 'stand_in' });
    expect(body).not.toHaveProperty('clearingId');
    await eventually(
      () => messages('acknowledged'),
      (sent) => sent.length === 1,
    );
    expect(world.bursar.of('reversals').map(({ body: sent }) => sent)).toEqual([
      { id: expect.stringMatching(/^rev_/), authorizationId: body.authorizationId, cardRef },
    ]);
    expect(world.bursar.of('clearings')).toEqual([]);
  });

  test('with Bursar away the reversal is repeated under one id until Bursar is back', async () => {
    await world.bursar.stop();
    const { body } = await purchase();
    expect(body).toMatchObject({ decision: 'declined', rule: 'stand_in' });
    await eventually(
      () => messages('queued'),
      ([reversal]) => Number(reversal?.attempts) >= 2,
    );
    await world.bursar.start();
    await eventually(
      () => messages('acknowledged'),
      (sent) => sent.length === 1,
    );
    expect(world.bursar.of('reversals').map(({ body: sent }) => sent.authorizationId)).toEqual([body.authorizationId]);
  });

  test('an approval that comes too late is an authorization declined at the shop', async () => {
    world.bursar.answering = (message) =>
      message.kind === 'authorizations' ? { ...approves(message), afterMs: 600 } : undefined;
    const { order, token } = await world.ready();
    expect((await world.pay(order, token, 'k')).body.status).toBe('declined');
    await eventually(
      () => world.bursar.of('reversals').length,
      (count) => count === 1,
    );
    expect((await world.pay(order, token, 'k')).body.status).toBe('declined');
    expect([world.bursar.of('authorizations').length, world.bursar.of('clearings').length]).toEqual([1, 0]);
  });
});

describe('messages until they are acknowledged', () => {
  test.each([500, 503, 401, 408, 429])('after %i the same message comes again', async (status) => {
    let refusals = 2;
    world.bursar.answering = ({ kind }) => (kind === 'clearings' && refusals-- > 0 ? { status } : undefined);
    const { body } = await purchase();
    await eventually(
      () => messages('acknowledged'),
      (sent) => sent.length === 1,
    );
    const sent = world.bursar.of('clearings');
    expect(sent).toHaveLength(3);
    expect(new Set(sent.map(({ raw }) => raw)).size).toBe(1);
    expect(sent[0]?.body.id).toBe(body.clearingId);
  });

  test.each([400, 404, 409, 422])('%i is a final refusal, and listed', async (status) => {
    world.bursar.answering = only('clearings', { status, body: { error: 'no such card' } });
    const { body } = await purchase();
    expect(await messages('refused')).toEqual([
      {
        id: body.clearingId,
        kind: 'clearings',
        authorizationId: body.authorizationId,
        state: 'refused',
        attempts: 1,
        lastStatus: status,
        lastAnswer: '{"error":"no such card"}',
      },
    ]);
    expect(world.bursar.of('clearings')).toHaveLength(1);
  });

  test('one authorization’s messages keep their order while the first is not taken', async () => {
    let isTaken = false;
    world.bursar.answering = ({ kind }) => (kind === 'clearings' && !isTaken ? { status: 503 } : undefined);
    const { body } = await purchase();
    const reversal = await world.send('POST', '/network/reverse', { authorizationId: body.authorizationId });
    expect(reversal.body.state).toBe('queued');
    expect(world.bursar.of('reversals')).toEqual([]);
    isTaken = true;
    await eventually(
      () => messages('acknowledged'),
      (sent) => sent.length === 2,
    );
    expect(world.bursar.messages.at(-1)?.kind).toBe('reversals');
  });
});
