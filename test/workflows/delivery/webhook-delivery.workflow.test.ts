/**
 * Retries on the real dev server, moved by the business clock: attempts at their gaps, dead letters, wakes, and runs
 * that are lost and started again.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { claimRetry } from '../../../src/domains/delivery/index.ts';
import type { Id } from '../../../src/kernel/ids.ts';
import { hour, minute, second } from '../../../src/kernel/instant.ts';
import { claimLimits } from '../../../src/relay/deliveries.ts';
import { type DeliveryWorld, startDeliveryWorld } from '../../support/delivery-world.ts';
import { after, inTurn, status } from '../../support/receiver.ts';
import { eventually } from '../../support/world.ts';

let bursar: DeliveryWorld;
beforeAll(async () => {
  bursar = await startDeliveryWorld({ retries: true });
}, 60_000);
afterAll(() => bursar.close());

const failedOnce = async (box: string) => {
  const owner = await bursar.subscriber();
  const webhook = await owner.webhooks.createWebhook({
    body: { url: bursar.receiver.urlOf(box), events: ['policy.created'] },
  });
  await bursar.emit(owner.ownerId);
  const params = { id: webhook.id };
  const delivery = async () => {
    const [first] = (await owner.webhooks.listWebhookDeliveries({ params })).data;
    return owner.webhooks.getWebhookDelivery({ params: { deliveryId: first!.id } });
  };
  const first = await eventually(delivery, ({ attempt }) => attempt === 1);
  await eventually(
    () => stageOf(first.id),
    (stage) => stage === 'retrying',
    20_000,
  );
  return { ...owner, webhook, id: first.id as Id<'delivery'>, delivery };
};

const description = async (id: string) => {
  const client = await bursar.infrastructure.temporal.client();
  return client.workflow.getHandle(`webhook-delivery/${id}`).describe();
};
const stageOf = async (id: string): Promise<string> => {
  try {
    return String((await description(id)).searchAttributes.BursarStage?.[0]);
  } catch (_notStarted) {
    return 'not started'; // The relay starts it soon.
  }
};
const runStatus = async (id: string): Promise<string> => (await description(id)).status.name;

const attempted = (box: string) => bursar.receiver.received(box).length;
const reaches = (box: string, count: number) =>
  eventually(
    async () => attempted(box),
    (now) => now >= count,
  );

describe('retries', () => {
  test('a failed delivery is tried again after a minute of business time, and ends when it arrives', async () => {
    bursar.receiver.answers('once-down', inTurn(status(500), status(200)));
    const { id, delivery } = await failedOnce('once-down');
    expect(await bursar.world.advance(30 * second)).toBe(0);
    expect(attempted('once-down')).toBe(1);
    await bursar.world.advance(31 * second);
    const done = await eventually(delivery, (shown) => shown.status === 'succeeded');
    expect(done).toMatchObject({ attempt: 2, responseStatus: 200, error: null, nextAttemptAt: null });
    expect(done.attempts.map(({ deliveryId, responseStatus }) => [deliveryId, responseStatus])).toEqual([
      [`${id}.1`, 500],
      [`${id}.2`, 200],
    ]);
    await eventually(
      () => runStatus(id),
      (name) => name === 'COMPLETED',
    );
    expect(await stageOf(id)).toBe('delivered');
    expect(await openProcesses(id)).toBe(0);

    const [first, second_] = bursar.receiver.received('once-down');
    expect(second_?.body).toBe(first?.body);
    expect(second_?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(second_?.headers['x-service-delivery-id']).not.toBe(first?.headers['x-service-delivery-id']);
    expect(second_?.headers['x-service-signature']).not.toBe(first?.headers['x-service-signature']);
  });

  test('five attempts at 1, 5, 15 and 60 minutes, then a dead letter', async () => {
    bursar.receiver.answers('down', status(500));
    const { id, delivery } = await failedOnce('down');
    const gaps = [minute, 5 * minute, 15 * minute, hour];
    for (const [index, gap] of gaps.entries()) {
      const before = await delivery();
      const expected = Date.parse(before.attempts.at(-1)?.at ?? '') + gap;
      expect(Math.abs(Date.parse(before.nextAttemptAt ?? '') - expected)).toBeLessThan(2 * second);
      await bursar.world.advance(gap);
      await eventually(delivery, ({ attempt }) => attempt === index + 2);
    }
    expect(await delivery()).toMatchObject({ status: 'dead', attempt: 5, maxAttempts: 5, nextAttemptAt: null });
    await eventually(
      () => runStatus(id),
      (name) => name === 'COMPLETED',
    );
    expect(await stageOf(id)).toBe('dead-lettered');
    await bursar.world.advance(10 * hour);
    expect(attempted('down')).toBe(5);
  });

  test('Retry-After is waited for, also by the retry', async () => {
    bursar.receiver.answers('later', inTurn(status(503, { headers: { 'retry-after': '1800' } }), status(200)));
    const { delivery } = await failedOnce('later');
    await bursar.world.advance(29 * minute);
    expect(attempted('later')).toBe(1);
    await bursar.world.advance(minute);
    await eventually(delivery, (shown) => shown.status === 'succeeded');
  });

  test('410 on a retry disables the subscription and ends the delivery', async () => {
    bursar.receiver.answers('gone-later', inTurn(status(500), status(410)));
    const { id, webhooks, webhook, delivery } = await failedOnce('gone-later');
    await bursar.world.advance(minute);
    await eventually(delivery, (shown) => shown.status === 'dead');
    expect(await webhooks.getWebhook({ params: { id: webhook.id } })).toMatchObject({ status: 'disabled' });
    await eventually(
      () => runStatus(id),
      (name) => name === 'COMPLETED',
    );
  });

  test('an operator reads what a run waits for, and no address and no secret', async () => {
    bursar.receiver.answers('read', status(500));
    const { id, ownerId, webhook } = await failedOnce('read');
    const client = await bursar.infrastructure.temporal.client();
    const handle = client.workflow.getHandle(`webhook-delivery/${id}`);
    const waiting =
      /Waiting until \S+Z of business time for attempt 2 of 5\. policy\.created to wh_[0-9a-z]+; last: HTTP 500\./;
    const details = async () => JSON.stringify(await handle.query('__temporal_workflow_metadata'));
    await eventually(details, (text) => waiting.test(text));
    expect((await handle.describe()).searchAttributes).toMatchObject({
      BursarOwnerId: [ownerId],
      BursarSubjectId: [id],
    });
    const history = JSON.stringify(await handle.fetchHistory());
    expect(history).not.toContain(webhook.secret);
    expect(history).not.toContain(bursar.receiver.origin);
  });
});

describe('brakes and losses', () => {
  test('deleting the subscription ends the run without another attempt', async () => {
    bursar.receiver.answers('removed', status(500));
    const { id, webhooks, webhook } = await failedOnce('removed');
    await webhooks.deleteWebhook({ params: { id: webhook.id } });
    await eventually(
      () => runStatus(id),
      (name) => name === 'COMPLETED',
    );
    expect(await stageOf(id)).toBe('dead-lettered');
    await bursar.world.advance(2 * hour);
    expect(attempted('removed')).toBe(1);
  });

  test('a run that was killed is started again by the next wake, and makes no attempt too many', async () => {
    bursar.receiver.answers('killed', inTurn(status(500), status(200)));
    const { id, delivery } = await failedOnce('killed');
    const client = await bursar.infrastructure.temporal.client();
    await client.workflow.getHandle(`webhook-delivery/${id}`).terminate('test');
    await bursar.world.advance(minute);
    await eventually(delivery, (shown) => shown.status === 'succeeded');
    expect(attempted('killed')).toBe(2);
  });

  test('a hundred wakes before time bring no attempt', async () => {
    bursar.receiver.answers('woken', status(500));
    const { id } = await failedOnce('woken');
    const client = await bursar.infrastructure.temporal.client();
    const handle = client.workflow.getHandle(`webhook-delivery/${id}`);
    await Promise.all(Array.from({ length: 100 }, (_, i) => handle.signal('wake', { anything: i })));
    await new Promise((done) => setTimeout(done, 500));
    expect(attempted('woken')).toBe(1);
    expect(await runStatus(id)).toBe('RUNNING');
  });
});

describe('the one claim', () => {
  const dueNow = (id: string) =>
    bursar.world.sql(`update webhook_deliveries set next_attempt_at = created_at where id = $1`, [id]);
  const claim = async (id: Id<'delivery'>, limits = claimLimits) => {
    const { database, clock } = bursar.infrastructure;
    const now = await clock.now();
    return database.write((tx) => claimRetry(tx, id, now, limits));
  };

  test('of many at once exactly one gets a retry, and nobody before it is due', async () => {
    bursar.receiver.answers('contended', status(500));
    const { id } = await failedOnce('contended');
    expect(await claim(id)).toBeUndefined();
    await dueNow(id);
    const claims = await Promise.all(Array.from({ length: 6 }, () => claim(id)));
    expect(claims.filter((claimed) => claimed !== undefined)).toHaveLength(1);
    expect(claims.find((claimed) => claimed !== undefined)).toMatchObject({ attempt: 2, fence: 2 });
    await giveBack(id);
  });

  test('a retry whose holder died is taken over once its lease has run out', async () => {
    bursar.receiver.answers('taken-over', status(500));
    const { id } = await failedOnce('taken-over');
    await dueNow(id);
    const first = await claim(id, { perReceiver: 100, leaseMs: 2_000 });
    expect(first).toMatchObject({ attempt: 2, fence: 2 });
    expect(await claim(id)).toBeUndefined();
    const second = await eventually(
      () => claim(id),
      (claimed) => claimed !== undefined,
    );
    expect(second).toMatchObject({ attempt: 2, fence: 3 });
    await giveBack(id);
  });

  test('a run goes on with a retry whose holder died', async () => {
    bursar.receiver.answers('died', inTurn(status(500), status(200)));
    const { id, delivery } = await failedOnce('died');
    await dueNow(id);
    expect(await claim(id, { perReceiver: 100, leaseMs: 300 })).toMatchObject({ attempt: 2, fence: 2 });
    await bursar.world.advance(minute);
    const done = await eventually(delivery, (shown) => shown.status === 'succeeded');
    expect(done).toMatchObject({ attempt: 2, responseStatus: 200 });
    expect(done.attempts.map(({ deliveryId }) => deliveryId)).toEqual([`${id}.1`, `${id}.3`]);
    await eventually(
      () => runStatus(id),
      (name) => name === 'COMPLETED',
    );
  });

  test('a run ends a retry whose holder died when its subscription was deleted meanwhile', async () => {
    bursar.receiver.answers('died-deleted', status(500));
    const { id, webhooks, webhook } = await failedOnce('died-deleted');
    await dueNow(id);
    expect(await claim(id, { perReceiver: 100, leaseMs: 300 })).toBeDefined();
    await webhooks.deleteWebhook({ params: { id: webhook.id } });
    await bursar.world.advance(minute);
    await eventually(
      () => runStatus(id),
      (name) => name === 'COMPLETED',
    );
    expect(await whole(id)).toMatchObject({
      status: 'dead',
      lost_reason: 'the subscription was deleted',
      lease_until: null,
    });
    expect(attempted('died-deleted')).toBe(1);
    expect(await openProcesses(id)).toBe(0);
  });

  test('a retry finds no place while the receiver has all it may have', async () => {
    bursar.receiver.answers('full', inTurn(status(500), after(400)));
    const { id, ownerId } = await failedOnce('full');
    await bursar.emit(ownerId, 3);
    await reaches('full', 4);
    await dueNow(id);
    expect(await claim(id, { perReceiver: 3, leaseMs: 1_000 })).toBeUndefined();
    expect(await claim(id, { perReceiver: 4, leaseMs: 1_000 })).toMatchObject({ fence: 2 });
    await giveBack(id);
  });

  /** So that the run, which waits for the clock, is not disturbed by what a test did to its row. */
  const giveBack = (id: string) =>
    bursar.world.sql(
      `update webhook_deliveries set status = 'pending', lease_until = null, next_attempt_at = now() + interval '400 days' where id = $1`,
      [id],
    );
});

const whole = async (id: string) =>
  (await bursar.world.sql('select status, lost_reason, lease_until from webhook_deliveries where id = $1', [id]))[0];

const openProcesses = async (id: string): Promise<number> => {
  const [row] = await bursar.world.sql<{ count: string }>(
    'select count(*) from processes where is_open and subject_id = $1',
    [id],
  );
  return Number(row?.count);
};
