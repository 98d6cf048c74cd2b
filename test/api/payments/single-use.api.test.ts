/**
 * Goal: a card for one payment pays once, however its charges, clearings and reversals come. Method: the network's own
 * messages over real HTTP, in parallel where that is the point.
 * @module
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { aPayer, brokenInvariants, expireIn, networkOf, type Payer } from '../../support/payments-world.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
let network: ReturnType<typeof networkOf>;
let payer: Payer;
beforeAll(async () => {
  world = await startWorld();
  network = networkOf(world);
});
afterAll(async () => {
  expect(await brokenInvariants(world)).toEqual([]);
  await world.close();
});
beforeEach(async () => {
  payer = await aPayer(world, { card: { usage: 'single' } });
});

const card = async () => (await world.sql('select status, frozen_by from cards where id = $1', [payer.cardId]))[0];
const closings = async () =>
  (await world.sql(`select 1 from events where subject_id = $1 and name = 'card.closed'`, [payer.cardId])).length;
const pay = async (over: Record<string, unknown> = {}) => {
  const message = network.authorizationOf(payer, over);
  const { body } = await network.send<{ decision: string; rule: string }>('authorizations', message);
  return { ...body, authorizationId: message.id };
};

test('the card closes with the payment that completes, and the event is sent once', async () => {
  const { authorizationId } = await pay();
  expect(await card()).toMatchObject({ status: 'active' });
  const clearing = { id: `clr_${authorizationId}`, authorizationId };
  await Promise.all([network.clear(payer, clearing), network.clear(payer, clearing)]);
  expect(await card()).toEqual({ status: 'closed', frozen_by: null });
  expect(await closings()).toBe(1);
  expect(await pay()).toMatchObject({ decision: 'declined', rule: 'card_status' });
});

describe('while its payment is held', () => {
  test('a second one is declined, and an account check is not', async () => {
    await pay();
    expect(await pay({ amountCents: 1 })).toMatchObject({ decision: 'declined', rule: 'single_use' });
    expect(await pay({ amountCents: 0, kind: 'verification' })).toMatchObject({ decision: 'approved' });
  });

  test.each([2, 12])('of %i at once one is approved', async (many) => {
    const answers = await Promise.all(Array.from({ length: many }, () => pay()));
    const rules = answers.map(({ rule }) => rule).sort();
    expect(rules).toEqual([...Array.from({ length: many - 1 }, () => 'single_use'), 'within_rules']);
  });
});

test('an account check before it does not use the card', async () => {
  await pay({ amountCents: 0, kind: 'verification' });
  expect(await pay()).toMatchObject({ decision: 'approved' });
});

test('collected in parts, the card stays open until the last part, and declines other payments', async () => {
  const { authorizationId } = await pay();
  await network.clear(payer, { authorizationId, amountCents: 500, final: false });
  expect(await card()).toMatchObject({ status: 'active' });
  expect((await pay()).rule).toBe('single_use');
  await network.clear(payer, { authorizationId, amountCents: 500, final: true });
  expect(await card()).toMatchObject({ status: 'closed' });
});

test.each([
  ['for one payment', {}, { status: 'closed', frozen_by: null }],
  ['with a limit of one charge', { max_usage_count: 1 }, { status: 'frozen', frozen_by: 'policy' }],
])('collected before its authorization, it stops with the authorization: %s', async (_card, policy, stopped) => {
  payer = await aPayer(world, { card: { usage: 'max_usage_count' in policy ? 'multi' : 'single' }, policy });
  const { id: authorizationId, ...message } = network.authorizationOf(payer);
  await network.clear(payer, { authorizationId });
  expect(await card()).toMatchObject({ status: 'active' });
  expect((await network.send('authorizations', { id: authorizationId, ...message })).status).toBe(200);
  expect(await card()).toEqual(stopped);
});

test('collected in part and the rest reversed, it is used', async () => {
  const { authorizationId } = await pay();
  await network.clear(payer, { authorizationId, amountCents: 500, final: false });
  await network.reverse(payer, { authorizationId });
  expect(await card()).toMatchObject({ status: 'closed' });
  expect(await closings()).toBe(1);
});

test('after a full reversal the card pays again', async () => {
  const { authorizationId } = await pay();
  await network.reverse(payer, { authorizationId, amountCents: 250 });
  expect((await pay()).rule).toBe('single_use');
  await network.reverse(payer, { authorizationId });
  expect(await card()).toMatchObject({ status: 'active' });
  expect(await pay()).toMatchObject({ decision: 'approved' });
});

test('an expired hold makes the card usable again; a late clearing uses it after all', async () => {
  const { authorizationId } = await pay();
  await expireIn(world, new Date(Date.now() + 8 * 86_400_000));
  expect(await card()).toMatchObject({ status: 'active' });
  await network.clear(payer, { authorizationId });
  expect(await card()).toMatchObject({ status: 'closed' });
});

test('a concurrent clearing and charge are never two payments', async () => {
  const { authorizationId } = await pay();
  const [second] = await Promise.all([pay(), network.clear(payer, { authorizationId })]);
  expect(second.decision).toBe('declined');
  expect(await card()).toMatchObject({ status: 'closed' });
});

test('frozen meanwhile, it closes with its payment', async () => {
  const { authorizationId } = await pay();
  await world.sql(`update cards set status = 'frozen', frozen_by = 'card' where id = $1`, [payer.cardId]);
  await network.clear(payer, { authorizationId });
  expect(await card()).toEqual({ status: 'closed', frozen_by: null });
});
