/**
 * Goal: a recurring intent is charged once in each of its windows, by its merchant, up to its tolerance, and by
 * nothing else. Method: real HTTP for agent and network, the business clock moved from window to window.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { applyToIntent } from '../../../src/domains/spending/intents/intent.service.ts';
import { endWindows } from '../../../src/domains/spending/intents/windows/window.service.ts';
import { day, minute } from '../../../src/kernel/instant.ts';
import { balancesOf, brokenInvariants, inDatabase } from '../../support/payments-world.ts';
import { aSubscriber, goTo, type Subscriber, windowIn } from '../../support/recurring-world.ts';
import { businessNow, startWorld, type World } from '../../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(async () => {
  expect(await brokenInvariants(world)).toEqual([]);
  await world.close();
});

test('declared: defaults, a year of life, and the window that begins now', async () => {
  const { declare, read } = await aSubscriber(world);
  const intent = await declare();
  expect(intent).toMatchObject({ status: 'approved', matchedTransactionId: null, transactionId: null });
  expect(intent.recurring).toEqual({
    cadence: 'monthly',
    windowStartDaysBefore: 3,
    windowEndDaysAfter: 2,
    amountTolerancePercent: 10,
    merchantMatch: true,
  });
  const { number, dueOn, from, to } = windowIn(intent);
  expect([number, dueOn, from]).toEqual([1, intent.createdAt.slice(0, 10), intent.createdAt]);
  expect(+new Date(to)).toBe(+new Date(dueOn) + 3 * day);
  expect(+new Date(intent.expiresAt) - +new Date(intent.createdAt)).toBe(366 * day);
  expect(await read(intent.id)).toEqual(intent);
});

test('charged once in each window; a charge that is second, between windows, too high or of another merchant is declined', async () => {
  const { declare, charge, clear, read, windows, eventsOf } = await aSubscriber(world);
  const intent = await declare();
  const first = await charge();
  expect(first).toMatchObject({ decision: 'approved' });
  const second = await charge();
  expect(second).toMatchObject({
    decision: 'declined',
    rule: 'intent_required',
    reason: expect.stringContaining(`transaction ${first.transactionId} was that charge`),
  });
  await clear(first.authorizationId);
  const afterFirst = await read(intent.id);
  expect(afterFirst).toMatchObject({ status: 'approved', completedAt: null, transactionId: first.transactionId });
  expect(windowIn(afterFirst).number).toBe(2);

  const next = windowIn(afterFirst);
  await goTo(world, new Date(+new Date(next.from) - minute));
  expect((await charge({ recurring: true })).reason).toContain(
    `may be charged next from ${next.from} until ${next.to}`,
  );
  await goTo(world, next.from);
  expect((await charge({ amountCents: 1_101 })).reason).toContain('with tolerance 11.00), asked 11.01');
  const fish = { id: 'm_fish', name: 'Fish Market', mcc: '5499', country: 'DE' };
  expect((await charge({ merchant: fish })).reason).toContain('expects Music Club, asked by Fish Market');
  const third = await charge({ amountCents: 1_100, recurring: true });
  expect(third.decision).toBe('approved');
  await clear(third.authorizationId, { amountCents: 1_100 });

  expect(
    (await windows(intent.id)).map(({ number, status, transactionId }) => [number, status, transactionId]),
  ).toEqual([
    [2, 'completed', third.transactionId],
    [1, 'completed', first.transactionId],
  ]);
  expect((await eventsOf(intent.id)).filter((name) => name !== 'intent.mismatched')).toEqual([
    ...['intent.created', 'intent.approved'],
    ...['intent.matched', 'intent_window.completed'],
    ...['intent.matched', 'intent_window.completed'],
  ]);
});

test('the event of each match contains its window and its charge', async () => {
  const { declare, charge, clear } = await aSubscriber(world);
  const intent = await declare();
  const { transactionId, authorizationId } = await charge();
  await clear(authorizationId);
  const told = await world.sql<{ name: string; data: Record<string, unknown> }>(
    `select name, data from events where subject_id = $1 and (name = 'intent.matched' or name like 'intent_window%')
     order by seq`,
    [intent.id],
  );
  const said = (status: string) =>
    expect.objectContaining({
      ...{ status: 'approved', matchedTransactionId: transactionId, transactionId },
      window: { ...windowIn(intent), status },
    });
  expect(told).toEqual([
    { name: 'intent.matched', data: said('matched') },
    { name: 'intent_window.completed', data: said('completed') },
  ]);
});

test('collected in part and the rest reversed, its window is completed', async () => {
  const { declare, charge, clear, reverse, windows, eventsOf } = await aSubscriber(world);
  const intent = await declare();
  const { transactionId, authorizationId } = await charge();
  await clear(authorizationId, { amountCents: 600, final: false });
  expect(await windows(intent.id)).toMatchObject([{ number: 1, status: 'matched' }]);
  await reverse(authorizationId);
  expect(await windows(intent.id)).toMatchObject([{ number: 1, status: 'completed', transactionId }]);
  expect((await eventsOf(intent.id)).at(-1)).toBe('intent_window.completed');
});

test('where the merchant does not matter any one is taken', async () => {
  const { declare, charge } = await aSubscriber(world);
  await declare({ recurring: { cadence: 'weekly', merchantMatch: false } });
  const anyShop = { id: 'm_any', name: 'Any Shop', mcc: '5999', country: 'DE' };
  expect((await charge({ merchant: anyShop })).decision).toBe('approved');
});

test('given back in full its window is open again, and too late it is missed', async () => {
  const { declare, charge, reverse, read, windows, eventsOf } = await aSubscriber(world);
  const intent = await declare();
  const first = await charge();
  await reverse(first.authorizationId);
  const reopened = await read(intent.id);
  expect(reopened).toMatchObject({ window: intent.window, transactionId: null });
  expect(await windows(intent.id)).toMatchObject([{ number: 1, status: 'open', transactionId: null }]);
  const again = await charge();
  expect(again.decision).toBe('approved');
  await goTo(world, windowIn(intent).to);
  await reverse(again.authorizationId);
  expect(await windows(intent.id)).toMatchObject([{ number: 1, status: 'missed', transactionId: null }]);
  expect(windowIn(await read(intent.id)).number).toBe(2);
  expect(await eventsOf(intent.id)).toContain('intent_window.missed');
});

test('a window that went by unpaid is missed also when the next one is charged and given back before that is seen', async () => {
  const { declare, charge, reverse, read, windows, eventsOf } = await aSubscriber(world);
  const intent = await declare({ recurring: { cadence: 'daily' } });
  await goTo(world, windowIn(intent).to);
  const { decision, authorizationId } = await charge();
  expect(decision).toBe('approved');
  await reverse(authorizationId);
  await inDatabase(world, async (database) => {
    const cause = {
      causeId: 'late',
      requestId: 'late',
      actor: { kind: 'deadline' },
      at: await businessNow(world),
    } as const;
    await database.write((tx) => endWindows(tx, intent.id, cause));
  });
  expect((await windows(intent.id)).map(({ number, status }) => `${number} ${status}`)).toEqual(['2 open', '1 missed']);
  expect(await eventsOf(intent.id)).toContain('intent_window.missed');
  expect(windowIn(await read(intent.id)).number).toBe(2);
  expect((await charge()).decision).toBe('approved');
});

test('reversed after the intent was cancelled, its window is missed, because it cannot be paid any more', async () => {
  const { declare, charge, reverse, asAgent, read, windows, eventsOf } = await aSubscriber(world);
  const intent = await declare();
  const { authorizationId } = await charge();
  await asAgent.intents.cancelIntent({ params: { id: intent.id } });
  await reverse(authorizationId);
  expect(await windows(intent.id)).toMatchObject([{ number: 1, status: 'missed', transactionId: null }]);
  expect(await eventsOf(intent.id)).toContain('intent_window.missed');
  expect(await read(intent.id)).toMatchObject({ status: 'cancelled', window: null });
});

describe('reversed before the intent ends, its window is missed, because it cannot be paid any more', () => {
  const expire = (id: string) =>
    inDatabase(world, async (database) => {
      const at = await businessNow(world);
      const cause = { causeId: 'deadline', requestId: 'deadline', actor: { kind: 'deadline' }, at } as const;
      for (const _twice of [1, 2]) await database.write((tx) => applyToIntent(tx, id, { kind: 'expire' }, cause));
    });
  const beDefault = ({ payer }: Subscriber) =>
    world.sql('update wallets set is_default = true where id = $1', [payer.walletId]); // For the agent's money.
  test.each<[string, string, (subscriber: Subscriber, id: string) => Promise<unknown>]>([
    ['cancelled', 'cancelled', ({ asAgent }, id) => asAgent.intents.cancelIntent({ params: { id } })],
    ['expired', 'expired', (_subscriber, id) => expire(id)],
    [
      'its agent closed',
      'cancelled',
      async (subscriber) => {
        await beDefault(subscriber);
        await subscriber.api.agents.closeAgent({ params: { id: subscriber.payer.agentId } });
      },
    ],
    [
      'the status of its agent changed to closed',
      'cancelled',
      async (subscriber) => {
        await beDefault(subscriber);
        const params = { id: subscriber.payer.agentId };
        await subscriber.api.agents.updateAgent({ params, body: { status: 'closed' } });
      },
    ],
  ])('%s', async (_what, status, end) => {
    const subscriber = await aSubscriber(world);
    const { declare, charge, reverse, read, windows, eventsOf } = subscriber;
    const intent = await declare();
    const { authorizationId } = await charge();
    await reverse(authorizationId);
    expect(await windows(intent.id)).toMatchObject([{ number: 1, status: 'open' }]);
    await end(subscriber, intent.id);
    expect(await windows(intent.id)).toMatchObject([{ number: 1, status: 'missed', transactionId: null }]);
    expect(await read(intent.id)).toMatchObject({ status, window: null });
    expect((await eventsOf(intent.id)).slice(-2)).toEqual([`intent.${status}`, 'intent_window.missed']);
    const [told] = await world.sql<{ data: unknown }>(
      `select data from events where subject_id = $1 and name = 'intent_window.missed'`,
      [intent.id],
    );
    expect(told?.data).toMatchObject({ id: intent.id, status, window: { ...windowIn(intent), status: 'missed' } });
    expect(
      await world.sql(`select details from audit where subject_id = $1 and action = 'intent_window.missed'`, [
        intent.id,
      ]),
    ).toEqual([{ details: { window: 1 } }]);
  });
});

test('cancelled with a charge under way: no window comes after, and that charge is collected', async () => {
  const { payer, declare, charge, clear, asAgent, read, windows, eventsOf } = await aSubscriber(world);
  const intent = await declare();
  const { authorizationId } = await charge();
  await asAgent.intents.cancelIntent({ params: { id: intent.id } });
  expect(await read(intent.id)).toMatchObject({ status: 'cancelled', window: null });
  await clear(authorizationId);
  expect(await windows(intent.id)).toMatchObject([{ number: 1, status: 'completed' }]);
  expect(await balancesOf(world, payer)).toMatchObject({ available: 999_000, held: 0 });
  await goTo(world, new Date((await businessNow(world)).getTime() + 31 * day));
  expect((await charge()).rule).toBe('intent_required');
  expect((await eventsOf(intent.id)).slice(-2)).toEqual(['intent.cancelled', 'intent_window.completed']);
});

test('a clearing that comes before its authorization completes the window as well', async () => {
  const { payer, declare, clear, charge, windows } = await aSubscriber(world);
  const intent = await declare();
  const id = `auth_${randomUUID()}`;
  await clear(id);
  expect((await charge({ id })).decision).toBe('approved');
  expect(await windows(intent.id)).toMatchObject([{ number: 1, status: 'completed' }]);
  expect(await balancesOf(world, payer)).toMatchObject({ available: 999_000, held: 0 });
});

test('a charge that the merchant makes by agreement waits for no cooldown', async () => {
  const { declare, charge } = await aSubscriber(world, { policy: { cooldown_minutes: 60 } });
  await declare();
  await declare({ purpose: 'film', expectedAmountEuros: 20 });
  expect((await charge({ recurring: true })).decision).toBe('approved');
  expect((await charge({ amountCents: 2_000 })).rule).toBe('cooldown');
  expect((await charge({ amountCents: 2_000, recurring: true })).decision).toBe('approved');
});

describe('counted at declaration', () => {
  const plain = { recurring: undefined, ttlMinutes: 60 };

  test('while its window is open and unpaid, once; paid for it counts as spent and not twice', async () => {
    const { declare, charge } = await aSubscriber(world, { policy: { daily_limit_cents: 2_500 } });
    await declare();
    expect((await declare({ ...plain, expectedAmountEuros: 15.01 })).policyCheck.reason).toBe(
      'daily limit 25.00, spent 10.00, asked 15.01',
    );
    await charge();
    expect((await declare({ ...plain, expectedAmountEuros: 15.01 })).policyCheck.reason).toBe(
      'daily limit 25.00, spent 10.00, asked 15.01',
    );
    expect((await declare({ ...plain, expectedAmountEuros: 15 })).status).toBe('approved');
  });

  test('its next window only once the day has come', async () => {
    const { declare, charge } = await aSubscriber(world, { policy: { daily_limit_cents: 1_500 } });
    const intent = await declare({ recurring: { cadence: 'daily' } });
    await charge();
    await goTo(world, windowIn(intent).to);
    expect((await declare({ ...plain, expectedAmountEuros: 5.01 })).policyCheck.reason).toBe(
      'daily limit 15.00, spent 10.00, asked 5.01',
    );
    await charge();
    expect((await declare({ ...plain, expectedAmountEuros: 5 })).status).toBe('approved');
  });
});

describe('confirmed elsewhere', () => {
  const confirm = (
    { asAgent }: Awaited<ReturnType<typeof aSubscriber>>,
    intentId: string,
    key: string = randomUUID(),
  ) => asAgent.checkout.confirmCheckout({ body: { intentId }, headers: { 'Idempotency-Key': key } });

  test('before the authorization: the window is completed, the authorization is linked, a second one finds no window', async () => {
    const subscriber = await aSubscriber(world);
    const { declare, charge, windows, read } = subscriber;
    const intent = await declare();
    const { transactionId } = await confirm(subscriber, intent.id, 'the-key');
    expect((await confirm(subscriber, intent.id, 'the-key')).transactionId).toBe(transactionId);
    expect(await windows(intent.id)).toMatchObject([{ number: 1, status: 'completed', transactionId }]);
    expect(await read(intent.id)).toMatchObject({ status: 'approved', transactionId, window: { number: 2 } });
    await expect(confirm(subscriber, intent.id)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining(`was confirmed before, with transaction ${transactionId}`),
    });
    expect(await charge()).toMatchObject({ decision: 'approved', transactionId });
    expect((await charge()).rule).toBe('intent_required');
  });

  test('after the authorization, and between two windows, it links the charge that is there', async () => {
    const subscriber = await aSubscriber(world);
    const { declare, charge, clear, windows } = subscriber;
    const intent = await declare();
    const { transactionId, authorizationId } = await charge();
    await goTo(world, windowIn(intent).to);
    expect(await confirm(subscriber, intent.id)).toMatchObject({ transactionId });
    expect(await windows(intent.id)).toMatchObject([{ status: 'completed', transactionId }]);
    await clear(authorizationId);
    await expect(confirm(subscriber, intent.id)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('it may be paid for next from'),
    });
  });
});

describe('refused at declaration', () => {
  test.each<[string, object, RegExp]>([
    ['no cadence', { recurring: {} }, /recurring\.cadence/],
    ['an unheard-of cadence', { recurring: { cadence: 'hourly' } }, /recurring\.cadence/],
    ['a negative day', { recurring: { cadence: 'daily', windowStartDaysBefore: -1 } }, /windowStartDaysBefore/],
    ['half a day', { recurring: { cadence: 'daily', windowEndDaysAfter: 0.5 } }, /windowEndDaysAfter/],
    ['more than half a year', { recurring: { cadence: 'yearly', windowEndDaysAfter: 183 } }, /windowEndDaysAfter/],
    [
      'a tolerance above 100 %',
      { recurring: { cadence: 'daily', amountTolerancePercent: 101 } },
      /amountTolerancePercent/,
    ],
    ['a field that is none', { recurring: { cadence: 'daily', until: 'x' } }, /until/],
    ['a text', { recurring: 'monthly' }, /recurring/],
    ['more than five years', { ttlMinutes: 2_635_201 }, /ttlMinutes/],
    [
      '30 days and a minute for one payment',
      { recurring: undefined, ttlMinutes: 43_201 },
      /ttlMinutes: must be at most 43200/,
    ],
  ])('%s', async (_what, more, message) => {
    const { declare } = await aSubscriber(world);
    await expect(declare(more)).rejects.toMatchObject({ status: 400, message: expect.stringMatching(message) });
  });
});

test('windows are paged, latest first, and another list’s cursor is refused', async () => {
  const { api, declare } = await aSubscriber(world);
  const intent = await declare();
  await world.sql(
    `insert into intent_windows (intent_id, number, due_at, from_at, to_at, status, created_at, updated_at)
     select $1, n, now() + n * interval '1 month', now() + n * interval '1 month', now() + n * interval '1 month 1 day',
       'missed', now(), now() from generate_series(1, 5) n`,
    [intent.id],
  );
  const page = (query: object) => api.intents.listIntentWindows({ params: { id: intent.id }, query });
  const first = await page({ limit: 2 });
  expect([first.hasMore, first.data.map(({ number }) => number)]).toEqual([true, [5, 4]]);
  const second = await page({ limit: 100, cursor: first.nextCursor });
  expect([second.hasMore, second.data.map(({ number }) => number)]).toEqual([false, [3, 2, 1]]);
  await declare({ purpose: 'another' });
  const other = await api.intents.listIntents({ query: { limit: 1 } });
  await expect(page({ cursor: other.nextCursor })).rejects.toMatchObject({ status: 400 });
});
