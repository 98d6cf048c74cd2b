/**
 * Goal: under concurrent calls a window of a recurring intent is paid for once and the money is right. Method: real
 * HTTP and rows; each race is run over many agents, because one run may happen to be in order.
 * @module
 */

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { allowAllRisk } from '../../../src/adapters/risk/allow-all.ts';
import type { Database } from '../../../src/db/database.ts';
import { authorizationMessage } from '../../../src/domains/payments/network/network.contract.ts';
import { endWindows } from '../../../src/domains/spending/intents/windows/window.service.ts';
import { authorizeCard } from '../../../src/usecases/payments/authorize-card.ts';
import { balancesOf, brokenInvariants, inDatabase, networkOf } from '../../support/payments-world.ts';
import { aSubscriber, goTo, musicClub, type Subscriber, windowIn } from '../../support/recurring-world.ts';
import { businessNow, startWorld, type World } from '../../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(async () => {
  expect(await brokenInvariants(world)).toEqual([]);
  const [seen] = await world.sql<{ deadlocks: string }>(
    'select deadlocks from pg_stat_database where datname = current_database()',
  );
  expect(Number(seen?.deadlocks)).toBe(0);
  await world.close();
});

async function overMany(
  count: number,
  race: (subscriber: Subscriber, intent: Awaited<ReturnType<Subscriber['declare']>>) => Promise<void>,
): Promise<void> {
  for (let turn = 0; turn < count; turn++) {
    const subscriber = await aSubscriber(world);
    await race(subscriber, await subscriber.declare());
  }
}
const confirm = ({ asAgent }: Subscriber, intentId: string) =>
  asAgent.checkout.confirmCheckout({ body: { intentId }, headers: { 'Idempotency-Key': randomUUID() } });
const cancel = ({ asAgent }: Subscriber, id: string) =>
  asAgent.intents.cancelIntent({ params: { id }, headers: { 'Idempotency-Key': randomUUID() } });

test('of four concurrent authorizations for one window one is approved, with one hold', async () => {
  await overMany(8, async ({ payer, charge, windows }, { id }) => {
    const answers = await Promise.all(Array.from({ length: 4 }, () => charge()));
    const approved = answers.filter(({ decision }) => decision === 'approved');
    expect(approved).toHaveLength(1);
    expect(new Set(answers.map(({ rule }) => rule))).toEqual(new Set(['within_rules', 'intent_required']));
    expect(await balancesOf(world, payer)).toMatchObject({ available: 999_000, held: 1_000 });
    expect(await windows(id)).toMatchObject([{ status: 'matched', transactionId: approved[0]?.transactionId }]);
  });
});

test('an authorization beside the cancel: approved before it, or declined after it', async () => {
  await overMany(12, async (subscriber, { id }) => {
    const [answer] = await Promise.all([subscriber.charge(), cancel(subscriber, id)]);
    const isApproved = answer.decision === 'approved';
    expect(await subscriber.windows(id)).toHaveLength(isApproved ? 1 : 0);
    expect((await subscriber.read(id)).status).toBe('cancelled');
    const held = isApproved ? 1_000 : 0;
    expect(await balancesOf(world, subscriber.payer)).toMatchObject({ available: 1_000_000 - held, held });
    expect((await subscriber.charge()).rule).toBe('intent_required');
  });
});

test('an authorization beside a confirm is the one payment of both', async () => {
  await overMany(12, async (subscriber, { id }) => {
    const [answer, confirmed] = await Promise.all([subscriber.charge(), confirm(subscriber, id)]);
    expect(answer).toMatchObject({ decision: 'approved', transactionId: confirmed.transactionId });
    expect(await subscriber.windows(id)).toMatchObject([
      { number: 1, status: 'completed', transactionId: confirmed.transactionId },
    ]);
    expect(await balancesOf(world, subscriber.payer)).toMatchObject({ held: 1_000 });
  });
});

test('of two concurrent confirms one completes the window', async () => {
  await overMany(8, async (subscriber, { id }) => {
    const both = await Promise.allSettled([confirm(subscriber, id), confirm(subscriber, id)]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await world.sql('select id from transactions where intent_id = $1', [id])).toHaveLength(1);
  });
});

test('a reversal beside the next authorization leaves one hold or none', async () => {
  await overMany(12, async ({ payer, charge, reverse, windows }, { id }) => {
    const first = await charge();
    const [second] = await Promise.all([charge(), reverse(first.authorizationId)]);
    const isApproved = second.decision === 'approved';
    expect(await windows(id)).toMatchObject([
      isApproved ? { status: 'matched', transactionId: second.transactionId } : { status: 'open', transactionId: null },
    ]);
    expect(await balancesOf(world, payer)).toMatchObject({ held: isApproved ? 1_000 : 0 });
  });
});

test('the end of a window beside the first charge of the next one: missed and matched, in either order', async () => {
  const subscribers = await Promise.all(Array.from({ length: 6 }, () => aSubscriber(world)));
  const intents = await Promise.all(subscribers.map(({ declare }) => declare({ recurring: { cadence: 'daily' } })));
  const last = intents.at(-1);
  if (last === undefined) throw new Error('nothing was declared');
  await goTo(world, windowIn(last).to);
  await inDatabase(world, async (database) => {
    for (const [index, { id }] of intents.entries()) {
      const subscriber = subscribers[index] as Subscriber;
      const at = await businessNow(world);
      const end = () => {
        const causeId = randomUUID();
        const cause = { causeId, requestId: causeId, actor: { kind: 'deadline' }, at } as const;
        return database.write((tx) => endWindows(tx, id, cause));
      };
      const [answer] = await Promise.all([subscriber.charge(), end(), end()]);
      expect(answer.decision).toBe('approved');
      await end();
      expect((await subscriber.windows(id)).map(({ number, status }) => `${number} ${status}`)).toEqual([
        '2 matched',
        '1 missed',
      ]);
      expect(windowIn(await subscriber.read(id)).number).toBe(3);
      const told = await subscriber.eventsOf(id);
      expect(told.filter((name) => name === 'intent_window.missed')).toHaveLength(1);
    }
  });
});

test('sent before the end of a window that is missed by now: evaluated without the intent, with the reason', async () => {
  const { payer, declare, windows } = await aSubscriber(world);
  const intent = await declare({ recurring: { cadence: 'daily' } });
  const end = new Date(windowIn(intent).to);
  const asked = async (database: Database) => {
    const authorize = authorizeCard({
      database,
      log: { error: () => undefined },
      requestApproval: async () => undefined,
      risk: allowAllRisk,
    });
    const message = authorizationMessage.parse(
      networkOf(world).authorizationOf(payer, { amountCents: 1_000, merchant: musicClub }),
    );
    const at = new Date(end.getTime() - 1);
    const cause = { causeId: message.id, requestId: message.id, actor: { kind: 'network' }, at } as const;
    return authorize({ adapter: 'sandbox', message, requestHash: 'hash', cause });
  };
  await inDatabase(world, async (database) => {
    const cause = { causeId: randomUUID(), requestId: 'end', actor: { kind: 'deadline' }, at: end } as const;
    await database.write((tx) => endWindows(tx, intent.id, cause));
    expect(await asked(database)).toMatchObject({
      decision: 'declined',
      rule: 'intent_required',
      reason: expect.stringContaining(`went by unpaid`),
    });
  });
  expect(await windows(intent.id)).toMatchObject([{ number: 1, status: 'missed' }]);
});
