/** Buying at the sandbox's shops: offers, payments, what a token does not pay for, repeats and races. @module */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { eventually, startWorld, type World } from './world.ts';

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.stop());

const declines = {
  status: 200,
  body: { decision: 'declined', approvedCents: 0, rule: 'daily_limit', reason: 'too much' },
};
const day = 24 * 3_600_000;

describe('offers', () => {
  test.each([
    ['sandbox-shop', 'm_sandbox_shop', 'Sandbox Shop', '5734'],
    ['example-shop', 'm_example_shop', 'Example Shop', '5942'],
    ['sandbox-hotel', 'm_sandbox_hotel', 'Sandbox Hotel', '7011'],
    ['sandbox-casino', 'm_sandbox_casino', 'Sandbox Casino', '7995'],
    ['sandbox-flaky', 'm_sandbox_flaky', 'Sandbox Flaky', '5734'],
  ])('%s makes an offer', async (shop, id, name, mcc) => {
    const offer = await world.offer(shop, 1_250);
    const { orderId } = offer;
    expect(offer).toEqual({
      orderId: expect.stringMatching(/^ord_[0-9a-f]{24}$/),
      amountCents: 1_250,
      currency: 'EUR',
      merchant: { id, name, mcc, country: 'DE' },
      payUrl: `${world.url}/shops/${shop}/orders/${orderId}/pay`,
    });
  });

  test('a browser sees a page with the price, also without asking for one', async () => {
    const page = await fetch(`${world.url}/shops/sandbox-shop?amountCents=999`, { headers: { Accept: 'text/html' } });
    expect([page.status, page.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')]);
    expect(await page.text()).toContain('9.99 EUR');
    expect(await (await fetch(`${world.url}/shops/sandbox-shop`)).text()).toContain('12.50 EUR');
  });

  test('the pay address has the origin the buyer used', async () => {
    const otherName = world.url.replace('127.0.0.1', 'localhost');
    const headers = { Accept: 'text/html, application/vnd.bursar.checkout+json' };
    const answer = await fetch(`${otherName}/shops/sandbox-shop`, { headers });
    expect(new URL(((await answer.json()) as { payUrl: string }).payUrl).origin).toBe(otherName);
  });

  test.each(['0', '-5', '1.5', '1e3', '', 'ten', '999999999999', '5&amountCents=6'])(
    'amountCents=%s is 400',
    async (amount) => {
      expect((await world.send('GET', `/shops/sandbox-shop?amountCents=${amount}`)).status).toBe(400);
    },
  );

  test('a shop that is not there is 404', async () => {
    expect(await world.send('GET', '/shops/corner-shop')).toMatchObject({
      status: 404,
      body: { error: expect.stringContaining('corner-shop') },
    });
  });
});

describe('paying', () => {
  test('sends the documented authorization to Bursar, and a clearing with another id at once', async () => {
    const { order, cardRef, token } = await world.ready();
    expect(await world.pay(order, token)).toEqual({ status: 200, body: { orderId: order.orderId, status: 'paid' } });
    const [authorization] = world.bursar.of('authorizations');
    expect(authorization?.body).toEqual({
      id: expect.stringMatching(/^auth_/),
      cardRef,
      token,
      amountCents: 1_250,
      currency: 'EUR',
      merchant: { id: 'm_sandbox_shop', name: 'Sandbox Shop', mcc: '5734', country: 'DE' },
      kind: 'purchase',
      partialSupported: false,
      recurring: false,
      sentAt: expect.stringMatching(/Z$/),
    });
    const [clearing] = await eventually(
      () => world.bursar.of('clearings'),
      (sent) => sent.length === 1,
    );
    expect(clearing?.body).toEqual({
      id: expect.stringMatching(/^clr_/),
      authorizationId: authorization?.body.id,
      cardRef,
      amountCents: 1_250,
      final: true,
      merchant: authorization?.body.merchant,
      clearedAt: expect.stringMatching(/Z$/),
    });
    expect(world.bursar.badlySigned).toEqual([]);
  });

  test('a decline is the shop’s answer, and nothing is cleared or reversed', async () => {
    world.bursar.answering = ({ kind }) => (kind === 'authorizations' ? declines : undefined);
    const { order, token } = await world.ready();
    expect((await world.pay(order, token)).body.status).toBe('declined');
    const [{ body } = { body: { id: '' } }] = world.bursar.of('authorizations');
    expect((await world.send('GET', `/network/authorizations/${body.id}`)).body).toEqual({
      authorizationId: body.id,
      decision: 'declined',
      approvedCents: 0,
      rule: 'daily_limit',
      reason: 'too much',
      messages: [],
    });
  });

  test('a repeat returns the first outcome without a call to Bursar', async () => {
    const { order, token } = await world.ready();
    const first = await world.pay(order, token, 'k1');
    expect(await world.pay(order, token, 'k1')).toEqual(first);
    expect(await world.pay(order, token, 'k2')).toEqual(first);
    expect(world.bursar.of('authorizations')).toHaveLength(1);
  });

  test('parallel payments of one token make one authorization and one clearing', async () => {
    world.bursar.answering = ({ kind, body }) =>
      kind === 'authorizations'
        ? { status: 200, body: { decision: 'approved', approvedCents: body.amountCents }, afterMs: 100 }
        : undefined;
    const { order, token } = await world.ready();
    const keys = ['a', 'a', 'a', 'b', 'c', 'd', 'd', 'e'];
    const answers = await Promise.all(keys.map((key) => world.pay(order, token, key)));
    expect(answers.map(({ body }) => body.status)).toEqual(keys.map(() => 'paid'));
    await eventually(
      () => world.bursar.of('clearings').length,
      (count) => count > 0,
    );
    expect([world.bursar.of('authorizations').length, world.bursar.of('clearings').length]).toEqual([1, 1]);
  });

  test('one token on two orders in parallel pays one of them', async () => {
    const { order, token } = await world.ready();
    const other = await world.offer('sandbox-shop', 700);
    const answers = await Promise.all([world.pay(order, token), world.pay(other, token)]);
    expect(answers.map(({ body }) => body.status).sort()).toEqual(['declined', 'paid']);
    expect(world.bursar.of('authorizations')).toHaveLength(1);
  });

  test('a paid order refuses a second token; a declined one accepts it', async () => {
    const { order, cardRef, token } = await world.ready();
    world.bursar.answering = ({ kind }) => (kind === 'authorizations' ? declines : undefined);
    expect((await world.pay(order, token)).body.status).toBe('declined');
    world.bursar.answering = () => undefined;
    expect((await world.pay(order, await world.mint(cardRef))).body.status).toBe('paid');
    expect(await world.pay(order, await world.mint(cardRef))).toMatchObject({ status: 409 });
    expect(world.bursar.of('authorizations')).toHaveLength(2);
  });

  test.each([
    ['of another merchant', { merchantId: 'm_example_shop' }],
    ['with too low a ceiling', { ceilingCents: 1_249 }],
    ['that has expired', { expiresInMs: 30 }],
  ])('a token %s pays nothing and is not shown to Bursar', async (_what, fields) => {
    const order = await world.offer('sandbox-shop', 1_250);
    const token = await world.mint(await world.issue(), fields);
    if ('expiresInMs' in fields) await new Promise((resolve) => setTimeout(resolve, 40));
    const declined = { status: 200, body: { orderId: order.orderId, status: 'declined' } };
    expect(await world.pay(order, token, 'k')).toEqual(declined);
    expect(await world.pay(order, token, 'k')).toEqual(declined);
    expect(world.bursar.messages).toEqual([]);
  });

  test('an invented token is declined; a token at its ceiling pays', async () => {
    const { order, cardRef } = await world.ready();
    expect((await world.pay(order, 'spt_invented')).body.status).toBe('declined');
    expect((await world.pay(order, await world.mint(cardRef, { ceilingCents: 1_250 }))).body.status).toBe('paid');
  });

  test('an invalid payment is refused without a call to Bursar', async () => {
    const { order, token } = await world.ready();
    const other = await world.offer('sandbox-shop', 1_250);
    const body = { orderId: order.orderId, paymentToken: token };
    expect((await world.send('POST', order.payUrl, body)).status).toBe(400);
    expect((await world.send('POST', order.payUrl, { ...body, paymentToken: 5 }, 'k')).status).toBe(400);
    expect((await world.send('POST', order.payUrl, { ...body, amountCents: 1 }, 'k')).status).toBe(400);
    expect((await world.send('POST', order.payUrl, { ...body, orderId: other.orderId }, 'k')).status).toBe(400);
    const elsewhere = order.payUrl.replace('sandbox-shop', 'example-shop');
    expect((await world.send('POST', elsewhere, body, 'k')).status).toBe(404);
    expect(
      (await world.send('POST', '/shops/sandbox-shop/orders/ord_1/pay', { ...body, orderId: 'ord_1' }, 'k')).status,
    ).toBe(404);
    expect(world.bursar.messages).toEqual([]);
    await world.pay(order, token, 'used');
    expect((await world.pay(other, token, 'used')).status).toBe(409);
  });
});

describe('shops with a character', () => {
  test('sandbox-flaky answers 500 once per order after the authorization; the same key returns the outcome', async () => {
    const { order, token } = await world.ready('sandbox-flaky');
    expect((await world.pay(order, token, 'k')).status).toBe(500);
    expect(world.bursar.of('authorizations')).toHaveLength(1);
    for (const _again of [1, 2]) expect((await world.pay(order, token, 'k')).body.status).toBe('paid');
    expect(world.bursar.of('authorizations')).toHaveLength(1);
    const next = await world.ready('sandbox-flaky');
    expect((await world.pay(next.order, next.token)).status).toBe(500);
  });

  test('sandbox-hotel clears when Bursar’s clock is a day later, not before', async () => {
    const { order, token } = await world.ready('sandbox-hotel');
    expect((await world.pay(order, token)).body.status).toBe('paid');
    const waiting = () =>
      world.send('GET', '/network/messages?state=queued').then(({ body }) => body.messages as object[]);
    const [message] = await waiting();
    expect(message).toMatchObject({ kind: 'clearings', attempts: 0, dueAt: expect.any(String) });
    world.bursar.offsetMs = day - 60_000;
    const readsBefore = world.bursar.clockReads;
    await eventually(
      () => world.bursar.clockReads,
      (reads) => reads > readsBefore + 1,
    );
    expect(world.bursar.of('clearings')).toEqual([]);
    world.bursar.offsetMs = day;
    const [clearing] = await eventually(
      () => world.bursar.of('clearings'),
      (sent) => sent.length > 0,
    );
    const aheadMs = Date.parse(String(clearing?.body.clearedAt)) - Date.now();
    expect(Math.abs(aheadMs - day)).toBeLessThan(5_000);
    expect(await eventually(waiting, (left) => left.length === 0)).toEqual([]);
    expect(world.bursar.of('clearings')).toHaveLength(1);
  });

  test('while Bursar’s clock cannot be read only the hotel’s clearing waits', async () => {
    world.bursar.clockStatus = 503;
    const hotel = await world.ready('sandbox-hotel');
    await world.pay(hotel.order, hotel.token);
    const shop = await world.ready();
    await world.pay(shop.order, shop.token);
    await eventually(
      () => world.bursar.of('clearings').length,
      (count) => count === 1,
    );
    world.bursar.clockStatus = 200;
    const dated = () => world.send('GET', '/network/messages?state=queued').then(({ body }) => JSON.stringify(body));
    await eventually(dated, (shown) => shown.includes('dueAt'));
    world.bursar.offsetMs = day + 1_000;
    await eventually(
      () => world.bursar.of('clearings').length,
      (count) => count === 2,
    );
  });
});
