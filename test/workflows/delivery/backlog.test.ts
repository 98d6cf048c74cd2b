/**
 * Goal: however many deliveries wait for one receiver, a claim reads as many as it may send, and other owners' deliveries
 * arrive. Method: backlogs as rows; PostgreSQL's own counts of what the claim's transaction read; then a relay and a real
 * receiver.
 * @module
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { runSql } from '../../../src/db/statement.ts';
import type { Tx } from '../../../src/db/tx.ts';
import {
  type Backlog as Looked,
  lookForBacklog,
  unknownBacklog,
} from '../../../src/domains/delivery/webhooks/delivery.backlog.service.ts';
import { claimRetries } from '../../../src/domains/delivery/webhooks/delivery.claim.service.ts';
import { endPendingOf } from '../../../src/domains/delivery/webhooks/delivery.end.service.ts';
import { isUnderWay, releaseExpired } from '../../../src/domains/delivery/webhooks/delivery.lease.service.ts';
import { minute } from '../../../src/kernel/instant.ts';
import { claimLimits } from '../../../src/relay/deliveries.ts';
import { claimInSteps } from '../../../src/relay/first-attempts.ts';
import {
  addBacklog,
  type Backlog,
  countDeliveries,
  endLeases,
  inside,
  readSoFar,
  type Subscribed,
  subscribedTo,
} from '../../support/backlog.ts';
import { type DeliveryWorld, startDeliveryWorld } from '../../support/delivery-world.ts';
import { heldBack } from '../../support/receiver.ts';
import { businessNow, eventually } from '../../support/world.ts';

const many = 100_000;
/** The index entries of 100,000 waiting deliveries alone take more blocks than this. */
const fewBlocks = 10_000;
const fewEntries = 3_000;

let bursar: DeliveryWorld;
beforeAll(async () => {
  bursar = await startDeliveryWorld();
});
afterEach(async () => {
  await bursar.stopRelays();
  await bursar.world.sql('truncate webhook_deliveries, delivery_claims');
});
afterAll(() => bursar.close());

const subscribed = (box: string, ordered = false) => subscribedTo(bursar, box, ordered);
const backlog = (subscription: Subscribed, wanted: Backlog) => addBacklog(bursar, subscription, wanted);
const waiting = (webhookId: string, condition: string) => countDeliveries(bursar, webhookId, condition);

const sendAll = `update webhook_deliveries set status = 'succeeded', attempts_made = 1, claims = 1, next_attempt_at = null,
  delivered_at = created_at where status = 'pending'`;

const reading = <T>(work: (tx: Tx) => Promise<T>) =>
  bursar.infrastructure.database.write(async (tx) => {
    const before = await readSoFar(tx);
    const result = await work(tx);
    const after = await readSoFar(tx);
    return { result, entries: after.entries - before.entries, blocks: after.blocks - before.blocks };
  });

const claimReading = () => reading((tx) => claimInSteps(inside(tx), 1_000, claimLimits));
const countOf = (claimed: readonly { webhookId: string }[], { webhookId }: { webhookId: string }): number =>
  claimed.filter((one) => one.webhookId === webhookId).length;

describe('what a claim reads', () => {
  test(`${many} of one ordered subject: each claim reads a part of them, and other owners get all their places`, async () => {
    const ordered = await subscribed('one-subject', true);
    await backlog(ordered, { count: many, subject: `'po_1'` });
    const other = await subscribed('beside-one-subject');
    await backlog(other, { count: 250 });
    const first = await claimReading();
    expect([countOf(first.result.claimed, ordered), countOf(first.result.claimed, other)]).toEqual([1, 95]); // The other five are for retries.
    const second = await claimReading();
    expect(second.result).toMatchObject({ claimed: [], hasMore: true });
    for (const { entries, blocks } of [first, second]) {
      expect(entries).toBeLessThan(10 * fewEntries); // It parked a thousand of them.
      expect(blocks).toBeLessThan(10 * fewBlocks);
    }
    while ((await claimReading()).result.hasMore);
    await bursar.world.sql('vacuum webhook_deliveries');
    const parked = await claimReading();
    expect(parked.entries).toBeLessThan(fewEntries);
    expect(parked.blocks).toBeLessThan(fewBlocks);
    expect(await waiting(ordered.webhookId, 'not is_parked')).toBeLessThanOrEqual(201);
  }, 300_000);

  test('as many subjects whose first delivery failed: the deliveries behind it are not read by every claim', async () => {
    const ordered = await subscribed('many-subjects', true);
    const count = 20_000;
    await backlog(ordered, { count, subject: `'po_' || n`, attempts: 1, dueInMs: 60 * minute });
    await backlog(ordered, { count, subject: `'po_' || n` });
    const other = await subscribed('beside-many-subjects');
    await backlog(other, { count: 50 });
    const first = await claimReading();
    expect([countOf(first.result.claimed, ordered), countOf(first.result.claimed, other)]).toEqual([0, 50]);
    while ((await claimReading()).result.hasMore);
    await bursar.world.sql('vacuum webhook_deliveries');
    const parked = await claimReading();
    expect(parked.result.claimed).toEqual([]);
    expect(parked.entries).toBeLessThan(fewEntries);
    expect(parked.blocks).toBeLessThan(fewBlocks);
  }, 300_000);

  test('as much with a plan that was made while the tables were empty', async () => {
    const [busy, other] = [await subscribed('planned-early'), await subscribed('beside-planned-early')];
    const found = await bursar.infrastructure.database.write(async (tx) => {
      const claim = () => claimInSteps(inside(tx), 1_000, claimLimits);
      const now = await businessNow(bursar.world);
      const claimDue = () => claimRetries(tx, busy.webhookId, now, 50, claimLimits);
      for (let n = 0; n < 8; n++) {
        await claim();
        await claimDue(); // PostgreSQL keeps a plan after five uses.
      }
      await bursar.world.sql(
        `insert into webhook_deliveries (id, webhook_id, owner_id, event_id, event, plan, status, attempts_made, claims,
           created_at, delivered_at)
         select new_time_ordered_id('whd'), $1, $2, 'evt_sent', 'policy.created', 'starter', 'succeeded', 1, 1, now(), now()
         from generate_series(1, 20000)`,
        [busy.webhookId, busy.ownerId],
      );
      await backlog(busy, { count: 20_000 });
      await backlog(busy, { count: 20_000, attempts: 1, dueInMs: -minute });
      await backlog(other, { count: 50 });
      const before = await readSoFar(tx);
      const retries = await claimDue();
      const between = await readSoFar(tx);
      const { claimed } = await claim();
      const after = await readSoFar(tx);
      return { claimed, retries, entries: [between.entries - before.entries, after.entries - between.entries] };
    });
    expect(found.retries).toHaveLength(50);
    expect([countOf(found.claimed, busy), countOf(found.claimed, other)]).toEqual([45, 50]); // Beside 50 retries.
    for (const entries of found.entries) expect(entries).toBeLessThan(fewEntries);
  }, 300_000);

  test(`${many} failed deliveries slow down neither the first attempts of others nor the next retry`, async () => {
    const failed = await subscribed('failed');
    await backlog(failed, { count: many, attempts: 1 });
    const other = await subscribed('beside-failed');
    await backlog(other, { count: 50 });
    const first = await claimReading();
    expect(countOf(first.result.claimed, other)).toBe(50);
    expect(first.entries).toBeLessThan(fewEntries);
    const now = await businessNow(bursar.world);
    const retry = await reading((tx) => claimRetries(tx, failed.webhookId, now, 50, claimLimits));
    expect(retry.result).toHaveLength(50);
    expect(retry.entries).toBeLessThan(fewEntries);
    expect(retry.blocks).toBeLessThan(fewBlocks);
  }, 300_000);
});

describe('from which number a claim looks', () => {
  const database = () => bursar.infrastructure.database;
  const look = (before: Looked = unknownBacklog) => database().write((tx) => lookForBacklog(tx, before));
  const claimFrom = (place: Looked) =>
    reading((tx) => claimInSteps(inside(tx), 1_000, claimLimits, { backlog: place }));

  /** Two looks, the second one a sweep later than the first. */
  async function lookedTwice(): Promise<Looked> {
    return look(await look());
  }

  /** Takes its numbers now, and commits when told to. */
  async function openTransaction({ webhookId, ownerId }: Subscribed) {
    const [taken, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const ended = database().write(async (tx) => {
      await runSql(
        tx,
        `insert into webhook_deliveries (id, webhook_id, owner_id, event_id, event, plan, status, next_attempt_at, created_at)
         select new_time_ordered_id('whd'), $1, $2, e.id, e.name, 'enterprise', 'pending', now(), now()
         from events e where e.owner_id = $2 and e.name = 'policy.deleted' limit 1`,
        [webhookId, ownerId],
      );
      taken.resolve();
      await commit.promise;
    });
    await Promise.race([taken.promise, ended]);
    return {
      commit: () => {
        commit.resolve();
        return ended;
      },
    };
  }

  test('what was sent before is not stepped over, however long PostgreSQL does not clean up', async () => {
    await bursar.world.sql('alter table webhook_deliveries set (autovacuum_enabled = false)');
    const owner = await subscribed('sent-before');
    await backlog(owner, { count: many });
    await bursar.world.sql(sendAll);
    const place = await lookedTwice();
    await backlog(owner, { count: 20 });
    const { result, blocks } = await claimFrom(place);
    await backlog(owner, { count: 20 });
    const fromTheOldest = await claimFrom(unknownBacklog);
    await bursar.world.sql('alter table webhook_deliveries reset (autovacuum_enabled)');
    expect([result.claimed.length, fromTheOldest.result.claimed.length]).toEqual([20, 20]);
    // The dead entries of what was sent take more than 500 blocks of the index, and it is read twice.
    expect(fromTheOldest.blocks - blocks).toBeGreaterThan(1_000);
  }, 300_000);

  test('older deliveries that still wait are claimed before new ones', async () => {
    const owner = await subscribed('older');
    await backlog(owner, { count: 150 });
    const place = await lookedTwice();
    await backlog(owner, { count: 150 });
    const { claimed } = (await claimFrom(place)).result;
    const [numbers] = await bursar.world.sql<{ most: number; rest: number }>(
      `select max(seq)::float8 as most, (select min(seq) from webhook_deliveries where status = 'pending'
         and not ${isUnderWay('webhook_deliveries')})::float8 as rest
       from webhook_deliveries where ${isUnderWay('webhook_deliveries')}`,
    );
    expect(claimed).toHaveLength(95);
    expect(numbers?.most).toBeLessThan(numbers?.rest ?? 0);
  });

  test('a transaction that is open during one look is found before the next one', async () => {
    const owner = await subscribed('open-once');
    await backlog(owner, { count: 1 });
    await bursar.world.sql(sendAll);
    const first = await look();
    const open = await openTransaction(owner);
    await backlog(owner, { count: 1 });
    await bursar.world.sql(sendAll);
    const second = await look(first);
    await open.commit();
    expect((await claimFrom(second)).result.claimed).toHaveLength(1);
  });

  test('one that is open during two looks is found by the third', async () => {
    const owner = await subscribed('open-twice');
    await backlog(owner, { count: 1 });
    const open = await openTransaction(owner);
    await backlog(owner, { count: 1 });
    await bursar.world.sql(sendAll);
    const second = await lookedTwice();
    await open.commit();
    expect((await claimFrom(second)).result.claimed).toHaveLength(0);
    const third = await look(second);
    expect(third.older).toEqual({ [owner.webhookId]: expect.any(String) });
    expect((await claimFrom(third)).result.claimed).toHaveLength(1);
  });

  test('what a dead relay had claimed is found by the look after its lease', async () => {
    const owner = await subscribed('given-back');
    await backlog(owner, { count: 3 });
    expect((await claimFrom(await lookedTwice())).result.claimed).toHaveLength(3);
    await backlog(owner, { count: 1 });
    const place = await lookedTwice();
    await endLeases(bursar);
    await database().write((tx) => releaseExpired(tx));
    expect((await claimFrom(await look(place))).result.claimed).toHaveLength(4);
  });

  test('what is freed behind its subject is found without another look', async () => {
    const owner = await subscribed('freed', true);
    await backlog(owner, { count: 2, subject: `'po_1'` });
    await bursar.world.sql(
      `update webhook_deliveries set is_parked = true where seq = (select max(seq) from webhook_deliveries)`,
    );
    expect((await claimFrom(unknownBacklog)).result.claimed).toHaveLength(1);
    await backlog(owner, { count: 1, subject: `'po_2'` });
    const place = await lookedTwice();
    expect((await claimFrom(place)).result.claimed).toHaveLength(1);
    await bursar.world.sql(`update webhook_deliveries set status = 'succeeded', attempts_made = 1, claims = 1,
      next_attempt_at = null, delivered_at = created_at where seq = (select min(seq) from webhook_deliveries)`);
    await bursar.world.sql('update webhook_deliveries set is_parked = false where is_parked');
    expect((await claimFrom(place)).result.claimed).toHaveLength(1);
  });
});

test('what was parked arrives in order once those before it are over, and ends with its subscription', async () => {
  const owner = await subscribed('parked', true);
  const held = heldBack();
  bursar.receiver.answers('parked', held.answer);
  const count = 600;
  await backlog(owner, { count, subject: `'po_' || n % 30` });
  const other = await subscribed('beside-parked');
  // Nothing is sent while the parking takes place, however long it takes on this machine.
  await bursar.relay({ pollMs: 200, timeoutMs: 5 * minute, leaseMs: 6 * minute });
  await eventually(
    () => waiting(owner.webhookId, 'is_parked'),
    (parked) => parked >= 300,
  );
  await bursar.emit(other.ownerId, 20);
  await eventually(
    async () => bursar.receiver.received('beside-parked').length,
    (received) => received === 20,
  );
  expect(bursar.receiver.received('parked')).toHaveLength(30);
  held.release();
  await eventually(
    () => waiting(owner.webhookId, `status = 'succeeded'`),
    (succeeded) => succeeded === count,
    240_000,
  );
  const received = bursar.receiver.received('parked').map(({ headers }) => String(headers['webhook-id']));
  expect(received).toHaveLength(count);
  const rows = await bursar.world.sql<{ id: string; subject_id: string }>(
    'select id, subject_id from webhook_deliveries where webhook_id = $1 order by seq',
    [owner.webhookId],
  );
  for (const [, ofSubject] of Map.groupBy(rows, ({ subject_id }) => subject_id)) {
    const places = ofSubject.map(({ id }) => received.indexOf(id));
    expect(places).toEqual(places.toSorted((one, next) => one - next));
  }

  await backlog(owner, { count, subject: `'po_1'` });
  const { database } = bursar.infrastructure;
  await bursar.stopRelays();
  await claimInSteps(database, 1, claimLimits);
  expect(await waiting(owner.webhookId, 'is_parked')).toBeGreaterThan(0);
  await bursar.world.sql(`update webhooks set status = 'disabled' where id = $1`, [owner.webhookId]);
  await database.write((tx) => endPendingOf(tx, [owner.webhookId], 'closed by a test'));
  expect(
    await waiting(owner.webhookId, `is_parked or (status = 'pending' and not ${isUnderWay('webhook_deliveries')})`),
  ).toBe(0);
}, 300_000);
