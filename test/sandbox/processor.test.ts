/** The simulated card processor over HTTP: what it gives, what a repeat gives, what it refuses. @module */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const soon = (): string => new Date(Date.now() + 60_000).toISOString();
const order = { cardId: 'ca_issue', usage: 'single' };

test('a card is issued with four digits and an expiry, and never with a number or a CVC', async () => {
  const { status, body } = await world.send('POST', '/processor/cards', order, world.newKey());
  expect(status).toBe(201);
  expect(body).toEqual({
    cardRef: expect.stringMatching(/^pc_/),
    last4: expect.stringMatching(/^\d{4}$/),
    brand: 'visa',
    expiryMonth: expect.any(Number),
    expiryYear: expect.any(Number),
  });
  expect(Number(body.expiryYear)).toBeGreaterThan(new Date().getUTCFullYear());
  // Random characters of the reference may be digits.
  const { cardRef: _reference, ...others } = body;
  expect(JSON.stringify(others)).not.toMatch(/\d{12,}/);
});

test('the same key gives the same card, also in parallel; for another card it is refused', async () => {
  const key = world.newKey();
  const answers = await Promise.all([1, 2, 3, 4].map(() => world.send('POST', '/processor/cards', order, key)));
  expect(new Set(answers.map(({ body }) => body.cardRef)).size).toBe(1);
  expect(await world.send('POST', '/processor/cards', { ...order, cardId: 'ca_other' }, key)).toMatchObject({
    status: 422,
    body: { error: expect.stringContaining('another card') },
  });
  const second = await world.send('POST', '/processor/cards', order, world.newKey());
  expect(second.body.cardRef).not.toBe(answers[0]?.body.cardRef);
});

test.each([
  ['no key', order, undefined, 'Idempotency-Key'],
  ['a key with a space', order, 'a b', 'Idempotency-Key'],
  ['an unknown usage', { ...order, usage: 'ten' }, 'k1', 'usage'],
  ['no cardId', { usage: 'multi' }, 'k1', 'cardId'],
  ['an unknown field', { ...order, colour: 'red' }, 'k1', 'colour'],
  ['broken JSON', '{', 'k1', 'JSON'],
])('issuing with %s is 400', async (_what, body, key, named) => {
  expect(await world.send('POST', '/processor/cards', body, key)).toMatchObject({
    status: 400,
    body: { error: expect.stringContaining(named) },
  });
});

test('a card changes state, repeats are fine, and closed is for good', async () => {
  const cardRef = await world.issue();
  const set = (state: string) => world.send('PUT', `/processor/cards/${cardRef}/state`, { state });
  for (const state of ['frozen', 'frozen', 'active', 'closed', 'closed']) {
    expect(await set(state)).toEqual({ status: 200, body: { cardRef, state } });
  }
  expect((await set('active')).status).toBe(409);
  expect((await set('melted')).status).toBe(400);
  expect((await world.send('PUT', '/processor/cards/pc_unknown/state', { state: 'active' })).status).toBe(404);
});

test('a token is opaque, and a repeat with a later expiry gives the first one', async () => {
  const [cardRef, key] = [await world.issue(), world.newKey()];
  const mint = (fields: object = {}) =>
    world.send(
      'POST',
      '/processor/tokens',
      { cardRef, merchantId: 'm_1', ceilingCents: 5, expiresAt: soon(), ...fields },
      key,
    );
  const first = await mint();
  expect(first).toMatchObject({ status: 201, body: { paymentToken: expect.stringMatching(/^spt_[0-9a-f]{48}$/) } });
  expect(await mint({ expiresAt: new Date(Date.now() + 120_000).toISOString() })).toEqual(first);
  expect((await mint({ ceilingCents: 6 })).status).toBe(422);
  expect((await mint({ merchantId: 'm_2' })).status).toBe(422);
});

test('refused tokens', async () => {
  const cardRef = await world.issue();
  const mint = (fields: object) =>
    world.send(
      'POST',
      '/processor/tokens',
      { cardRef, merchantId: 'm_1', ceilingCents: 5, expiresAt: soon(), ...fields },
      world.newKey(),
    );
  expect((await mint({ cardRef: 'pc_unknown' })).status).toBe(404);
  expect((await mint({ ceilingCents: 0 })).status).toBe(400);
  expect((await mint({ ceilingCents: 1.5 })).status).toBe(400);
  expect((await mint({ expiresAt: 'soon' })).status).toBe(400);
  expect((await mint({ expiresAt: new Date(Date.now() - 1).toISOString() })).body.error).toMatch(/has passed/);
  expect((await mint({ expiresAt: new Date(Date.now() + 25 * 3_600_000).toISOString() })).body.error).toMatch(
    /24 hours/,
  );
  await world.send('PUT', `/processor/cards/${cardRef}/state`, { state: 'frozen' });
  expect((await mint({})).status).toBe(201); // The network asks Bursar, who knows best whether it may spend.
  await world.send('PUT', `/processor/cards/${cardRef}/state`, { state: 'closed' });
  expect((await mint({})).status).toBe(409);
});

test('an address that is not there, and a body beyond the limit', async () => {
  expect((await world.send('GET', '/processor/nothing')).status).toBe(404);
  expect((await world.send('POST', '/processor/cards', { cardId: 'x'.repeat(70_000) }, 'k')).status).toBe(413);
});
