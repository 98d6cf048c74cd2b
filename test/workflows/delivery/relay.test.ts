/**
 * First deliveries to real receivers: each is made once although two relays run, none is lost when a relay dies, and a slow
 * receiver does not slow down other receivers.
 * @module
 */
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { runSql } from '../../../src/db/statement.ts';
import { claimFirstAttempts, claimRetries } from '../../../src/domains/delivery/webhooks/delivery.claim.service.ts';
import { lockHealth } from '../../../src/domains/delivery/webhooks/delivery.lease.service.ts';
import { recordResults } from '../../../src/domains/delivery/webhooks/delivery.result.service.ts';
import { createSender } from '../../../src/domains/delivery/webhooks/delivery.send.service.ts';
import { recordChanges } from '../../../src/events/record.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { hour } from '../../../src/kernel/instant.ts';
import type { Cause } from '../../../src/platform/cause.ts';
import { endLeases } from '../../support/backlog.ts';
import { deadlocksIn } from '../../support/deadlocks.ts';
import { type DeliveryWorld, type Subscriber, startDeliveryWorld } from '../../support/delivery-world.ts';
import { policyEventData } from '../../support/factories/event-data.ts';
import { aCustomer } from '../../support/factories/parties.ts';
import { overOrWaiting, someoneWaits } from '../../support/lock-waits.ts';
import { after, hanging, inTurn, status } from '../../support/receiver.ts';
import { refusalOf } from '../../support/refusals.ts';
import { eventually } from '../../support/world.ts';

let bursar: DeliveryWorld;
beforeAll(async () => {
  bursar = await startDeliveryWorld();
});
afterEach(() => bursar.stopRelays());
afterAll(() => bursar.close());

const subscribed = async (box: string, events = ['policy.created'], owner?: Subscriber) => {
  const subscriber = owner ?? (await bursar.subscriber());
  const webhook = await subscriber.webhooks.createWebhook({ body: { url: bursar.receiver.urlOf(box), events } });
  return { ...subscriber, webhook };
};

const deliveriesOf = async ({ webhooks, webhook }: Awaited<ReturnType<typeof subscribed>>) =>
  (await webhooks.listWebhookDeliveries({ params: { id: webhook.id }, query: { limit: 100 } })).data;

const bodies = (box: string): string[] => bursar.receiver.received(box).map(({ body }) => body);

test('ids of deliveries are Crockford base 32 of UUIDv7s of now, in the order in which they were made', async () => {
  const from = Date.now();
  const made = await bursar.world.sql<{ id: string }>(
    `select new_time_ordered_id('whd') as id from generate_series(1, 1000) n order by n`,
  );
  const to = Date.now();
  const ids = made.map(({ id }) => id);
  expect([...new Set(ids)].sort()).toEqual(ids);
  for (const id of ids) {
    const hex = hexOf(id);
    expect(newId('delivery', Buffer.from(hex, 'hex'))).toBe(id);
    expect(hex).toMatch(/^.{12}7.{3}[89ab]/);
    const at = Number.parseInt(hex.slice(0, 12), 16);
    expect(at >= from - 1 && at <= to + 1).toBe(true);
  }
  // No digit behind the time is left out or the same in all of them, but for the version's, which has one free bit.
  for (let place = 11; place < 26; place++) {
    expect(new Set(ids.map((id) => id[id.length - 26 + place])).size).toBeGreaterThan(2);
  }
});

/** The 16 bytes that the 26 digits of an id stand for. */
function hexOf(id: string): string {
  const digits = '0123456789abcdefghjkmnpqrstvwxyz';
  const value = [...id.slice(-26)].reduce((sum, digit) => sum * 32n + BigInt(digits.indexOf(digit)), 0n);
  return value.toString(16).padStart(32, '0');
}

describe('one relay', () => {
  // spec: delivery:to subscribed URLs
  // spec: delivery-header:X-Service-Event:event name
  // spec: delivery-header:X-Service-Timestamp:Unix seconds at signing
  // spec: delivery-header:X-Service-Signature:sha256=<hex>, HMAC-SHA256
  // spec: delivery-header:X-Request-Id:correlates to the originating request
  // spec: delivery-body:event
  // spec: delivery-body:createdAt with milliseconds in UTC
  // spec: delivery-body:data
  // spec: signature:key
  test('an event arrives signed, with the headers of the specification, and its delivery is listed as succeeded', async () => {
    await bursar.relay();
    const owner = await subscribed('plain');
    await bursar.emit(owner.ownerId);
    const [received] = await eventually(
      async () => bursar.receiver.received('plain'),
      (all) => all.length > 0,
    );
    const { headers, body } = received!;
    expect(JSON.parse(body)).toMatchObject({ event: 'policy.created', data: { id: 'po_00000000' } });
    expect(JSON.parse(body).createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': expect.stringMatching(/^Bursar-Webhooks\/\d+\.\d+$/),
      'x-service-event': 'policy.created',
      'x-service-timestamp': expect.stringMatching(/^\d{10}$/),
      'x-service-signature': expect.stringMatching(/^sha256=[0-9a-f]{64}$/),
      'x-service-delivery-id': expect.stringMatching(/^whd_[0-9a-z]{26}\.1$/),
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    const [event] = await bursar.world.sql(
      `select request_id from events where owner_id = $1 and name = 'policy.created'`,
      [owner.ownerId],
    );
    expect(headers['x-request-id']).toBe(event?.request_id);
    expect(Math.abs(Date.now() / 1_000 - Number(headers['x-service-timestamp']))).toBeLessThan(60);
    expect(`${headers['webhook-id']}.1`).toBe(headers['x-service-delivery-id']);
    expect(new Webhook(owner.webhook.secret).verify(body, headers as Record<string, string>)).toEqual(JSON.parse(body));

    const [shown] = await eventually(
      () => deliveriesOf(owner),
      ([first]) => first?.status === 'succeeded',
    );
    expect(shown).toMatchObject({ attempt: 1, maxAttempts: 5, responseStatus: 200, error: null, nextAttemptAt: null });
    const whole = await owner.webhooks.getWebhookDelivery({ params: { deliveryId: shown!.id } });
    expect(whole.payload).toEqual(JSON.parse(body));
    expect(whole.attempts).toEqual([
      expect.objectContaining({
        attempt: 1,
        deliveryId: `${shown!.id}.1`,
        responseStatus: 200,
        error: null,
        responseBody: null,
      }),
    ]);
  });

  // spec: delivery:to subscribed URLs
  // spec: subscription:all events
  test('only subscribers get an event, once per subscription', async () => {
    await bursar.relay();
    const names = await subscribed('names', ['policy.deleted', 'policy.updated']);
    await subscribed('all', ['*'], names);
    await subscribed('other-owner', ['*']);
    await bursar.emit(names.ownerId, 1, 'policy.updated');
    await bursar.emit(names.ownerId, 1, 'policy.created');
    await eventually(
      async () => bodies('all'),
      (all) => all.length === 3,
    );
    expect(
      bodies('all')
        .map((body) => JSON.parse(body).event)
        .sort(),
    ).toEqual(['policy.created', 'policy.updated', 'webhook.created']);
    await eventually(
      async () => bodies('names').length * bodies('other-owner').length,
      (product) => product > 0,
    );
    expect(bodies('names').map((body) => JSON.parse(body).event)).toEqual(['policy.updated']);
    expect(bodies('other-owner').map((body) => JSON.parse(body).event)).toEqual(['webhook.created']);
  });

  test('without any notification polling finds waiting deliveries', async () => {
    const owner = await subscribed('polled');
    const relay = await bursar.relay({ isDeaf: true, pollMs: 400 });
    await eventually(
      async () => relay.state().lastSuccessAt,
      (at) => at !== undefined,
    );
    await new Promise((done) => setTimeout(done, 1_000)); // The relay has stopped polling.
    await bursar.emit(owner.ownerId, 3);
    await eventually(
      async () => bodies('polled'),
      (all) => all.length === 3,
    );
  });

  test('an ordered delivery is not kept waiting by the rest between small rounds', async () => {
    const { ownerId, webhooks } = await bursar.subscriber();
    const subscribe = (box: string, ordered: boolean) =>
      webhooks.createWebhook({ body: { url: bursar.receiver.urlOf(box), events: ['policy.created'], ordered } });
    // The others are answered first, so that the results of ordered ones come while those are recorded.
    bursar.receiver.answers('chain', after(3));
    await subscribe('chain', true);
    await subscribe('beside-chain', false);
    for (let n = 0; n < 40; n++) await bursar.emit(ownerId); // Of one subject: with rests they would take 100 s.
    await bursar.relay({ restMs: 5_000, perReceiver: 1 });
    await eventually(
      async () => bodies('chain'),
      (all) => all.length === 40,
      20_000,
    );
    const sequences = bodies('chain').map((body) => (JSON.parse(body) as { sequence: number }).sequence);
    expect(sequences).toEqual(sequences.toSorted((one, other) => one - other));
  });

  test('one result that cannot be written keeps no other from it, and its delivery is sent again', async () => {
    const owner = await subscribed('unwritable');
    let sent = 0;
    const allSent = Promise.withResolvers<void>();
    const { vault } = bursar.infrastructure;
    const send = createSender({ outbound: bursar.outbound, vault });
    await bursar.relay({
      pollMs: 200,
      leaseMs: 2_000,
      send: async (claimed) => {
        const result = await send(claimed);
        sent += 1;
        const isFirst = sent === 1;
        if (sent === 5) allSent.resolve();
        await allSent.promise; // So that they are recorded together.
        if (!isFirst) return result;
        return { ...result, claimed: { ...claimed, id: `whd_\0` as const } }; // A text that PostgreSQL does not take.
      },
    });
    await bursar.emit(owner.ownerId, 5);
    await eventually(
      () => deliveriesOf(owner),
      (all) => all.length === 5 && all.every(({ status: is }) => is === 'succeeded'),
    );
    const ids = bursar.receiver.received('unwritable').map(({ headers }) => String(headers['x-service-delivery-id']));
    expect(ids.filter((id) => id.endsWith('.1'))).toHaveLength(5);
    expect(ids.filter((id) => id.endsWith('.2'))).toHaveLength(1);
  });

  test('successes at other receivers are recorded while the record of a failure waits', async () => {
    const [failing, good] = [await subscribed('slow-to-record'), await subscribed('beside-a-failure')];
    const [asked, fails, succeeds] = [0, 1, 2].map(() => Promise.withResolvers<void>());
    bursar.receiver.answers('slow-to-record', (response, n) => {
      if (n === 2) asked?.resolve();
      const [turn, answer] = n === 1 ? [fails, status(500)] : [succeeds, status(200)];
      void turn?.promise.then(() => answer(response, n));
    });
    await bursar.relay();
    await bursar.emit(failing.ownerId, 2); // Of one claim, whose lock their results need.
    await asked?.promise;
    await bursar.infrastructure.database.write(async (tx) => {
      await lockHealth(tx, [failing.webhook.id]);
      fails?.resolve();
      await someoneWaits(bursar.world);
      succeeds?.resolve();
      await bursar.emit(good.ownerId, 3);
      await eventually(
        () => deliveriesOf(good),
        (all) => all.length === 3 && all.every(({ status: is }) => is === 'succeeded'),
      );
      expect((await deliveriesOf(failing)).map(({ status: is }) => is)).toEqual(['delivering', 'delivering']);
    });
    await eventually(
      async () => (await deliveriesOf(failing)).map(({ status: is, attempt }) => `${is} ${attempt}`).sort(),
      (all) => all.join() === 'pending 1,succeeded 1',
    );
  });

  test('an event whose change is rolled back is never delivered', async () => {
    const owner = await subscribed('rolled-back');
    const { database } = bursar.infrastructure;
    const cause: Cause = { causeId: 'c', requestId: 'r', actor: { kind: 'system' }, at: new Date() };
    const change = {
      event: 'policy.created',
      ownerId: owner.ownerId,
      subjectId: 'po_00000001',
      data: policyEventData('po_00000001', owner.ownerId),
    } as const;
    const undone = database.write(async (tx) => {
      await recordChanges(tx, cause, [change]);
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    expect(await deliveriesOf(owner)).toEqual([]);
    await database.write((tx) => recordChanges(tx, cause, [change]));
    expect(await deliveriesOf(owner)).toHaveLength(1);
  });
});

describe('failures', () => {
  test('the attempt records each kind of failure, with a masked body of at most 1 KiB', async () => {
    const { receiver } = bursar;
    const secretBody = `{"error":"sk_live_0123456789abcdefghij 4242424242424242 \u0000 ${'é'.repeat(5_000)}"}`;
    receiver.answers('fails-500', status(500, { body: secretBody }));
    receiver.answers('fails-302', status(302, { headers: { location: 'http://127.0.0.1:1/' } }));
    receiver.answers('fails-hang', hanging);
    receiver.answers('fails-binary', status(400, { body: Buffer.from([0, 0xff, 0xd8, 0x00, 0xed, 0xa0, 0x80]) }));
    const expected = {
      'fails-500': /answered 500, not 2xx/,
      'fails-302': /answered 302; redirects are not followed/,
      'fails-hang': /did not answer completely within 2 s/,
      'fails-binary': /answered 400/,
    };
    for (const [box, error] of Object.entries(expected)) {
      const relay = await bursar.relay({ timeoutMs: box === 'fails-hang' ? 2_000 : 30_000 });
      const owner = await subscribed(box);
      await bursar.emit(owner.ownerId);
      const [shown] = await eventually(
        () => deliveriesOf(owner),
        ([first]) => first?.attempt === 1,
      );
      expect(shown).toMatchObject({ status: 'pending', attempt: 1, error: expect.stringMatching(error) });
      expect(Date.parse(shown!.nextAttemptAt ?? '') - Date.now()).toBeGreaterThan(50_000);
      const whole = await owner.webhooks.getWebhookDelivery({ params: { deliveryId: shown!.id } });
      const kept = whole.attempts[0]?.responseBody ?? '';
      expect(kept.length).toBeLessThanOrEqual(1_024);
      expect(kept).not.toMatch(/sk_live_0|4242424242424242/);
      await relay.stop();
    }
  });

  test('plans with one attempt end failed, without a retry', async () => {
    await bursar.relay();
    bursar.receiver.answers('one-attempt', status(503));
    for (const plan of ['free', 'starter']) {
      const owner = await subscribed('one-attempt');
      await aCustomer(bursar.world, owner.ownerId, { plan });
      await bursar.emit(owner.ownerId);
      const [shown] = await eventually(
        () => deliveriesOf(owner),
        ([first]) => first?.status === 'failed',
      );
      expect(shown).toMatchObject({ attempt: 1, maxAttempts: 1, nextAttemptAt: null, error: 'answered 503, not 2xx' });
    }
    expect(await processes('one-attempt')).toEqual([]);
  });

  test('a failed first attempt leaves a due time and one process; Retry-After makes it later', async () => {
    await bursar.relay();
    bursar.receiver.answers('slow-down', status(429, { headers: { 'retry-after': '600' } }));
    const owner = await subscribed('slow-down');
    await bursar.emit(owner.ownerId);
    const [shown] = await eventually(
      () => deliveriesOf(owner),
      ([first]) => first?.attempt === 1,
    );
    const { attempts } = await owner.webhooks.getWebhookDelivery({
      params: { deliveryId: shown?.id as `whd_${string}` },
    });
    const failedAt = Date.parse(attempts[0]?.at ?? '') + (attempts[0]?.responseMs ?? 0);
    expect(Date.parse(shown?.nextAttemptAt ?? '') - failedAt).toBe(600_000);
    const [process] = await processes('slow-down');
    expect(process).toMatchObject({
      id: `webhook-endpoint/${owner.webhook.id}`,
      workflow: 'webhookEndpoint',
      is_open: true,
    });
    expect(process?.due_at.toISOString()).toBe(shown?.nextAttemptAt);
  });

  test('410 disables the subscription, ends its pending deliveries and fires webhook.updated', async () => {
    bursar.receiver.answers('gone', status(410));
    const owner = await subscribed('gone');
    await subscribed('watcher', ['webhook.updated'], owner);
    await bursar.emit(owner.ownerId, 30);
    await bursar.relay({ perReceiver: 2 });
    await eventually(
      () => owner.webhooks.getWebhook({ params: { id: owner.webhook.id } }),
      ({ status }) => status === 'disabled',
    );
    await eventually(
      () => deliveriesOf(owner),
      (all) => all.every(({ status }) => status === 'dead'),
    );
    expect(bodies('gone').length).toBeLessThan(10);
    const [told] = await eventually(
      async () => bodies('watcher'),
      (all) => all.length > 0,
    );
    expect(JSON.parse(told!)).toMatchObject({
      event: 'webhook.updated',
      data: { id: owner.webhook.id, status: 'disabled' },
    });
    expect(bodies('watcher')).toHaveLength(1);
    await bursar.emit(owner.ownerId);
    expect(await deliveriesOf(owner)).toHaveLength(30);
  });

  test('twenty failures over 72 hours disable, the twentieth within them does not', async () => {
    bursar.receiver.answers('long-down', status(500));
    const owner = await subscribed('long-down');
    await subscribed('long-down-watcher', ['webhook.updated'], owner);
    await bursar.relay();
    await bursar.emit(owner.ownerId, 25);
    await eventually(
      () => deliveriesOf(owner),
      (all) => all.every(({ attempt }) => attempt === 1),
    );
    expect(await owner.webhooks.getWebhook({ params: { id: owner.webhook.id } })).toMatchObject({ status: 'active' });
    await bursar.world.sql(
      `update webhook_health set failing_since = failing_since - interval '73 hours' where webhook_id = $1`,
      [owner.webhook.id],
    );
    await bursar.emit(owner.ownerId);
    const disabled = await eventually(
      () => owner.webhooks.getWebhook({ params: { id: owner.webhook.id } }),
      ({ status }) => status === 'disabled',
    );
    expect(disabled.disabledReason).toBe('26 failures in a row and none delivered for 73 h');
    const [told] = await eventually(
      async () => bodies('long-down-watcher'),
      (all) => all.length > 0,
    );
    expect(JSON.parse(told!)).toMatchObject({
      event: 'webhook.updated',
      data: { id: owner.webhook.id, status: 'disabled' },
    });
    const feed = await bursar.world.sql('select data from events where owner_id = $1 and name = $2', [
      owner.ownerId,
      'webhook.updated',
    ]);
    expect(feed).toEqual([{ data: expect.objectContaining({ id: owner.webhook.id, status: 'disabled' }) }]);
  });
});

describe('deliveries whose event is not kept any more', () => {
  const lost = { status: 'dead', attempt: 0, nextAttemptAt: null, error: 'its event is not kept any more' };
  /** As after a purge: no event has the id that these deliveries name. */
  const purgeEventsOf = (webhookId: string, most: number) =>
    bursar.world.sql(
      `update webhook_deliveries set event_id = 'ev_' || substr(id, 5)
       where id in (select id from webhook_deliveries where webhook_id = $1 order by seq limit $2)`,
      [webhookId, most],
    );

  test('they end with their reason, and those behind them and of other owners are sent', async () => {
    const owner = await subscribed('purged');
    await bursar.emit(owner.ownerId, 4);
    await purgeEventsOf(owner.webhook.id, 3);
    const other = await subscribed('beside-purged');
    await bursar.emit(other.ownerId);
    await bursar.relay({ perReceiver: 1, isDeaf: true });
    await eventually(
      async () => [bodies('purged').length, bodies('beside-purged').length],
      (counts) => counts.every((count) => count > 0),
    );
    const all = await eventually(
      () => deliveriesOf(owner),
      (found) => found.some(({ status }) => status === 'succeeded'),
    );
    expect(all.toReversed()).toMatchObject([lost, lost, lost, { status: 'succeeded' }]);
    expect(bodies('purged')).toHaveLength(1);

    const first = { deliveryId: all[3]!.id };
    expect(await owner.webhooks.getWebhookDelivery({ params: first })).toMatchObject({ ...lost, payload: null });
    expect(await refusalOf(owner.webhooks.redeliverWebhookDelivery({ params: first }))).toEqual([
      400,
      `delivery ${first.deliveryId} is not sent again: its event is not kept any more`,
    ]);
    const letters = { webhookId: owner.webhook.id };
    expect(await owner.webhooks.redeliverDeadLetters({ body: letters })).toMatchObject({ queued: 0, hasMore: false });
    expect((await owner.webhooks.listDeadLetters({ query: letters })).data).toHaveLength(3);
  });

  test('a retry among them ends too, and the next one is claimed', async () => {
    const owner = await subscribed('purged-retry');
    await bursar.emit(owner.ownerId, 3);
    await bursar.world.sql('update webhook_deliveries set attempts_made = 1, claims = 1 where webhook_id = $1', [
      owner.webhook.id,
    ]);
    await purgeEventsOf(owner.webhook.id, 2);
    const { database, clock } = bursar.infrastructure;
    const now = await clock.now();
    const limits = { perReceiver: 1, leaseMs: 45_000 };
    const claimed = await database.write((tx) => claimRetries(tx, owner.webhook.id as `wh_${string}`, now, 10, limits));
    const all = (await deliveriesOf(owner)).toReversed();
    expect(claimed.map(({ id }) => id)).toEqual([all[2]?.id]);
    expect(all).toMatchObject([{ ...lost, attempt: 1 }, { ...lost, attempt: 1 }, { status: 'delivering' }]);
  });
});

test('results of a receiver whose URL was replaced meanwhile neither disable the subscription, end deliveries nor slow down the new receiver', async () => {
  bursar.receiver.answers('replaced', inTurn(status(410), status(500)));
  const owner = await subscribed('replaced');
  await bursar.emit(owner.ownerId, 3);
  const { database, clock, vault } = bursar.infrastructure;
  const claimed = (
    await database.write((tx) => claimFirstAttempts(tx, 100, { perReceiver: 100, leaseMs: 45_000 }))
  ).claimed.filter(({ webhookId }) => webhookId === owner.webhook.id);
  const results = await Promise.all(claimed.map(createSender({ outbound: bursar.outbound, vault })));
  const params = { id: owner.webhook.id };
  await owner.webhooks.updateWebhook({ params, body: { url: bursar.receiver.urlOf('replacing') } });
  const now = await clock.now();
  expect(await database.write((tx) => recordResults(tx, results, now))).toHaveLength(3);
  expect(await owner.webhooks.getWebhook({ params })).toMatchObject({ status: 'active', disabledReason: null });
  const health = 'select failures_in_row, last_outcome from webhook_health where webhook_id = $1';
  expect(await bursar.world.sql(health, [owner.webhook.id])).toEqual([{ failures_in_row: 0, last_outcome: null }]);
  // The 410 was of the receiver before: the new one gets that delivery too.
  const { claimed: gone } = results.find(({ attempted }) => attempted.status === 410) ?? {};
  const params410 = { deliveryId: gone?.id as string };
  expect(await owner.webhooks.getWebhookDelivery({ params: params410 })).toMatchObject({
    ...{ status: 'pending', error: 'answered 410 Gone', nextAttemptAt: expect.any(String) },
  });
});

describe('several relays', () => {
  // spec: poller:never twice
  test('two at once deliver each event exactly once', async () => {
    const owner = await subscribed('once');
    await Promise.all([bursar.relay(), bursar.relay()]);
    for (let i = 0; i < 10; i++) await bursar.emit(owner.ownerId, 40);
    await eventually(
      async () => bodies('once').length,
      (count) => count >= 400,
    );
    await eventually(
      () => waitingCount(owner.webhook.id),
      (count) => count === 0,
    );
    const ids = bursar.receiver.received('once').map(({ headers }) => headers['webhook-id']);
    expect(ids).toHaveLength(400);
    expect(new Set(ids).size).toBe(400);
  });

  test('several relays never exceed the places of a receiver', async () => {
    bursar.receiver.answers('narrow', after(30));
    const owner = await subscribed('narrow');
    await bursar.emit(owner.ownerId, 60);
    await Promise.all([1, 2, 3].map(() => bursar.relay({ perReceiver: 4 })));
    await eventually(
      async () => bodies('narrow').length,
      (count) => count === 60,
    );
    expect(bursar.receiver.mostAtOnce('narrow')).toBeLessThanOrEqual(4);
    expect(bursar.receiver.mostAtOnce('narrow')).toBeGreaterThan(1);
  });

  test('a delivery that a dead relay had claimed is sent after its lease, with a new attempt id, and the late result is refused', async () => {
    const owner = await subscribed('orphaned');
    await bursar.emit(owner.ownerId, 3);
    const { database, clock, vault } = bursar.infrastructure;
    // Claimed and never sent, as if the process had died.
    const { claimed } = await database.write((tx) =>
      claimFirstAttempts(tx, 100, { perReceiver: 100, leaseMs: 45_000 }),
    );
    expect(claimed.filter(({ webhookId }) => webhookId === owner.webhook.id)).toHaveLength(3);
    await bursar.relay({ pollMs: 200 });
    const other = await subscribed('after-orphaned');
    await bursar.emit(other.ownerId);
    await eventually(
      async () => bodies('after-orphaned').length,
      (count) => count === 1,
    );
    expect(bodies('orphaned')).toHaveLength(0);
    await endLeases(bursar, owner.webhook.id);
    await eventually(
      async () => bodies('orphaned').length,
      (count) => count === 3,
    );
    await eventually(
      () => deliveriesOf(owner),
      (all) => all.every(({ status }) => status === 'succeeded'),
    );
    expect(
      bursar.receiver.received('orphaned').map(({ headers }) => String(headers['x-service-delivery-id']).slice(-2)),
    ).toEqual(['.2', '.2', '.2']);

    const send = createSender({ outbound: bursar.outbound, vault });
    bursar.receiver.answers('orphaned', status(500));
    const late = await Promise.all(claimed.map(send));
    const now = await clock.now();
    expect(await database.write((tx) => recordResults(tx, late, now))).toEqual([]);
    for (const shown of await deliveriesOf(owner)) expect(shown).toMatchObject({ status: 'succeeded', attempt: 1 });
  });

  test('a delivery is shown as delivering while it is under way, and only that one', async () => {
    bursar.receiver.answers('shown', hanging);
    const owner = await subscribed('shown');
    await bursar.emit(owner.ownerId, 2);
    await bursar.relay({ perReceiver: 1 });
    await eventually(
      async () => bodies('shown').length,
      (count) => count === 1,
    );
    const shown = await deliveriesOf(owner);
    expect(shown.map((one) => one.status)).toEqual(['pending', 'delivering']);
    const params = { id: owner.webhook.id };
    for (const { id, status: is } of shown) {
      const { data } = await owner.webhooks.listWebhookDeliveries({ params, query: { status: is } });
      expect(data.map((one) => one.id)).toEqual([id]);
      expect(await owner.webhooks.getWebhookDelivery({ params: { deliveryId: id } })).toMatchObject({ status: is });
    }
  });

  test('what a relay of the version before had claimed is sent after its lease', async () => {
    const owner = await subscribed('older-claim');
    await bursar.emit(owner.ownerId, 2);
    // As that version writes it.
    await bursar.world.sql(
      `update webhook_deliveries set status = 'delivering', claims = 1, lease_until = now() + interval '2 seconds'
       where webhook_id = $1`,
      [owner.webhook.id],
    );
    await bursar.relay({ pollMs: 200 });
    await eventually(
      () => deliveriesOf(owner),
      (all) => all.every(({ status }) => status === 'succeeded'),
    );
    expect(
      bursar.receiver.received('older-claim').map(({ headers }) => String(headers['x-service-delivery-id']).slice(-2)),
    ).toEqual(['.2', '.2']);
  });

  test('a relay whose clock was set back by an hour still sends what a dead one had claimed', async () => {
    bursar.receiver.answers('set-back', inTurn(hanging, status(200)));
    const owner = await subscribed('set-back');
    await bursar.relay({ pollMs: 200, timeoutMs: 300_000 });
    await bursar.emit(owner.ownerId);
    await eventually(
      async () => bodies('set-back').length,
      (count) => count === 1,
    );
    const { now } = Date;
    jest.spyOn(Date, 'now').mockImplementation(() => now() - hour);
    try {
      await endLeases(bursar, owner.webhook.id);
      await eventually(
        () => deliveriesOf(owner),
        ([only]) => only?.status === 'succeeded',
      );
    } finally {
      jest.restoreAllMocks();
    }
    expect(bodies('set-back')).toHaveLength(2);
  });

  test('the same result recorded twice counts once', async () => {
    const owner = await subscribed('twice');
    await bursar.emit(owner.ownerId);
    const { database, clock, vault } = bursar.infrastructure;
    const { claimed } = await database.write((tx) =>
      claimFirstAttempts(tx, 100, { perReceiver: 100, leaseMs: 45_000 }),
    );
    const results = await Promise.all(claimed.map(createSender({ outbound: bursar.outbound, vault })));
    const now = await clock.now();
    const counted = await Promise.all([1, 2].map(() => database.write((tx) => recordResults(tx, results, now))));
    expect(counted.flat()).toHaveLength(claimed.length);
    expect(await deliveriesOf(owner)).toEqual([expect.objectContaining({ status: 'succeeded', attempt: 1 })]);
  });
});

test('attempts without an answer are counted under both names, because the version before reads the old one', async () => {
  const owner = await subscribed('both-names');
  await bursar.emit(owner.ownerId, 3);
  const { database, clock } = bursar.infrastructure;
  const { claimed } = await database.write((tx) => claimFirstAttempts(tx, 100, { perReceiver: 100, leaseMs: 45_000 }));
  const results = claimed.map((one) => ({
    claimed: one,
    attempted: { status: null, timedOut: false, failure: 'refused' },
    tookMs: 1,
    retryAfterMs: 0,
    responseBody: null,
  }));
  const now = await clock.now();
  await database.write((tx) => recordResults(tx, results, now));
  const health = () =>
    bursar.world.sql('select timeouts_in_row, unanswered_in_row from webhook_health where webhook_id = $1', [
      owner.webhook.id,
    ]);
  expect(await health()).toEqual([{ timeouts_in_row: 3, unanswered_in_row: 3 }]);
  const url = bursar.receiver.urlOf('another');
  await owner.webhooks.updateWebhook({ params: { id: owner.webhook.id }, body: { url } });
  expect(await health()).toEqual([{ timeouts_in_row: 0, unanswered_in_row: 0 }]);
});

describe('slow receivers', () => {
  test('one that hangs does not delay another', async () => {
    bursar.receiver.answers('hangs', hanging);
    const slow = await subscribed('hangs');
    const quick = await subscribed('quick');
    // Longer than this test may take, so that a delivery that waits for a hanging request fails the test.
    await bursar.relay({ timeoutMs: 300_000, mostUnderWay: 50 });
    await bursar.emit(slow.ownerId, 100);
    await eventually(
      async () => bodies('hangs').length,
      (count) => count >= 5,
    );
    await bursar.emit(quick.ownerId, 50);
    await eventually(
      async () => bodies('quick').length,
      (count) => count === 50,
    );
    expect(bodies('hangs').length).toBeLessThanOrEqual(12); // A quarter of 50 places.
    await slow.webhooks.deleteWebhook({ params: { id: slow.webhook.id } });
  });

  test('after five timeouts in a row it is tried by one request at a time, until it answers', async () => {
    bursar.receiver.answers('probed', inTurn(hanging, hanging, hanging, hanging, hanging, hanging, after(20)));
    const owner = await subscribed('probed');
    // Long enough for five requests to arrive before the first of them times out.
    const timeoutMs = 5_000;
    await bursar.relay({ timeoutMs, perReceiver: 5, mostUnderWay: 1_000 });
    await bursar.emit(owner.ownerId, 30);
    await eventually(
      async () => bodies('probed').length,
      (count) => count >= 7,
    );
    // Five together; each of the others waited for the one before to time out, and a second.
    const requests = bursar.receiver.received('probed').slice(0, 7);
    expect(requests.map(({ openAtOnce }) => openAtOnce)).toEqual([1, 2, 3, 4, 5, 1, 1]);
    const [waitedMs] = requests.slice(-1).map(({ at }) => at - (requests.at(-2)?.at ?? at));
    expect(waitedMs).toBeGreaterThan(timeoutMs + 900);
    // Looks that only become less and less frequent would have come after ten seconds.
    expect(waitedMs).toBeLessThan(timeoutMs + 4_000);
    await eventually(
      async () => bodies('probed').length,
      (count) => count === 30,
    );
  });
});

describe('a receiver that cannot be reached', () => {
  test('is tried by one request at a time after five attempts in a row, and what waits uses up no attempt', async () => {
    const [count, cut] = [40, 30];
    // Each attempt is two requests: over a connection that is closed under it, and over a new one.
    bursar.receiver.answers('unreachable', (response, n) =>
      n <= cut ? void response.socket?.destroy() : after(20)(response, n),
    );
    const owner = await subscribed('unreachable');
    await bursar.emit(owner.ownerId, count);
    await bursar.relay({ perReceiver: 5 });
    const all = await eventually(
      () => deliveriesOf(owner),
      (found) => found.filter(({ status: one }) => one === 'succeeded').length === count - cut / 2,
    );
    const [kept, lost] = [all.filter((one) => one.status === 'succeeded'), all.filter((one) => one.error !== null)];
    expect(kept.every(({ attempt }) => attempt === 1)).toBe(true);
    expect(lost).toHaveLength(cut / 2);
    for (const one of lost) {
      expect(one).toMatchObject({
        status: 'pending',
        attempt: 1,
        error: expect.stringMatching(/closed the connection/),
      });
    }
    // At most nine were sent before five had failed in a row.
    const requests = bursar.receiver.received('unreachable');
    const probes = requests.slice(18, cut);
    expect(probes.map(({ openAtOnce }) => openAtOnce)).toEqual(probes.map(() => 1));
    // The receiver rests for a second after both requests of an attempt.
    const rests = probes.slice(2).map(({ at }, n) => at - (probes[n]?.at ?? at));
    expect(Math.min(...rests)).toBeGreaterThan(1_000);
    expect(bursar.receiver.mostAtOnce('unreachable')).toBeGreaterThan(1);
  });
});

describe('subscriptions that end', () => {
  /** A result that comes after its lease has expired: it locks its delivery, and takes `lock` once `go` is called. */
  async function lateResultOf(webhookId: string, lock: string) {
    const { database } = bursar.infrastructure;
    const [orphaned] = await bursar.world.sql<{ id: string }>(
      `with orphaned as (
         update webhook_deliveries set attempts_made = 1, claims = 1
         where id = (select min(id) from webhook_deliveries where webhook_id = $1) returning id, webhook_id, seq),
       claim as (
         insert into delivery_claims (webhook_id, is_retry, lease_until, seqs)
         select webhook_id, true, now() - interval '1 second', array[seq] from orphaned)
       select id from orphaned`,
      [webhookId],
    );
    const [held, asked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const recorded = database.write(async (tx) => {
      await runSql(tx, 'delete from delivery_claims where webhook_id = $1', [webhookId]);
      await runSql(tx, 'update webhook_deliveries set attempts_made = 2, claims = 2 where id = $1', [orphaned?.id]);
      held.resolve();
      await asked.promise;
      await runSql(tx, lock, [webhookId]);
    });
    await held.promise;
    return { recorded, go: asked.resolve };
  }

  test('a disabling and a late result of the same subscription do not wait for each other', async () => {
    bursar.receiver.answers('disabled-beside', status(410));
    const owner = await subscribed('disabled-beside');
    await bursar.emit(owner.ownerId, 2);
    const { database, clock, vault } = bursar.infrastructure;
    const before = await deadlocksIn(bursar.world);
    const late = await lateResultOf(owner.webhook.id, 'select 1 from webhook_health where webhook_id = $1 for update');
    const limits = { perReceiver: 100, leaseMs: 45_000 };
    const { claimed } = await database.write((tx) => claimFirstAttempts(tx, 100, limits));
    const own = claimed.filter(({ webhookId }) => webhookId === owner.webhook.id);
    const results = await Promise.all(own.map(createSender({ outbound: bursar.outbound, vault })));
    const now = await clock.now();
    const disabling = database.write((tx) => recordResults(tx, results, now));
    await overOrWaiting(bursar.world, disabling);
    late.go();
    await Promise.all([disabling, late.recorded]);
    const { status: is } = await owner.webhooks.getWebhook({ params: { id: owner.webhook.id } });
    expect([is, await deadlocksIn(bursar.world)]).toEqual(['disabled', before]);
  });

  test('a deletion and a late result that disables do not wait for each other', async () => {
    const owner = await subscribed('deleted-beside');
    await bursar.emit(owner.ownerId, 2);
    const before = await deadlocksIn(bursar.world);
    const late = await lateResultOf(owner.webhook.id, 'select 1 from webhooks where id = $1 for update');
    const deleting = owner.webhooks.deleteWebhook({ params: { id: owner.webhook.id } });
    await overOrWaiting(bursar.world, deleting);
    late.go();
    await Promise.all([deleting, late.recorded]);
    expect(await deadlocksIn(bursar.world)).toBe(before);
  });

  test('a deleted one loses its waiting deliveries, and gets no event about its deletion', async () => {
    const owner = await subscribed('deleted', ['*']);
    await subscribed('survivor', ['webhook.deleted'], owner);
    await bursar.emit(owner.ownerId, 5);
    const shown = await deliveriesOf(owner);
    await owner.webhooks.deleteWebhook({ params: { id: owner.webhook.id } });
    await bursar.relay();
    await eventually(
      async () => bodies('survivor').length,
      (count) => count === 1,
    );
    expect(bodies('deleted')).toEqual([]);
    for (const { id } of shown) {
      const whole = await owner.webhooks.getWebhookDelivery({ params: { deliveryId: id } });
      expect(whole).toMatchObject({ status: 'dead', error: 'the subscription was deleted', attempts: [] });
    }
  });

  test('a delivery that a change added while the subscription was deleted is ended by the sweep', async () => {
    const owner = await subscribed('raced');
    await bursar.emit(owner.ownerId);
    // A race can commit in this order: the subscription is deleted, and its delivery is still pending.
    await bursar.world.sql('update webhooks set deleted_at = created_at, sealed_secret = null where id = $1', [
      owner.webhook.id,
    ]);
    await bursar.relay({ pollMs: 200 });
    await eventually(
      () => waitingCount(owner.webhook.id),
      (count) => count === 0,
    );
    expect(bodies('raced')).toEqual([]);
  });

  test('a paused one keeps its waiting deliveries and gets them when active again', async () => {
    const owner = await subscribed('paused');
    await bursar.emit(owner.ownerId, 2);
    await bursar.world.sql(`update webhooks set status = 'paused' where id = $1`, [owner.webhook.id]);
    await bursar.relay({ pollMs: 200 });
    await new Promise((done) => setTimeout(done, 600));
    expect(bodies('paused')).toEqual([]);
    await bursar.world.sql(`update webhooks set status = 'active' where id = $1`, [owner.webhook.id]);
    await eventually(
      async () => bodies('paused').length,
      (count) => count === 2,
    );
  });
});

test('while the database is away no delivery is lost, and stopping finishes attempts in progress', async () => {
  bursar.receiver.answers('outage', after(300));
  const owner = await subscribed('outage');
  const relay = await bursar.relay({ pollMs: 500 });
  await bursar.emit(owner.ownerId, 10);
  await eventually(
    async () => bodies('outage').length,
    (count) => count === 10,
  );
  await bursar.world.sql(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'bursar-delivery-test' and datname = current_database()`,
  );
  await relay.stop();
  const all = await eventually(
    () => deliveriesOf(owner),
    (found) => found.length === 10,
  );
  expect(all.every(({ status, attempt }) => status === 'succeeded' && attempt === 1)).toBe(true);
});

const waitingCount = async (webhookId: string): Promise<number> => {
  const [row] = await bursar.world.sql<{ count: string }>(
    `select count(*) from webhook_deliveries where webhook_id = $1 and status in ('pending', 'delivering') and attempts_made = 0`,
    [webhookId],
  );
  return Number(row?.count);
};

const processes = (box: string) =>
  bursar.world.sql<{ id: string; workflow: string; is_open: boolean; due_at: Date }>(
    `select p.id, p.workflow, p.is_open, p.due_at from workflow_runs p
     join webhooks w on w.id = p.subject_id where w.url like '%/' || $1`,
    [box],
  );
