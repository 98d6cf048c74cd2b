/**
 * Retries on the real dev server, moved by the business clock: one run per subscription, attempts at their gaps, dead
 * letters, an operator's messages, wakes, and runs that are lost and started again.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { claimRetries } from '../../../src/domains/delivery/webhooks/delivery.claim.service.ts';
import { endpointWorkflowId } from '../../../src/domains/delivery/webhooks/endpoint.messages.ts';
import type { Id } from '../../../src/kernel/ids.ts';
import { hour, minute, second } from '../../../src/kernel/instant.ts';
import { claimLimits } from '../../../src/relay/deliveries.ts';
import { endLeases } from '../../support/backlog.ts';
import { type DeliveryWorld, startDeliveryWorld } from '../../support/delivery-world.ts';
import { type Answer, heldBack, inTurn, status } from '../../support/receiver.ts';
import { updateRun } from '../../support/update-run.ts';
import { eventually } from '../../support/world.ts';

let bursar: DeliveryWorld;
beforeAll(async () => {
  bursar = await startDeliveryWorld({ retries: true });
});
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
  // The run has read its row, and waits for the clock.
  await eventually(
    () => detailsOf(webhook.id),
    (text) => text.includes('Next attempt at'),
  );
  expect(await stageOf(webhook.id)).toBe('retrying');
  return { ...owner, webhook, webhookId: webhook.id as Id<'webhook'>, id: first.id as Id<'delivery'>, delivery };
};

const handleOf = async (webhookId: string) => {
  const client = await bursar.infrastructure.temporal.client();
  return client.workflow.getHandle(endpointWorkflowId(webhookId));
};
const detailsOf = async (webhookId: string): Promise<string> => {
  const handle = await handleOf(webhookId);
  return handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata').then(
    ({ currentDetails }) => currentDetails ?? '',
    () => '',
  );
};
const description = async (webhookId: string) => (await handleOf(webhookId)).describe();
const stageOf = async (webhookId: string): Promise<string> => {
  try {
    return String((await description(webhookId)).searchAttributes.BursarStage?.[0]);
  } catch (_notStarted) {
    return 'not started'; // The relay starts it soon.
  }
};
const runStatus = async (webhookId: string): Promise<string> => (await description(webhookId)).status.name;

const attempted = (box: string) => bursar.receiver.received(box).length;
const reaches = (box: string, count: number) =>
  eventually(
    async () => attempted(box),
    (now) => now >= count,
  );

describe('retries', () => {
  test('a failed delivery is tried again after a minute of business time, and ends when it arrives', async () => {
    bursar.receiver.answers('once-down', inTurn(status(500), status(200)));
    const { id, webhookId, delivery } = await failedOnce('once-down');
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
      () => runStatus(webhookId),
      (name) => name === 'COMPLETED',
    );
    expect(await stageOf(webhookId)).toBe('ended');
    expect(await openWorkflowRuns(webhookId)).toBe(0);

    const [first, second_] = bursar.receiver.received('once-down');
    expect(second_?.body).toBe(first?.body);
    expect(second_?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(second_?.headers['x-service-delivery-id']).not.toBe(first?.headers['x-service-delivery-id']);
    expect(second_?.headers['x-service-signature']).not.toBe(first?.headers['x-service-signature']);
  });

  test('five attempts at 1, 5, 15 and 60 minutes, then a dead letter', async () => {
    bursar.receiver.answers('down', status(500));
    const { webhookId, delivery } = await failedOnce('down');
    const gaps = [minute, 5 * minute, 15 * minute, hour];
    for (const [index, gap] of gaps.entries()) {
      const before = await delivery();
      const last = before.attempts.at(-1);
      const failedAt = Date.parse(last?.at ?? '') + (last?.responseMs ?? 0);
      expect(Date.parse(before.nextAttemptAt ?? '') - failedAt).toBe(gap);
      await bursar.world.advance(gap);
      await eventually(delivery, ({ attempt }) => attempt === index + 2);
    }
    expect(await delivery()).toMatchObject({ status: 'dead', attempt: 5, maxAttempts: 5, nextAttemptAt: null });
    await eventually(
      () => runStatus(webhookId),
      (name) => name === 'COMPLETED',
    );
    expect(await stageOf(webhookId)).toBe('dead_letters');
    await bursar.world.advance(10 * hour);
    expect(attempted('down')).toBe(5);
  });

  test('a dead letter that was dismissed, and one that was delivered again, are no loss when the next run ends', async () => {
    bursar.receiver.answers('mended', inTurn(status(500), status(500), status(200), status(500), status(200)));
    const { webhookId, id, ownerId, webhooks } = await failedOnce('mended');
    await bursar.emit(ownerId);
    await eventually(
      async () => (await webhooks.listWebhookDeliveries({ params: { id: webhookId } })).data,
      (all) => all.length === 2 && all.every(({ status: of, attempt }) => of === 'pending' && attempt === 1),
    );
    await (await handleOf(webhookId)).signal('give-up', 'all');
    await eventually(
      () => stageOf(webhookId),
      (stage) => stage === 'dead_letters',
    );
    await webhooks.deleteDeadLetter({ params: { deliveryId: id } });
    const other = (await webhooks.listDeadLetters({})).data.map((letter) => letter.id as Id<'delivery'>);
    await webhooks.redeliverWebhookDelivery({ params: { deliveryId: other[0]! } });
    await reaches('mended', 3);
    await bursar.emit(ownerId);
    await eventually(
      () => stageOf(webhookId),
      (stage) => stage === 'retrying',
    );
    await bursar.world.advance(minute + second);
    await reaches('mended', 5);
    await eventually(
      () => runStatus(webhookId),
      (name) => name === 'COMPLETED',
    );
    expect(await stageOf(webhookId)).toBe('ended');
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
    const { webhookId, webhooks, webhook, delivery } = await failedOnce('gone-later');
    await bursar.world.advance(minute);
    await eventually(delivery, (shown) => shown.status === 'dead');
    expect(await webhooks.getWebhook({ params: { id: webhook.id } })).toMatchObject({ status: 'disabled' });
    await eventually(
      () => runStatus(webhookId),
      (name) => name === 'COMPLETED',
    );
  });

  test('the current details say what a run waits for, without an address or a secret', async () => {
    bursar.receiver.answers('read', status(500));
    const { webhookId, ownerId, webhook } = await failedOnce('read');
    const handle = await handleOf(webhookId);
    const waiting =
      /1 delivery to wh_[0-9a-z]+ waits, the oldest since \S+Z\. Last failure: HTTP 500\. Next attempt at \S+Z of business time\./;
    const details = async () => JSON.stringify(await handle.query('__temporal_workflow_metadata'));
    await eventually(details, (text) => waiting.test(text));
    expect((await handle.describe()).searchAttributes).toMatchObject({
      BursarOwnerId: [ownerId],
      BursarSubjectId: [webhookId],
    });
    const history = JSON.stringify(await handle.fetchHistory());
    expect(history).not.toContain(webhook.secret);
    expect(history).not.toContain(bursar.receiver.origin);
  });
});

describe('revoking commands and losses', () => {
  test('deleting the subscription ends the run without another attempt', async () => {
    bursar.receiver.answers('removed', status(500));
    const { webhookId, webhooks, webhook } = await failedOnce('removed');
    await webhooks.deleteWebhook({ params: { id: webhook.id } });
    await eventually(
      () => runStatus(webhookId),
      (name) => name === 'COMPLETED',
    );
    expect(await stageOf(webhookId)).toBe('ended');
    await bursar.world.advance(2 * hour);
    expect(attempted('removed')).toBe(1);
  });

  test('a run that was killed is started again by the next wake, and makes no attempt twice', async () => {
    bursar.receiver.answers('killed', inTurn(status(500), status(200)));
    const { webhookId, delivery } = await failedOnce('killed');
    await (await handleOf(webhookId)).terminate('test');
    await bursar.world.advance(minute);
    await eventually(delivery, (shown) => shown.status === 'succeeded');
    expect(attempted('killed')).toBe(2);
  });

  test('a hundred wakes before the due time cause no attempt', async () => {
    bursar.receiver.answers('woken', status(500));
    const { webhookId } = await failedOnce('woken');
    const handle = await handleOf(webhookId);
    await Promise.all(Array.from({ length: 100 }, (_, i) => handle.signal('wake', { anything: i })));
    await new Promise((done) => setTimeout(done, 500));
    expect(attempted('woken')).toBe(1);
    expect(await runStatus(webhookId)).toBe('RUNNING');
  });
});

describe("an operator's messages", () => {
  /** Three deliveries that failed once; the receiver goes on with `then`. */
  const threeFailed = async (box: string, then: Answer) => {
    bursar.receiver.answers(box, (response, n) => (n <= 3 ? status(500) : then)(response, n));
    const owner = await bursar.subscriber();
    const { id: webhookId } = await owner.webhooks.createWebhook({
      body: { url: bursar.receiver.urlOf(box), events: ['policy.created'] },
    });
    await bursar.emit(owner.ownerId, 3);
    const all = async () => (await owner.webhooks.listWebhookDeliveries({ params: { id: webhookId } })).data;
    await eventually(all, (shown) => shown.length === 3 && shown.every(({ attempt }) => attempt === 1));
    await eventually(
      () => detailsOf(webhookId),
      (text) => text.startsWith(`3 deliveries to ${webhookId} wait`),
    );
    return { ...owner, webhookId: webhookId as Id<'webhook'>, all, handle: await handleOf(webhookId) };
  };
  const refusalOf = (asked: Promise<unknown>): Promise<string> =>
    asked.then(
      () => 'not refused',
      (error: Error) => (error.cause instanceof Error ? error.cause.message : error.message),
    );

  test('retry-now attempts one delivery at once, then all; the attempts count as usual', async () => {
    const { all, handle, webhookId } = await threeFailed('asked', status(200));
    const [newest] = await all();
    expect(await updateRun(handle, 'retry-now', [{ delivery: newest?.id }])).toEqual({ deliveries: 1 });
    await eventually(all, (shown) => shown.filter((one) => one.status === 'succeeded').length === 1);
    expect(attempted('asked')).toBe(4);
    expect((await all()).map(({ status, attempt }) => [status, attempt])).toEqual([
      ['succeeded', 2],
      ['pending', 1],
      ['pending', 1],
    ]);
    await handle.signal('retry-now');
    await eventually(all, (shown) => shown.every((one) => one.status === 'succeeded' && one.attempt === 2));
    await eventually(
      () => runStatus(webhookId),
      (name) => name === 'COMPLETED',
    );
    expect(await detailsOf(webhookId)).toContain('- retry-now: 2 deliveries');
  });

  test('give-up ends one delivery, then all, and records the operator', async () => {
    const { all, handle, webhookId, webhooks } = await threeFailed('given-up', status(500));
    const [newest] = await all();
    expect(await updateRun(handle, 'give-up', [{ delivery: newest?.id }])).toEqual({ deliveries: 1 });
    expect((await all()).map(({ status: of }) => of)).toEqual(['dead', 'pending', 'pending']);
    await handle.signal('give-up', 'all'); // The run ends with it, and the answer of an update could be lost.
    for (const shown of await eventually(all, (now) => now.every((one) => one.status === 'dead'))) {
      expect(shown).toMatchObject({
        status: 'dead',
        attempt: 1,
        error: 'given up by an operator',
        nextAttemptAt: null,
      });
      const whole = await webhooks.getWebhookDelivery({ params: { deliveryId: shown.id } });
      expect(whole.attempts).toHaveLength(1);
    }
    await eventually(
      () => runStatus(webhookId),
      (name) => name === 'COMPLETED',
    );
    expect(await detailsOf(webhookId)).toContain('- give-up: 2 deliveries');
    expect(await openWorkflowRuns(webhookId)).toBe(0);
    await bursar.world.advance(2 * hour);
    expect(attempted('given-up')).toBe(3);
  });

  test('input that names no waiting delivery changes nothing, is refused as an update and noted as a signal', async () => {
    const { all, handle, webhookId } = await threeFailed('nonsense', status(500));
    const other = 'whd_01kaftm3w0e6r8t9y0b1c2d3e4';
    const ignored = /^give-up was ignored: send \{"delivery":"whd_…"\} for one delivery, or "all" or nothing for all$/;
    expect(await refusalOf(updateRun(handle, 'give-up', [{ delivrey: other }]))).toMatch(ignored);
    expect(await refusalOf(updateRun(handle, 'give-up', [{ delivery: other }]))).toBe(
      `${other} does not wait for another attempt here`,
    );
    await handle.signal('give-up', { delivery: other });
    await handle.signal('retry-now', 'x'.repeat(500));
    for (let i = 0; i < 100; i++) {
      await handle.signal(i % 2 === 0 ? 'give-up' : 'retry-now', ...fc.sample(nonsense, 1));
    }
    const details = await eventually(
      () => detailsOf(webhookId),
      (text) => text.includes('was ignored'),
    );
    expect(details).toMatch(/^3 deliveries to wh_\w+ wait/);
    expect((await all()).map(({ status, attempt }) => [status, attempt])).toEqual([
      ['pending', 1],
      ['pending', 1],
      ['pending', 1],
    ]);
    expect(await runStatus(webhookId)).toBe('RUNNING');
    await handle.signal('give-up');
    await eventually(all, (shown) => shown.every((one) => one.status === 'dead'));
  });

  /** JSON that names no delivery; neither nothing nor "all", which mean all. */
  const nonsense = fc
    .jsonValue({ maxDepth: 4 })
    .filter((value) => value !== null && value !== 'all' && !JSON.stringify(value).includes('delivery'));
});

describe('the one claim', () => {
  const dueNow = (id: string) =>
    bursar.world.sql(`update webhook_deliveries set next_attempt_at = created_at where id = $1`, [id]);
  const claim = async (webhookId: Id<'webhook'>, limits = claimLimits) => {
    const { database, clock } = bursar.infrastructure;
    const now = await clock.now();
    const [claimed] = await database.write((tx) => claimRetries(tx, webhookId, now, 10, limits));
    return claimed;
  };

  test('of many concurrent claims exactly one gets a retry, and none before it is due', async () => {
    bursar.receiver.answers('contended', status(500));
    const { id, webhookId } = await failedOnce('contended');
    expect(await claim(webhookId)).toBeUndefined();
    await dueNow(id);
    const claims = await Promise.all(Array.from({ length: 6 }, () => claim(webhookId)));
    expect(claims.filter((claimed) => claimed !== undefined)).toHaveLength(1);
    expect(claims.find((claimed) => claimed !== undefined)).toMatchObject({ attempt: 2, claimCount: 2 });
    await giveBack(id);
  });

  test('a retry of a dead process is taken over after its lease has expired', async () => {
    bursar.receiver.answers('taken-over', status(500));
    const { id, webhookId } = await failedOnce('taken-over');
    await dueNow(id);
    expect(await claim(webhookId)).toMatchObject({ attempt: 2, claimCount: 2 });
    expect(await claim(webhookId)).toBeUndefined();
    await endLeases(bursar, webhookId);
    expect(await claim(webhookId)).toMatchObject({ attempt: 2, claimCount: 3 });
    await giveBack(id);
  });

  test('a run continues a retry of a dead process', async () => {
    bursar.receiver.answers('died', inTurn(status(500), status(200)));
    const { id, webhookId, delivery } = await failedOnce('died');
    await dueNow(id);
    expect(await claim(webhookId, { perReceiver: 100, leaseMs: 300 })).toMatchObject({ attempt: 2, claimCount: 2 });
    await bursar.world.advance(minute);
    const done = await eventually(delivery, (shown) => shown.status === 'succeeded');
    expect(done).toMatchObject({ attempt: 2, responseStatus: 200 });
    expect(done.attempts.map(({ deliveryId }) => deliveryId)).toEqual([`${id}.1`, `${id}.3`]);
    await eventually(
      () => runStatus(webhookId),
      (name) => name === 'COMPLETED',
    );
  });

  test('a run ends a retry of a dead process when its subscription was deleted meanwhile', async () => {
    bursar.receiver.answers('died-deleted', status(500));
    const { id, webhookId, webhooks, webhook } = await failedOnce('died-deleted');
    await dueNow(id);
    expect(await claim(webhookId, { perReceiver: 100, leaseMs: 300 })).toBeDefined();
    await webhooks.deleteWebhook({ params: { id: webhook.id } });
    await bursar.world.advance(minute);
    await eventually(
      () => runStatus(webhookId),
      (name) => name === 'COMPLETED',
    );
    expect(await whole(id)).toMatchObject({
      status: 'dead',
      lost_reason: 'the subscription was deleted',
    });
    expect(attempted('died-deleted')).toBe(1);
    expect(await openWorkflowRuns(webhookId)).toBe(0);
  });

  test('a retry finds no place while the receiver has all it may have', async () => {
    const { answer, release } = heldBack();
    bursar.receiver.answers('full', inTurn(status(500), answer));
    const { id, webhookId, ownerId } = await failedOnce('full');
    await bursar.emit(ownerId, 3);
    await reaches('full', 4);
    await dueNow(id);
    expect(await claim(webhookId, { ...claimLimits, perReceiver: 3 })).toBeUndefined();
    expect(await claim(webhookId, { ...claimLimits, perReceiver: 4 })).toMatchObject({ claimCount: 2 });
    release();
    await giveBack(id);
  });

  /** Keeps the run, which waits for the clock, from acting on what a test did to its row. */
  const giveBack = async (id: string) => {
    await bursar.world.sql(
      `update webhook_deliveries set next_attempt_at = now() + interval '400 days' where id = $1`,
      [id],
    );
    await bursar.world.sql(
      `delete from delivery_claims c using webhook_deliveries d
       where d.id = $1 and c.webhook_id = d.webhook_id and d.seq = any(c.seqs)`,
      [id],
    );
  };
});

const whole = async (id: string) =>
  (await bursar.world.sql('select status, lost_reason from webhook_deliveries where id = $1', [id]))[0];

const openWorkflowRuns = async (webhookId: string): Promise<number> => {
  const [row] = await bursar.world.sql<{ count: string }>(
    'select count(*) from workflow_runs where is_open and subject_id = $1',
    [webhookId],
  );
  return Number(row?.count);
};
