/**
 * Goal: every payment ends, whatever ends it, and takes with it what it had: intent, card and the money of an agent
 * that is closed meanwhile. Real HTTP, rows and book.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { agentsArea } from '../../../src/domains/parties/agents/agent.contract.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { eventsOf } from '../../support/events.ts';
import { anIntent, aPayer, brokenInvariants, expireIn, networkOf, type Payer } from '../../support/payments-world.ts';
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
afterAll(() => world.close());

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);
const authorized = async (payer: Payer, over: Record<string, unknown> = {}) => {
  const message = network.authorizationOf(payer, over);
  const { body } = await network.send<{ transactionId: string; decision: string }>('authorizations', message);
  expect(body.decision).toBe('approved');
  return { authorizationId: message.id, transactionId: body.transactionId };
};
const transaction = async (id: string) =>
  (
    await world.sql(
      `select status, type, held_cents::int as held, cleared_cents::int as cleared from transactions where id = $1`,
      [id],
    )
  )[0];
const intentOf = async (id: string) =>
  (await world.sql('select status, matched_transaction_id from intents where id = $1', [id]))[0];
const cardOf = async ({ cardId }: Payer) =>
  (await world.sql<{ status: string }>('select status from cards where id = $1', [cardId]))[0]?.status;
const completions = async (payer: Payer) =>
  (await eventsOf(world, payer.owner.ownerId)).filter(({ name }) => name === 'transaction.completed');

type Ended = { authorizationId: string; payer: Payer };
const endings: [string, (ended: Ended) => Promise<unknown>][] = [
  ['a reversal', ({ authorizationId, payer }) => network.reverse(payer, { authorizationId })],
  ['its age', () => expireIn(world, inDays(7.1))],
];

describe.each(endings)('a payment whose hold was used up by a clearing that is not final, ended by %s', (_, end) => {
  test('is completed once, with its intent', async () => {
    const payer = await aPayer(world, { policy: { require_intent: true } });
    const intentId = await anIntent(world, payer);
    const { authorizationId, transactionId } = await authorized(payer);
    await network.clear(payer, { authorizationId, final: false });
    expect(await transaction(transactionId)).toMatchObject({ status: 'pending', held: 0, cleared: 1_250 });
    await end({ authorizationId, payer });
    await end({ authorizationId, payer });
    expect(await transaction(transactionId)).toEqual({
      status: 'completed',
      type: 'capture',
      held: 0,
      cleared: 1_250,
    });
    expect(await intentOf(intentId)).toMatchObject({ status: 'completed' });
    expect(await completions(payer)).toHaveLength(1);
  });

  test.each([
    ['closes a card for one payment', { card: { usage: 'single' } }, 'closed'],
    ['freezes a card that reached its count', { policy: { max_usage_count: 1 } }, 'frozen'],
  ])('%s', async (__, over, expected) => {
    for (const amountCents of [1_250, 400]) {
      const payer = await aPayer(world, over);
      const { authorizationId } = await authorized(payer);
      await network.clear(payer, { authorizationId, amountCents, final: false });
      expect(await cardOf(payer)).toBe('active');
      await end({ authorizationId, payer });
      expect(await cardOf(payer)).toBe(expected);
    }
  });
});

describe('a clearing that is not the last one grows old too', () => {
  test('of a declined charge', async () => {
    const payer = await aPayer(world, { fundsCents: 0 });
    const message = network.authorizationOf(payer);
    const { body } = await network.send<{ transactionId: string }>('authorizations', message);
    await network.clear(payer, { authorizationId: message.id, final: false });
    await expireIn(world, inDays(6.9));
    expect(await transaction(body.transactionId)).toMatchObject({ status: 'pending' });
    await expireIn(world, inDays(7.1));
    expect(await transaction(body.transactionId)).toMatchObject({ status: 'completed', cleared: 1_250 });
  });

  test('without an authorization', async () => {
    const payer = await aPayer(world);
    await network.clear(payer, { authorizationId: `auth_${randomUUID()}`, final: false });
    await expireIn(world, inDays(1.1));
    const statuses = () => world.sql('select status from transactions where card_id = $1', [payer.cardId]);
    expect(await statuses()).toEqual([{ status: 'pending' }]);
    await expireIn(world, inDays(8.2));
    expect(await statuses()).toEqual([{ status: 'completed' }]);
  });

  test('after its hold was given back for its age', async () => {
    const payer = await aPayer(world);
    const { authorizationId, transactionId } = await authorized(payer, {
      expiresAt: new Date(Date.now() + 3_700_000).toISOString(),
    });
    await expireIn(world, new Date(Date.now() + 3_800_000));
    expect(await transaction(transactionId)).toMatchObject({ status: 'reversed', held: 0 });
    await network.clear(payer, { authorizationId, final: false });
    expect(await transaction(transactionId)).toMatchObject({ status: 'pending', cleared: 1_250 });
    await expireIn(world, inDays(7.1));
    expect(await transaction(transactionId)).toMatchObject({ status: 'completed', cleared: 1_250 });
  });
});

test.each([
  ['in the past', -86_400_000],
  ['now', 0],
  ['in a moment', 60_000],
])('a network that says the hold ends %s is not believed', async (_, ms) => {
  const payer = await aPayer(world);
  const { transactionId } = await authorized(payer, { expiresAt: new Date(Date.now() + ms).toISOString() });
  await expireIn(world, inDays(6.9));
  expect(await transaction(transactionId)).toMatchObject({ status: 'pending', held: 1_250 });
  await expireIn(world, inDays(7.1));
  expect(await transaction(transactionId)).toMatchObject({ status: 'reversed', held: 0 });
});

describe('an agent that is closed while its budget holds money', () => {
  const balance = async (account: string) =>
    Number(
      (
        await world.sql<{ cents: string }>('select balance_cents as cents from ledger_accounts where name = $1', [
          account,
        ])
      )[0]?.cents ?? 0,
    );
  const moneyOf = async ({ agentId }: Payer, walletId: string) => ({
    available: await balance(`agent:${agentId}:available`),
    held: await balance(`agent:${agentId}:held`),
    wallet: await balance(`wallet:${walletId}:available`),
  });
  /** Its own wallet, which is closed where said so; the owner's default one is another. */
  async function aBudget(own: 'open' | 'closed' = 'closed'): Promise<{ payer: Payer; walletId: string }> {
    const policy = { require_intent: own === 'closed' };
    const payer = await aPayer(world, { funding: 'budget', fundsCents: 5_000, policy });
    const walletId = newId('wallet');
    await world.sql(
      `insert into wallets (id, owner_id, name, is_default, created_at, updated_at) values ($1, $2, 'Default', true, now(), now())`,
      [walletId, payer.owner.ownerId],
    );
    if (own === 'open') return { payer, walletId: payer.walletId };
    await closeOwnWallet(payer);
    return { payer, walletId };
  }
  const closeOwnWallet = (payer: Payer) =>
    world.sql(`update wallets set status = 'closed', closed_at = now() where id = $1`, [payer.walletId]);
  const close = (payer: Payer) =>
    payer.owner
      .client(agentsArea)
      .closeAgent({ params: { id: payer.agentId }, headers: { 'Idempotency-Key': randomUUID() } });

  test.each<[string, (ended: Ended) => Promise<unknown>, number]>([
    ...endings.map(([how, end]): [string, typeof end, number] => [how, end, 5_000]),
    [
      'a final clearing of a part',
      ({ authorizationId, payer }) => network.clear(payer, { authorizationId, amountCents: 250 }),
      4_750,
    ],
    [
      'a final clearing of 0',
      ({ authorizationId, payer }) => network.clear(payer, { authorizationId, amountCents: 0 }),
      5_000,
    ],
  ])(
    'what is available comes back at once, what is held at its end by %s: to the default wallet',
    async (_, end, left) => {
      const { payer, walletId } = await aBudget();
      const intentId = await anIntent(world, payer, { ttlMs: 30 * 86_400_000 });
      const { authorizationId } = await authorized(payer);
      await close(payer);
      expect(await moneyOf(payer, walletId)).toEqual({ available: 0, held: 1_250, wallet: 3_750 });
      expect(await intentOf(intentId)).toMatchObject({ status: 'approved' });
      await end({ authorizationId, payer });
      expect(await moneyOf(payer, walletId)).toEqual({ available: 0, held: 0, wallet: left });
      // No payment can use the intent any more.
      expect(await intentOf(intentId)).toMatchObject(
        left === 5_000 ? { status: 'cancelled', matched_transaction_id: null } : { status: 'completed' },
      );
    },
  );

  test.each<[string, (ended: Ended) => Promise<unknown>]>(endings)(
    'all of it comes back to the wallet that gave it, while that is open: what is held at its end by %s',
    async (_, end) => {
      const { payer, walletId } = await aBudget('open');
      const { authorizationId } = await authorized(payer);
      await close(payer);
      expect(await moneyOf(payer, walletId)).toEqual({ available: 0, held: 1_250, wallet: 3_750 });
      await end({ authorizationId, payer });
      expect(await moneyOf(payer, walletId)).toEqual({ available: 0, held: 0, wallet: 5_000 });
    },
  );

  test('held money goes to the default wallet where the agent’s wallet is closed before the end', async () => {
    const { payer, walletId } = await aBudget('open');
    const { authorizationId } = await authorized(payer);
    await close(payer);
    await closeOwnWallet(payer);
    await network.reverse(payer, { authorizationId });
    expect(await moneyOf(payer, walletId)).toEqual({ available: 0, held: 0, wallet: 3_750 });
    const [fallback] = await world.sql<{ id: string }>('select id from wallets where owner_id = $1 and is_default', [
      payer.owner.ownerId,
    ]);
    expect(await balance(`wallet:${fallback?.id}:available`)).toBe(1_250);
  });

  test('closed concurrently with the reversal: all money reaches the owner', async () => {
    for (let round = 0; round < 8; round++) {
      const { payer, walletId } = await aBudget();
      const intentId = await anIntent(world, payer);
      const { authorizationId } = await authorized(payer);
      await Promise.all([network.reverse(payer, { authorizationId }), close(payer)]);
      expect(await moneyOf(payer, walletId)).toEqual({ available: 0, held: 0, wallet: 5_000 });
      expect(await intentOf(intentId)).toMatchObject({ status: 'cancelled' });
    }
  });
});

test('a partial reversal before an authorization that finds no money leaves its intent to the clearing', async () => {
  const payer = await aPayer(world, { fundsCents: 0, policy: {} });
  const intentId = await anIntent(world, payer, { amountCents: 10_000 });
  const message = network.authorizationOf(payer, { amountCents: 10_000 });
  await network.reverse(payer, { id: `rev_${message.id}`, authorizationId: message.id, amountCents: 5_000 });
  await network.clear(payer, { id: `clr_${message.id}`, authorizationId: message.id, amountCents: 5_000, final: true });
  await network.send('authorizations', message);
  const [intent] = await world.sql('select status, matched_transaction_id is null as free from intents where id = $1', [
    intentId,
  ]);
  const [transaction] = await world.sql('select status from transactions where authorization_id = $1', [message.id]);
  expect(transaction).toEqual({ status: 'completed' });
  expect(intent).toMatchObject({ status: 'completed' });
});
