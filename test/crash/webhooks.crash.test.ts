/**
 * Goal: a worker that is killed during retries loses no delivery, and none is sent again before its lease has expired. Where
 * worker and PostgreSQL are killed again and again during a burst, or PostgreSQL is away for a minute, every event arrives at
 * least once. A worker whose clock jumps makes each attempt once. Method: a real installation, a receiver that hangs while
 * the worker dies, and the requests after its restart; repeats are counted.
 * @module
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { webhooksArea } from '../../src/domains/delivery/webhooks/webhook.contract.ts';
import { policiesArea } from '../../src/domains/spending/policies/policy.contract.ts';
import { type Id, newId } from '../../src/kernel/ids.ts';
import { hour, minute, second } from '../../src/kernel/instant.ts';
import { policyEventData } from '../support/factories/event-data.ts';
import { type Installation, startInstallation } from '../support/installation.ts';
import { after, hanging, heldBack, type Receiver, startReceiver, status } from '../support/receiver.ts';
import { type Clocks, openClocks } from '../support/skewed-clocks.ts';
import { eventually } from '../support/world.ts';

const deliveries = 8;

let receiver: Receiver;
let clocks: Clocks;
let site: Installation;
beforeAll(async () => {
  [receiver, clocks] = [await startReceiver(), await openClocks()];
  site = await startInstallation({ BURSAR_ALLOWED_ORIGINS: receiver.origin, ...clocks.env });
}, 300_000);
afterAll(async () => {
  await site?.stop();
  await receiver.close();
  await clocks?.remove();
}, 60_000);

test('killed during retries, each delivery arrives once more after its lease', async () => {
  receiver.answers('dying', (response, n) => (n <= deliveries ? status(500) : hanging)(response, n));
  const owner = await site.owner();
  const webhooks = owner.client(webhooksArea);
  const { id } = await webhooks.createWebhook({ body: { url: receiver.urlOf('dying'), events: ['policy.created'] } });
  for (let made = 0; made < deliveries; made++) {
    await owner.client(policiesArea).createPolicy({ body: { name: `Policy ${made}` } });
  }
  const all = async () => (await webhooks.listWebhookDeliveries({ params: { id } })).data;
  await eventually(all, (shown) => shown.length === deliveries && shown.every(({ attempt }) => attempt === 1));
  await site.advance(minute + second);
  await eventually(
    async () => receiver.received('dying').length,
    (count) => count === 2 * deliveries,
  );
  await site.kill('worker');
  receiver.answers('dying', status(200));
  const killedAt = performance.now();
  await eventually(all, (shown) => shown.every((one) => one.status === 'succeeded'), 120_000);
  process.stderr.write(`all delivered ${Math.round(performance.now() - killedAt)} ms after the kill\n`);
  expect((await all()).every(({ attempt }) => attempt === 2)).toBe(true);
  // Sent by the first worker, and again by the next one, but not before the lease of 45 s had expired.
  const received = receiver.received('dying');
  expect(received).toHaveLength(3 * deliveries);
  const last = Math.max(...received.slice(0, 2 * deliveries).map(({ at }) => at));
  for (const { at } of received.slice(2 * deliveries)) expect(at - last).toBeGreaterThan(35 * second);
  expect(
    received.slice(2 * deliveries).map(({ headers }) => String(headers['x-service-delivery-id']).slice(-2)),
  ).toEqual(Array.from({ length: deliveries }, () => '.3'));
  await eventually(
    () => site.sql<{ is_open: boolean }>('select is_open from workflow_runs where subject_id = $1', [id]),
    ([row]) => row?.is_open === false,
  );
}, 240_000);

/** A subscription whose receiver keeps the first three waiting until `release`, refuses the next three, and accepts the rest. */
async function sixInTrouble(box: string) {
  const { answer, release } = heldBack();
  receiver.answers(box, (response, n) => (n <= 3 ? answer : status(n <= 6 ? 500 : 200))(response, n));
  const owner = await site.owner();
  const webhooks = owner.client(webhooksArea);
  const { id } = await webhooks.createWebhook({ body: { url: receiver.urlOf(box), events: ['policy.created'] } });
  const all = async () => (await webhooks.listWebhookDeliveries({ params: { id } })).data;
  const emitThree = async () => {
    for (let made = 0; made < 3; made++) {
      await owner.client(policiesArea).createPolicy({ body: { name: `Policy ${newId('policy')}` } });
    }
  };
  for (const arrived of [3, 6]) {
    await emitThree();
    await eventually(
      async () => receiver.received(box).length,
      (count) => count === arrived,
    );
  }
  await eventually(all, (shown) => shown.filter(({ attempt }) => attempt === 1).length === 3);
  /** How often each delivery was sent, oldest first. */
  const timesSent = async () => {
    const sent = receiver.received(box).map(({ headers }) => headers['webhook-id']);
    return (await all()).toReversed().map((one) => sent.filter((sentId) => sentId === one.id).length);
  };
  return { all, emitThree, release, timesSent };
}

test.each([
  ['forwards', hour],
  ['backwards', -hour],
])(
  'a worker whose clock jumps an hour %s makes each attempt once and forgets no delivery',
  async (where, jump) => {
    const { all, emitThree, release, timesSent } = await sixInTrouble(`jumping-${where}`);
    const succeeded = async () => (await all()).filter((one) => one.status === 'succeeded').length;
    await clocks.set({ worker: jump });
    try {
      await emitThree();
      // It has claimed again since the jump, and has not taken open attempts for lost ones.
      await eventually(all, (shown) => shown.slice(0, 3).every((one) => one.status === 'succeeded'));
      expect((await timesSent()).slice(0, 3)).toEqual([1, 1, 1]);
      release();
      // By its clock the retries were due an hour ago, or are due in an hour.
      if (jump < 0) await site.advance(hour + minute + second);
      await eventually(succeeded, (count) => count === 9, 120_000);
    } finally {
      await clocks.set({});
    }
    await emitThree();
    await eventually(succeeded, (count) => count === 12);
    expect(await timesSent()).toEqual([1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1]);
  },
  300_000,
);

/** So many events in one commit, repeated until the commit is known: the server may die before it answers. */
async function commitSome(ownerId: string, count: number, subjects: readonly Id<'policy'>[] = []): Promise<string[]> {
  const events = Array.from({ length: count }, (_, n) => {
    const subject = subjects[n % subjects.length] ?? newId('policy');
    const data = policyEventData(subject, ownerId);
    const common = { owner_id: ownerId, subject_id: subject, request_id: 'burst', created_at: new Date() };
    return { ...common, id: newId('event'), name: 'policy.created', data };
  });
  const ids = events.map(({ id }) => id);
  const isThere = async () =>
    (await site.sql('select 1 from events where id = $1', [ids[0]])).length > 0 ||
    (await site.sql(`select record_changes($1::jsonb, '[]')`, [JSON.stringify(events)])).length > 0;
  await eventually(
    () => isThere().catch((error: Error) => error.message),
    (there) => there === true,
    240_000,
  );
  return ids;
}

/** A subscription to the events of a burst. */
async function burstTo(box: string, orderedBox?: string) {
  const owner = await site.owner();
  const webhooks = owner.client(webhooksArea);
  const subscribe = async (to: string, ordered: boolean) => {
    const body = { url: receiver.urlOf(to), events: ['policy.created'], ordered };
    return (await webhooks.createWebhook({ body })).id;
  };
  const id = await subscribe(box, false);
  const ids = orderedBox === undefined ? [id] : [id, await subscribe(orderedBox, true)];
  const [row] = await site.sql<{ owner_id: string }>('select owner_id from webhooks where id = $1', [id]);
  return {
    ownerId: row?.owner_id ?? '',
    statuses: () =>
      site.sql<{ status: string; count: number }>(
        'select status, count(*)::int as count from webhook_deliveries where webhook_id = any($1) group by status',
        [ids],
      ),
  };
}

/** Waits until each of these events has arrived; returns how many arrived again. */
async function repeatsOf(box: string, ids: readonly string[]): Promise<number> {
  const committed = await site.sql<{ seq: string }>('select seq::text as seq from events where id = any($1)', [ids]);
  const received = receiver.received(box).map(({ headers }) => String(headers['x-service-sequence']));
  const distinct = new Set(received);
  expect(committed.map(({ seq }) => seq).filter((seq) => !distinct.has(seq))).toEqual([]);
  expect([committed.length, distinct.size]).toEqual([ids.length, ids.length]);
  // A repeat is another attempt.
  const attempts = new Set(receiver.received(box).map(({ headers }) => headers['x-service-delivery-id']));
  expect(attempts.size).toBe(received.length);
  return received.length - distinct.size;
}

/** What arrived of each subject, in that order, has numbers that never fall: the next one comes when the one before is over. */
function expectOrder(box: string): void {
  const last = new Map<string, number>();
  for (const { body } of receiver.received(box)) {
    const { sequence, data } = JSON.parse(body) as { sequence: number; data: { id: string } };
    expect([data.id, sequence >= (last.get(data.id) ?? 0)]).toEqual([data.id, true]);
    last.set(data.id, sequence);
  }
}

test('killed again and again during a burst, every event arrives at least once, and in order where that was asked for', async () => {
  for (const box of ['burst', 'burst-in-order']) receiver.answers(box, after(20));
  const { ownerId, statuses } = await burstTo('burst', 'burst-in-order');
  const subjects = Array.from({ length: 100 }, () => newId('policy'));
  const dying = ['worker', 'worker', 'postgres', 'worker'] as const;
  const ids: string[] = [];
  const killing = (async () => {
    for (const [n, name] of dying.entries()) {
      // Each kill while some have arrived and others are being sent.
      await eventually(
        async () => receiver.received('burst').length,
        (count) => count > n * 100,
        120_000,
      );
      const { pid } = await site.child(name);
      await site.kill(name);
      await eventually(
        () => site.child(name),
        (next) => next.pid !== pid,
        60_000,
      );
    }
  })();
  for (let commit = 0; commit < 50; commit++) ids.push(...(await commitSome(ownerId, 20, subjects)));
  await killing;
  await site.isWell(120_000);
  // The deliveries that a dead worker had claimed arrive after their lease of 45 s has expired.
  await eventually(statuses, (all) => all.length === 1 && all[0]?.status === 'succeeded', 240_000);
  expect(await statuses()).toEqual([{ status: 'succeeded', count: 2 * ids.length }]);
  const repeated = await repeatsOf('burst', ids);
  const inOrder = await repeatsOf('burst-in-order', ids);
  expectOrder('burst-in-order');
  process.stderr.write(
    `${ids.length} events, ${dying.length} kills: ${repeated} deliveries were repeated, and ${inOrder} of those in order\n`,
  );
}, 600_000);

/** Passes of the worker's loop of deliveries. While PostgreSQL is away, they are two seconds apart. */
async function failedPasses(): Promise<number> {
  const text = await readFile(join(site.dir, 'logs', 'worker.log'), 'utf8');
  return text.split('\n').filter((line) => line.includes('"loop":"deliveries"')).length;
}

test('PostgreSQL is away for a minute during a burst of 50,000: every event arrives at least once', async () => {
  const [many, atOnce] = [50_000, 500];
  const { ownerId, statuses } = await burstTo('away');
  const worker = await site.child('worker');
  const ids: string[] = [];
  const committing = (async () => {
    while (ids.length < many) ids.push(...(await commitSome(ownerId, atOnce)));
  })();
  await eventually(
    async () => receiver.received('away').length,
    (count) => count > 2_000,
    120_000,
  );
  const letGo = await site.holdDown('postgres');
  const before = await failedPasses();
  await eventually(failedPasses, (count) => count >= before + 30, 240_000);
  expect(receiver.received('away').length).toBeLessThan(many);
  await letGo();
  await committing;
  await site.isWell(120_000);
  await eventually(statuses, (all) => all.length === 1 && all[0]?.status === 'succeeded', 240_000);
  expect(await statuses()).toEqual([{ status: 'succeeded', count: many }]);
  const repeated = await repeatsOf('away', ids);
  process.stderr.write(`${many} events, PostgreSQL away for a minute: ${repeated} deliveries were repeated\n`);
  expect((await site.child('worker')).pid).toBe(worker.pid);
}, 900_000);
