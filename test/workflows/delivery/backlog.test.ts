/**
 * Goal: however many deliveries wait for one receiver, a claim reads as many as it may send, and other owners' deliveries
 * arrive. Method: backlogs as rows; PostgreSQL's own counts of what the claim's transaction read; then a relay and a real
 * receiver.
 * @module
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Tx } from '../../../src/db/tx.ts';
import { claimFirstAttempts, claimRetries } from '../../../src/domains/delivery/webhooks/delivery.claim.service.ts';
import { endPendingOf } from '../../../src/domains/delivery/webhooks/delivery.end.service.ts';
import { minute } from '../../../src/kernel/instant.ts';
import { claimLimits } from '../../../src/relay/deliveries.ts';
import {
  addBacklog,
  type Backlog,
  countDeliveries,
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
  await bursar.world.sql('truncate webhook_deliveries');
});
afterAll(() => bursar.close());

const subscribed = (box: string, ordered = false) => subscribedTo(bursar, box, ordered);
const backlog = (subscription: Subscribed, wanted: Backlog) => addBacklog(bursar, subscription, wanted);
const waiting = (webhookId: string, condition: string) => countDeliveries(bursar, webhookId, condition);

const reading = <T>(work: (tx: Tx) => Promise<T>) =>
  bursar.infrastructure.database.write(async (tx) => {
    const before = await readSoFar(tx);
    const result = await work(tx);
    const after = await readSoFar(tx);
    return { result, entries: after.entries - before.entries, blocks: after.blocks - before.blocks };
  });

const claimReading = () => reading((tx) => claimFirstAttempts(tx, 1_000, claimLimits));
const countOf = (claimed: readonly { webhookId: string }[], { webhookId }: { webhookId: string }): number =>
  claimed.filter((one) => one.webhookId === webhookId).length;

describe('what a claim reads', () => {
  test(`${many} of one ordered subject: each claim reads a part of them, and other owners get all their places`, async () => {
    const ordered = await subscribed('one-subject', true);
    await backlog(ordered, { count: many, subject: `'po_1'` });
    const other = await subscribed('beside-one-subject');
    await backlog(other, { count: 250 });
    const first = await claimReading();
    expect([countOf(first.result.claimed, ordered), countOf(first.result.claimed, other)]).toEqual([1, 100]);
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
  await database.write((tx) => claimFirstAttempts(tx, 1, claimLimits));
  expect(await waiting(owner.webhookId, 'is_parked')).toBeGreaterThan(0);
  await database.write((tx) => endPendingOf(tx, [owner.webhookId], 'closed by a test'));
  expect(await waiting(owner.webhookId, `is_parked or status = 'pending'`)).toBe(0);
}, 300_000);
