/**
 * What an owner may do with subscriptions and deliveries: change, pause, resume, rotate, test, deliver again, recover,
 * and empty the queue of dead letters. Real receivers; relays run where a test starts one.
 * @module
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { eventsArea } from '../../../src/domains/delivery/events/event.contract.ts';
import { claimFirstAttempts } from '../../../src/domains/delivery/webhooks/delivery.claim.service.ts';
import { recordResults } from '../../../src/domains/delivery/webhooks/delivery.result.service.ts';
import { changeWebhook } from '../../../src/domains/delivery/webhooks/webhook.change.service.ts';
import { customersArea } from '../../../src/domains/parties/customers/customer.contract.ts';
import type { ReachedId } from '../../../src/http/reaches.ts';
import { uuidv7 } from '../../../src/kernel/ids.ts';
import { day, hour, minute } from '../../../src/kernel/instant.ts';
import type { Cause } from '../../../src/platform/cause.ts';
import { purgeDeliveries } from '../../../src/usecases/delivery/purge-deliveries.ts';
import { type DeliveryWorld, type Subscriber, startDeliveryWorld } from '../../support/delivery-world.ts';
import { inTurn, status } from '../../support/receiver.ts';
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
  const params = { id: webhook.id };
  const listed = async () =>
    (await subscriber.webhooks.listWebhookDeliveries({ params, query: { limit: 100 } })).data.toReversed();
  const update = (body: NonNullable<Parameters<Subscriber['webhooks']['updateWebhook']>[0]>['body'] & object) =>
    subscriber.webhooks.updateWebhook({ params, body });
  return { ...subscriber, webhook, params, listed, update };
};
const arrived = (box: string, count: number) =>
  eventually(
    async () => bursar.receiver.received(box),
    (all) => all.length >= count,
  );
const namesOf = async (ownerId: string): Promise<string[]> =>
  (
    await bursar.world.sql<{ name: string }>(
      `select name from events where owner_id = $1 and name <> 'policy.created' order by seq`,
      [ownerId],
    )
  ).map(({ name }) => name);

describe('changing', () => {
  test('a new address gets what waits, events count for later ones, and a description can be taken away', async () => {
    const owner = await subscribed('before');
    await bursar.emit(owner.ownerId);
    const changed = await owner.update({
      url: bursar.receiver.urlOf('behind'),
      events: ['policy.updated', 'policy.updated'],
      description: null,
    });
    expect(changed).toMatchObject({
      url: bursar.receiver.urlOf('behind'),
      events: ['policy.updated'],
      description: null,
      status: 'active',
    });
    await bursar.emit(owner.ownerId);
    await bursar.emit(owner.ownerId, 1, 'policy.updated');
    await bursar.relay();
    const received = await arrived('behind', 2);
    expect(received.map(({ headers }) => headers['x-service-event']).toSorted()).toEqual([
      'policy.created',
      'policy.updated',
    ]);
    expect(bursar.receiver.received('before')).toEqual([]);
    expect(await namesOf(owner.ownerId)).toContain('webhook.updated');
  });

  test('the same cause changes it once, so that a repeat does not undo a later change', async () => {
    const owner = await subscribed('changed-twice');
    const { database, clock } = bursar.infrastructure;
    const cause: Cause = { causeId: uuidv7(), requestId: uuidv7(), actor: { kind: 'system' }, at: await clock.now() };
    const name = { id: owner.webhook.id as ReachedId<'webhook'>, ownerId: owner.ownerId };
    const change = { description: 'first', status: 'paused' } as const;
    const receivers = { allowedOrigins: [], namesAllowedOrigins: true, httpsOnly: false };
    const first = () => database.write((tx) => changeWebhook(tx, name, change, receivers, cause));
    expect(await first()).toMatchObject(change);
    await owner.update({ description: 'second', status: 'active' });
    expect(await first()).toMatchObject({ description: 'second', status: 'active' });
    expect((await namesOf(owner.ownerId)).filter((event) => event === 'webhook.updated')).toHaveLength(2);
  });

  test('changes at the same time are carried out one after the other, and none loses another one’s fields', async () => {
    const owner = await subscribed('changed-at-once');
    const url = bursar.receiver.urlOf('changed-at-once-too');
    const changes = [{ description: 'changed' }, { ordered: true }, { events: ['policy.updated'] }, { url }];
    await Promise.all(changes.map(owner.update));
    expect(await owner.webhooks.getWebhook({ params: owner.params })).toMatchObject(Object.assign({}, ...changes));
    expect((await namesOf(owner.ownerId)).filter((event) => event === 'webhook.updated')).toHaveLength(4);
  });

  // spec: url-rule:2
  test.each<[object, RegExp]>([
    [{}, /give at least one field/],
    [{ url: 'http://127.0.0.1/x' }, /body\.url: .*loopback/],
    [{ url: 'https://user@hooks.example.com/' }, /user name or password/],
    [{ events: ['card.melted'] }, /unknown event "card\.melted"/],
    [{ events: ['*', 'card.frozen'] }, /already means every event/],
    [{ status: 'disabled' }, /body\.status/],
    [{ secret: 'whsec_mine' }, /secret/],
  ])('%j is a 400 and changes nothing', async (body, why) => {
    const owner = await subscribed('unchanged');
    expect(await refusalOf(owner.update(body))).toEqual([400, expect.stringMatching(why)]);
    const { secret: _, ...shown } = owner.webhook;
    expect(await owner.webhooks.getWebhook({ params: owner.params })).toEqual(shown);
  });

  test('while it is paused nothing is sent or made; resumed, what waited is sent, and recovery makes the rest', async () => {
    const owner = await subscribed('paused');
    await bursar.emit(owner.ownerId);
    await owner.update({ status: 'paused' });
    const since = new Date(Date.now() - hour).toISOString();
    await bursar.emit(owner.ownerId, 2);
    await bursar.relay();
    const other = await subscribed('not-paused', ['policy.created'], owner);
    await bursar.emit(owner.ownerId);
    await arrived('not-paused', 1); // A pass of the relay after which the paused one would have arrived, too.
    expect(bursar.receiver.received('paused')).toEqual([]);
    expect((await owner.listed()).map((one) => one.status)).toEqual(['pending']);
    expect(await refusalOf(owner.webhooks.recoverWebhookDeliveries({ params: owner.params, body: { since } }))).toEqual(
      [400, `webhook ${owner.webhook.id} is paused; make it active first`],
    );

    await owner.update({ status: 'active' });
    await arrived('paused', 1);
    const recovered = await owner.webhooks.recoverWebhookDeliveries({ params: owner.params, body: { since } });
    expect(recovered).toMatchObject({ queued: 3, hasMore: false });
    await arrived('paused', 4);
    await eventually(owner.listed, (all) => all.every((one) => one.status === 'succeeded'));
    expect((await owner.listed()).map(({ origin }) => origin)).toEqual(['event', 'recovery', 'recovery', 'recovery']);
    // Deliveries that arrived are not sent again.
    const again = await owner.webhooks.recoverWebhookDeliveries({ params: owner.params, body: { since } });
    expect(again).toMatchObject({ queued: 0, hasMore: false, position: expect.any(Number) });
    const later = { since, after: again.position };
    expect(await owner.webhooks.recoverWebhookDeliveries({ params: other.params, body: later })).toMatchObject({
      queued: 0,
    });
  });

  test('a disabled one is enabled by active only, without its failures, and says why no more', async () => {
    const owner = await subscribed('gone-once');
    bursar.receiver.answers('gone-once', inTurn(status(410), status(200)));
    await bursar.relay();
    await bursar.emit(owner.ownerId);
    const read = () => owner.webhooks.getWebhook({ params: owner.params });
    await eventually(read, (shown) => shown.status === 'disabled');
    expect(await refusalOf(owner.update({ status: 'paused' }))).toEqual([
      400,
      expect.stringMatching(/set active first/),
    ]);
    expect(await owner.update({ description: 'repaired' })).toMatchObject({ status: 'disabled' });
    expect(await owner.update({ status: 'active' })).toMatchObject({ status: 'active', disabledReason: null });
    const [health] = await bursar.world.sql(
      'select failures_in_row, failing_since from webhook_health where webhook_id = $1',
      [owner.webhook.id],
    );
    expect(health).toEqual({ failures_in_row: 0, failing_since: null });
    await bursar.emit(owner.ownerId);
    await eventually(owner.listed, (all) => all.at(-1)?.status === 'succeeded');
  });

  test("another owner's, a deleted one and their deliveries are 404 to every command", async () => {
    const owner = await subscribed('mine');
    const stranger = await bursar.subscriber();
    await bursar.emit(owner.ownerId);
    const deliveryId = (await owner.listed())[0]?.id ?? '';
    const { params } = owner;
    const commands = ({ webhooks }: Subscriber) => [
      webhooks.updateWebhook({ params, body: { description: 'x' } }),
      webhooks.rotateWebhookSecret({ params, body: {} }),
      webhooks.testWebhook({ params, body: {} }),
      webhooks.recoverWebhookDeliveries({ params, body: { since: '2026-01-01' } }),
    ];
    for (const call of [
      ...commands(stranger),
      stranger.webhooks.redeliverWebhookDelivery({ params: { deliveryId } }),
    ]) {
      expect((await refusalOf(call))[0]).toBe(404);
    }
    await owner.webhooks.deleteWebhook({ params });
    for (const call of commands(owner)) expect((await refusalOf(call))[0]).toBe(404);
    expect(await refusalOf(owner.webhooks.redeliverWebhookDelivery({ params: { deliveryId } }))).toEqual([
      400,
      `delivery ${deliveryId} is not sent again: its subscription was deleted`,
    ]);
  });
});

describe('rotating', () => {
  const verifies = (secret: string, { headers, body }: { headers: object; body: string }): boolean => {
    try {
      new Webhook(secret).verify(body, headers as Record<string, string>);
      return true;
    } catch {
      return false;
    }
  };

  test('both secrets sign until the overlap is over, then only the new one', async () => {
    await bursar.relay();
    const owner = await subscribed('rotated');
    const rotate = (overlapHours: number) =>
      owner.webhooks.rotateWebhookSecret({ params: owner.params, body: { overlapHours } });
    const sent = async (count: number) => {
      await bursar.emit(owner.ownerId);
      return (await arrived('rotated', count))[count - 1]!;
    };
    const { secret: first } = owner.webhook;
    const second = await rotate(2);
    expect(second).toMatchObject({ id: owner.webhook.id, hint: `whsec_…${second.secret.slice(-4)}` });
    expect(Math.abs(Date.parse(second.previousUntil ?? '') - Date.now() - 2 * hour)).toBeLessThan(60_000);
    const during = await sent(1);
    expect([first, second.secret].map((secret) => verifies(secret, during))).toEqual([true, true]);
    expect(during.headers).toHaveProperty('x-service-signature-previous');

    const third = await rotate(2);
    const between = await sent(2);
    expect([first, second.secret, third.secret].map((secret) => verifies(secret, between))).toEqual([
      false,
      true,
      true,
    ]);

    await bursar.world.sql(`update webhooks set previous_secret_until = now() - interval '1 second' where id = $1`, [
      owner.webhook.id,
    ]);
    const after = await sent(3);
    expect([second.secret, third.secret].map((secret) => verifies(secret, after))).toEqual([false, true]);
    expect(after.headers).not.toHaveProperty('x-service-signature-previous');
    const { database, clock } = bursar.infrastructure;
    await purgeDeliveries({ database })({ deliveries: 90, events: 400 }, await clock.now());
    expect(
      await bursar.world.sql('select previous_sealed_secret, previous_secret_until from webhooks where id = $1', [
        owner.webhook.id,
      ]),
    ).toEqual([{ previous_sealed_secret: null, previous_secret_until: null }]);

    const last = await rotate(0);
    expect(last.previousUntil).toBeNull();
    expect([third.secret, last.secret].map((secret) => [secret, verifies(secret, after)][1])).toEqual([true, false]);
    const atOnce = await sent(4);
    expect([third.secret, last.secret].map((secret) => verifies(secret, atOnce))).toEqual([false, true]);
    expect(await owner.webhooks.getWebhook({ params: owner.params })).toMatchObject({ hint: last.hint });
    expect((await namesOf(owner.ownerId)).filter((name) => name === 'webhook_secret.rotated')).toHaveLength(3);
  });
});

describe('testing', () => {
  test('the sample arrives signed at this subscription alone, and is in no feed', async () => {
    await bursar.relay();
    const owner = await subscribed('tested', ['card.frozen']);
    await subscribed('tested-not', ['*'], owner);
    const { deliveryId } = await owner.webhooks.testWebhook({ params: owner.params, body: {} });
    const [received] = await arrived('tested', 1);
    const { headers, body } = received!;
    expect(new Webhook(owner.webhook.secret).verify(body, headers as Record<string, string>)).toEqual({
      event: 'transaction.completed',
      createdAt: expect.any(String),
      data: expect.objectContaining({ test: true, amountEuros: 12.5, merchant: 'Sandbox Shop' }),
      sequence: 0,
    });
    expect(headers).toMatchObject({ 'webhook-id': deliveryId, 'x-service-event': 'transaction.completed' });
    const params = { deliveryId };
    const shown = await eventually(
      () => owner.webhooks.getWebhookDelivery({ params }),
      (one) => one.status === 'succeeded',
    );
    expect(shown).toMatchObject({ origin: 'test', payload: JSON.parse(body), attempts: [{ attempt: 1 }] });
    await owner.webhooks.testWebhook({ params: owner.params, body: { event: 'card.frozen' } });
    expect((await arrived('tested', 2))[1]?.headers).toMatchObject({ 'x-service-event': 'card.frozen' });
    expect(
      await refusalOf(
        owner.webhooks.testWebhook({ params: owner.params, body: { event: 'card.melted' as 'card.frozen' } }),
      ),
    ).toEqual([400, expect.stringMatching(/body\.event/)]);

    const feed = await bursar.world.as(owner.key).client(eventsArea).listEvents({ query: {} });
    expect(feed.data.map(({ event }) => event)).not.toContain('transaction.completed');
    expect(bursar.receiver.received('tested-not').map(({ headers }) => headers['x-service-event'])).not.toContain(
      'transaction.completed',
    );
  });

  test('a thousand a day', async () => {
    const owner = await subscribed('counted');
    await bursar.world.sql(
      `insert into webhook_test_events select 'ev_made' || n || $1, $1, 'card.frozen', '{"test":true}', 'r', null,
         now() + (select offset_ms from clock) * interval '1 millisecond' from generate_series(1, 1000) n`,
      [owner.ownerId],
    );
    expect(await refusalOf(owner.webhooks.testWebhook({ params: owner.params, body: {} }))).toEqual([
      400,
      'you have 1000 test deliveries today, and 1000 is the limit; go on tomorrow (UTC)',
    ]);
  });
});

describe('delivering again', () => {
  test('a final delivery is made again under another id with the same body, and one that waits is not', async () => {
    const owner = await subscribed('again');
    await bursar.emit(owner.ownerId);
    const first = (await owner.listed())[0]!;
    const redeliver = (deliveryId: string) => owner.webhooks.redeliverWebhookDelivery({ params: { deliveryId } });
    expect(await refusalOf(redeliver(first.id))).toEqual([
      400,
      `delivery ${first.id} is not sent again: it is still pending; wait until it is over`,
    ]);
    await bursar.relay();
    await eventually(owner.listed, ([one]) => one?.status === 'succeeded');
    const second = await redeliver(first.id);
    expect(second).toMatchObject({
      eventId: first.eventId,
      status: expect.stringMatching(/pending|delivering|succeeded/),
      origin: 'redelivery',
    });
    const [one, two] = await arrived('again', 2);
    expect(two?.body).toBe(one?.body);
    expect([one, two].map((sent) => sent?.headers['webhook-id'])).toEqual([first.id, second.id]);
    expect(new Set([one, two].map((sent) => sent?.headers['webhook-signature'])).size).toBe(2);
  });

  test('the same Idempotency-Key delivers once, also when its answer was lost', async () => {
    await bursar.relay();
    const owner = await subscribed('once-more');
    await bursar.emit(owner.ownerId);
    await eventually(owner.listed, ([one]) => one?.status === 'succeeded');
    const params = { deliveryId: (await owner.listed())[0]!.id };
    const call = () =>
      owner.webhooks.redeliverWebhookDelivery({ params, headers: { 'Idempotency-Key': 'redeliver-once' } });
    const first = await call();
    await bursar.world.sql(
      `update idempotency set status = null, body = null, body_is_sealed = false, lease_until = null
       where key = 'redeliver-once'`,
    );
    expect((await call()).id).toBe(first.id);
    expect(await owner.listed()).toHaveLength(2);
  });
});

describe('dead letters', () => {
  /** A subscription with that many dead letters, active again. */
  const withDeadLetters = async (box: string, count: number, before?: Subscriber) => {
    const owner = await subscribed(box, ['policy.created'], before);
    bursar.receiver.answers(box, inTurn(status(410), status(200)));
    await bursar.emit(owner.ownerId, count);
    await bursar.relay({ perReceiver: 1 });
    await eventually(
      () => owner.webhooks.getWebhook({ params: owner.params }),
      (shown) => shown.status === 'disabled',
    );
    const letters = async () =>
      (await owner.webhooks.listDeadLetters({ query: { webhookId: owner.webhook.id, limit: 100 } })).data;
    expect((await letters()).map((one) => one.status)).toEqual(Array(count).fill('dead'));
    return { ...owner, letters, redeliver: owner.webhooks.redeliverDeadLetters };
  };

  test('a repeat whose answer was lost takes no letter that died since', async () => {
    const owner = await withDeadLetters('dead-repeat', 3);
    await owner.update({ status: 'active' });
    const [one] = await owner.letters();
    const again = () =>
      owner.redeliver({ body: { webhookId: owner.webhook.id }, headers: { 'Idempotency-Key': 'letters-once' } });
    const first = await again();
    expect(first).toMatchObject({ queued: 3 });
    // One of them is made dead again, as by a later failure.
    await bursar.world.sql('update webhook_deliveries set dismissed_at = null where id = $1', [one!.id]);
    await bursar.world.sql(
      `update idempotency set status = null, body = null, body_is_sealed = false, lease_until = null
       where key = 'letters-once'`,
    );
    expect(await again()).toEqual({ ...first, hasMore: true });
    expect((await owner.letters()).map(({ id }) => id)).toEqual([one!.id]);
  });

  test('all of a subscription are delivered again and leave the queue; those of a disabled one stay', async () => {
    const owner = await withDeadLetters('dead', 7);
    const body = { webhookId: owner.webhook.id };
    expect(await refusalOf(owner.redeliver({ body }))).toEqual([
      400,
      `webhook ${owner.webhook.id} is disabled; make it active first`,
    ]);
    const ids = (await owner.letters()).map(({ id }) => id);
    const none = { queued: 0, deliveryIds: [], hasMore: false };
    expect(await owner.redeliver({ body: { ids } })).toEqual(none);
    await owner.update({ status: 'active' });
    const again = await owner.redeliver({ body });
    expect(again).toMatchObject({ queued: 7, hasMore: false });
    expect(await owner.letters()).toEqual([]);
    await arrived('dead', 8);
    const all = await eventually(owner.listed, (now) => now.filter((one) => one.status === 'succeeded').length === 7);
    // The dead letters themselves are unchanged.
    expect(
      all
        .filter((one) => one.status === 'dead')
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual(ids.toSorted());
    expect(again.deliveryIds).toEqual(all.filter((one) => one.status === 'succeeded').map(({ id }) => id));
    expect(await owner.redeliver({ body })).toEqual(none);
  });

  test('one that is delivered again by its id or recovered leaves the queue, and is sent once', async () => {
    const since = (await bursar.infrastructure.clock.now()).toISOString();
    const owner = await withDeadLetters('dead-otherwise', 3);
    await owner.update({ status: 'active' });
    const [one] = await owner.letters();
    await owner.webhooks.redeliverWebhookDelivery({ params: { deliveryId: one!.id } });
    expect((await owner.letters()).map(({ id }) => id)).not.toContain(one!.id);
    expect(await owner.letters()).toHaveLength(2);
    const recovered = await owner.webhooks.recoverWebhookDeliveries({ params: owner.params, body: { since } });
    expect(recovered).toMatchObject({ queued: 2 });
    expect(await owner.letters()).toEqual([]);
    expect(await owner.redeliver({ body: { webhookId: owner.webhook.id } })).toMatchObject({ queued: 0 });
    await arrived('dead-otherwise', 4);
  });

  test('those of a deleted subscription leave the queue, also where the last attempt ends afterwards', async () => {
    const kept = await withDeadLetters('dead-kept', 1);
    const owner = await withDeadLetters('dead-deleted', 2, kept);
    await owner.update({ status: 'active' });
    await bursar.stopRelays();
    await bursar.emit(owner.ownerId, 2);
    const { database, clock } = bursar.infrastructure;
    const limits = { perReceiver: 1, leaseMs: minute };
    const { claimed: all } = await database.write((tx) => claimFirstAttempts(tx, 100, limits));
    const claimed = all.filter(({ webhookId }) => webhookId === owner.webhook.id);
    await owner.webhooks.deleteWebhook({ params: owner.params });
    const late = claimed.map((one) => ({
      ...{ claimed: one, tookMs: 1, retryAfterMs: 0, responseBody: null },
      attempted: { status: 410, timedOut: false, failure: null },
    }));
    const now = await clock.now();
    expect(await database.write((tx) => recordResults(tx, late, now))).toEqual(claimed.map(({ id }) => id));
    const ended = await bursar.world.sql(
      `select status, dismissed_at is not null as "hasLeft", count(*)::int as count from webhook_deliveries
       where webhook_id = $1 group by 1, 2`,
      [owner.webhook.id],
    );
    expect(ended).toEqual([{ status: 'dead', hasLeft: true, count: 4 }]);
    const listed = async () => (await owner.webhooks.listDeadLetters({ query: {} })).data.map((one) => one.webhookId);
    expect(await listed()).toEqual([kept.webhook.id]);
    // As where the last attempt and the deletion commit in the same moment, and neither sees the other.
    await bursar.world.sql('update webhook_deliveries set dismissed_at = null where webhook_id = $1', [
      owner.webhook.id,
    ]);
    expect(await listed()).toEqual([kept.webhook.id]);
  });

  test('some are named, others are deleted, and calls at once take each one once', async () => {
    const owner = await withDeadLetters('dead-some', 6);
    await owner.update({ status: 'active' });
    const [gone, ...rest] = await owner.letters();
    const remove = () => owner.webhooks.deleteDeadLetter({ params: { deliveryId: gone!.id } });
    await remove();
    expect(await refusalOf(remove())).toEqual([404, `no dead letter ${gone!.id}`]);
    const ids = [...rest.map(({ id }) => id), gone!.id];
    expect(await refusalOf(owner.redeliver({ body: { ids: [...ids, 'whd_unknown00'] } }))).toEqual([
      404,
      'no delivery whd_unknown00',
    ]);
    const answers = await Promise.all([1, 2, 3].map(() => owner.redeliver({ body: { ids } })));
    expect(answers.map(({ queued }) => queued).reduce((sum, one) => sum + one)).toBe(5);
    await arrived('dead-some', 6);
    expect(await owner.letters()).toEqual([]);
    expect((await owner.listed()).map(({ id }) => id)).toContain(gone!.id);
    expect((await namesOf(owner.ownerId)).filter((name) => name === 'dead_letter.deleted')).toHaveLength(1);
  });

  test("another owner's stay, and 400 says what to name", async () => {
    const owner = await withDeadLetters('dead-mine', 1);
    await owner.update({ status: 'active' });
    const { webhooks } = await bursar.subscriber();
    const [letter] = await owner.letters();
    expect(await refusalOf(webhooks.redeliverDeadLetters({ body: { ids: [letter!.id] } }))).toEqual([
      404,
      `no delivery ${letter!.id}`,
    ]);
    expect(await refusalOf(webhooks.redeliverDeadLetters({ body: { webhookId: owner.webhook.id } }))).toEqual([
      404,
      `no webhook ${owner.webhook.id}`,
    ]);
    expect(await refusalOf(webhooks.deleteDeadLetter({ params: { deliveryId: letter!.id } }))).toEqual([
      404,
      `no delivery ${letter!.id}`,
    ]);
    expect((await webhooks.listDeadLetters({})).data).toEqual([]);
    for (const body of [{}, { ids: [letter!.id], webhookId: owner.webhook.id }]) {
      expect(await refusalOf(owner.redeliver({ body }))).toEqual([
        400,
        expect.stringMatching(/either ids or webhookId/),
      ]);
    }
    expect(await owner.letters()).toHaveLength(1);
  });

  test('a plan without dead letters has no queue', async () => {
    const owner = await bursar.subscriber();
    const customers = bursar.world.as(owner.key).client(customersArea);
    const { id } = await customers.getOwnCustomer({});
    await customers.updateCustomer({ params: { id }, body: { plan: 'business' } });
    const whyNot =
      'the business plan has the webhook tier full_retry, which has no dead letters; the enterprise plan has them';
    expect(await refusalOf(owner.webhooks.listDeadLetters({}))).toEqual([403, whyNot]);
    expect(
      await refusalOf(
        owner.webhooks.redeliverDeadLetters({
          body: { webhookId: (await subscribed('no-queue', ['*'], owner)).webhook.id },
        }),
      ),
    ).toEqual([403, whyNot]);
  });
});

describe('recovering', () => {
  test('begins at the instant, ends before the other, and takes only events that the subscription wants', async () => {
    const owner = await bursar.subscriber();
    await bursar.emit(owner.ownerId, 3);
    const middle = await bursar.world.advance(hour);
    expect(middle).toBeDefined();
    const since = (await bursar.infrastructure.clock.now()).toISOString();
    await bursar.emit(owner.ownerId, 2);
    await bursar.emit(owner.ownerId, 1, 'policy.updated');
    await bursar.world.advance(hour);
    const until = (await bursar.infrastructure.clock.now()).toISOString();
    await bursar.emit(owner.ownerId, 4);
    const late = await subscribed('late', ['policy.created'], owner);
    const recover = async (body: object) =>
      (await late.webhooks.recoverWebhookDeliveries({ params: late.params, body: { since, ...body } })).queued;
    expect(await recover({ until })).toBe(2);
    expect(await recover({ until })).toBe(0); // These wait.
    expect(await recover({})).toBe(4);
    const daysAgo = (days: number) => new Date(Date.parse(until) - days * day).toISOString();
    expect(await recover({ since: daysAgo(89) })).toBe(3);
    expect(
      await refusalOf(late.webhooks.recoverWebhookDeliveries({ params: late.params, body: { since: daysAgo(91) } })),
    ).toEqual([400, expect.stringMatching(/^body\.since: deliveries are kept for 90 days, and what was received bef/)]);
    // Pages of two events; the next events are an hour after the end of the period, so there is no further page.
    const more = (end: string) =>
      bursar.world.sql(`select more from missed_events($1, $2, $3, 0, 2, 'c')`, [late.params.id, until, end]);
    expect([await more(since), await more(daysAgo(-1))]).toEqual([[{ more: false }], [{ more: true }]]);
    await bursar.relay();
    await arrived('late', 9);
  });

  test('calls at once send each event once', async () => {
    const owner = await bursar.subscriber();
    const since = (await bursar.infrastructure.clock.now()).toISOString();
    await bursar.emit(owner.ownerId, 40);
    const late = await subscribed('late-twice', ['policy.created'], owner);
    const calls = [1, 2, 3, 4].map(() =>
      late.webhooks.recoverWebhookDeliveries({ params: late.params, body: { since } }),
    );
    expect((await Promise.all(calls)).map(({ queued }) => queued).toSorted((a, b) => a - b)).toEqual([0, 0, 0, 40]);
  });

  test('what failed is sent again, once for each call', async () => {
    const owner = await subscribed('failed-once', ['policy.created', 'policy.updated']);
    const since = (await bursar.infrastructure.clock.now()).toISOString();
    bursar.receiver.answers('failed-once', inTurn(status(410), status(200)));
    await bursar.emit(owner.ownerId, 1);
    await bursar.relay();
    await eventually(owner.listed, ([one]) => one?.status === 'dead');
    await owner.update({ status: 'active' });
    const recover = () =>
      owner.webhooks.recoverWebhookDeliveries({
        params: owner.params,
        body: { since },
        headers: { 'Idempotency-Key': 'recover' },
      });
    expect(await recover()).toMatchObject({ queued: 1 });
    await bursar.world.sql(
      `update idempotency set status = null, body = null, body_is_sealed = false, lease_until = null where key = 'recover'`,
    );
    expect(await recover()).toMatchObject({ queued: 1 });
    await arrived('failed-once', 2);
    expect(await owner.listed()).toHaveLength(2);
  });
});

test('an event of the catalog has its schema and an example', async () => {
  const { webhooks } = await bursar.subscriber();
  const shown = await webhooks.getCatalogEvent({ params: { name: 'card.frozen' } });
  expect(shown).toMatchObject({
    name: 'card.frozen',
    category: 'Card',
    reserved: false,
    extension: false,
    schema: { type: 'object', required: expect.arrayContaining(['id', 'status']) },
    example: { id: 'ca_01kc1v9m3se7ttw5v1x0h2q8ab' },
  });
  expect(await refusalOf(webhooks.getCatalogEvent({ params: { name: 'card.melted' } }))).toEqual([
    404,
    'no event card.melted',
  ]);
});
