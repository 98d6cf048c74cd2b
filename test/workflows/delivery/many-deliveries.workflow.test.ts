/**
 * Goal: 20,000 failed deliveries of one subscription are one workflow run with a small history, and drain within
 * minutes; ending or releasing all of them is one quick statement. Method: rows as after a long outage, the real worker, a
 * real receiver; figures are printed.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type EndpointChange, endpointWorkflowId } from '../../../src/domains/delivery/webhooks/endpoint.messages.ts';
import type { Id } from '../../../src/kernel/ids.ts';
import { minute } from '../../../src/kernel/instant.ts';
import { readEndpoint } from '../../../src/usecases/delivery/read-endpoint.ts';
import { type DeliveryWorld, startDeliveryWorld } from '../../support/delivery-world.ts';
import { status } from '../../support/receiver.ts';
import { updateRun } from '../../support/update-run.ts';
import { businessNow, clockAt, eventually } from '../../support/world.ts';

const many = 20_000;
const failingAgain = 5_000;

let bursar: DeliveryWorld;
beforeAll(async () => {
  bursar = await startDeliveryWorld({ retries: true });
});
afterAll(() => bursar.close());

/** A subscription with `count` deliveries that failed once and are due in an hour of business time. */
const withWaiting = async (box: string, count: number) => {
  const owner = await bursar.subscriber();
  const { id } = await owner.webhooks.createWebhook({
    body: { url: bursar.receiver.urlOf(box), events: ['policy.created'] },
  });
  const now = await businessNow(bursar.world);
  const due = new Date(now.getTime() + 60 * minute);
  await bursar.world.sql(
    `with made as (
       insert into events (id, owner_id, subject_id, name, data, request_id, created_at)
       select new_time_ordered_id('evt'), $1, 'po_' || n, 'policy.deleted', jsonb_build_object('id', 'po_' || n), 'a-request', $2
       from generate_series(1, $3::int) n returning *)
     insert into webhook_deliveries (id, webhook_id, owner_id, event_id, event, plan, status, attempts_made, claims,
       next_attempt_at, attempts, created_at)
     select new_time_ordered_id('whd'), $4, $1, id, name, 'enterprise', 'pending', 1, 1, $5, '[{}]', $2 from made`,
    [owner.ownerId, now, count, id, due],
  );
  await bursar.world.sql(
    `insert into workflow_runs (id, workflow, subject_id, owner_id, stage, due_at, created_at)
     values ($1, 'webhookEndpoint', $2, $3, 'retrying', $4, $5)`,
    [endpointWorkflowId(id), id, owner.ownerId, due, now],
  );
  return { ...owner, webhookId: id as Id<'webhook'> };
};

const count = async (webhookId: string, condition: string): Promise<number> => {
  const [row] = await bursar.world.sql<{ count: number }>(
    `select count(*)::int as count from webhook_deliveries where webhook_id = $1 and ${condition}`,
    [webhookId],
  );
  return row?.count ?? 0;
};

const handleOf = async (webhookId: string) => {
  const client = await bursar.infrastructure.temporal.client();
  return client.workflow.getHandle(endpointWorkflowId(webhookId));
};

const timed = async <T>(work: () => Promise<T>): Promise<[result: T, ms: number]> => {
  const startedAt = performance.now();
  const result = await work();
  return [result, Math.round(performance.now() - startedAt)];
};

/** A read that counts the same rows, beside a few other statements; on a busy machine both take longer. */
const atMostAsLongAs = (countMs: number): number => 20 * Math.max(countMs, 50);

const say = (figures: object): void => void process.stderr.write(`${JSON.stringify(figures)}\n`);

test(`${many} waiting deliveries: one run, a small history, and all of them arrive once`, async () => {
  const { webhookId } = await withWaiting('drained', many);
  const handle = await handleOf(webhookId);
  const details = async () =>
    handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata').then(
      ({ currentDetails }) => currentDetails ?? '',
      () => '',
    );
  await eventually(details, (text) => text.startsWith(`${many} deliveries to`));
  const memoryBefore = process.memoryUsage().rss;
  const [, ms] = await timed(async () => {
    // On a slow machine the step is repeated while its first attempt commits, and does not count the rows that this attempt
    // has locked.
    const { deliveries } = await updateRun<EndpointChange>(handle, 'retry-now', ['all']);
    expect([deliveries > 0, deliveries <= many]).toEqual([true, true]);
    await eventually(
      () => count(webhookId, `status = 'succeeded'`),
      (succeeded) => succeeded === many,
      240_000,
    );
  });
  await eventually(
    async () => (await handle.describe()).status.name,
    (name) => name === 'COMPLETED',
  );
  const { historyLength, historySize } = await handle.describe();
  const megabytes = Math.round((process.memoryUsage().rss - memoryBefore) / 2 ** 20);
  say({ deliveries: many, drainedMs: ms, historyLength, historySize, megabytesMore: megabytes });
  expect(historyLength).toBeLessThan(600);
  expect(historySize).toBeLessThan(400_000);
  const ids = bursar.receiver.received('drained').map(({ headers }) => headers['webhook-id']);
  expect(ids).toHaveLength(many);
  expect(new Set(ids).size).toBe(many);
  const history = await handle.fetchHistory();
  const largest = Math.max(
    ...(history.events ?? []).map((event) => JSON.stringify(event.activityTaskCompletedEventAttributes ?? {}).length),
  );
  expect(largest).toBeLessThan(64 * 1_024);
}, 300_000);

test(`${failingAgain} that fail again are retried by one run, each with a separate schedule`, async () => {
  bursar.receiver.answers('fails-again', status(503));
  const { webhookId } = await withWaiting('fails-again', failingAgain);
  const handle = await handleOf(webhookId);
  await eventually(
    () =>
      handle.describe().then(
        () => true,
        () => false,
      ),
    (isThere) => isThere,
  );
  const [, ms] = await timed(async () => {
    await updateRun(handle, 'retry-now', ['all']);
    await eventually(
      () => count(webhookId, `status = 'pending' and attempts_made = 2`),
      (failed) => failed === failingAgain,
      240_000,
    );
  });
  const { historyLength, historySize } = await handle.describe();
  say({ failedAgain: failingAgain, ms, historyLength, historySize });
  expect(historyLength).toBeLessThan(600);
  // A signal: the run ends with it, and a busy server can lose the answer of an update that ends a run.
  const [, endedMs] = await timed(async () => {
    await handle.signal('give-up', 'all');
    await eventually(
      () => count(webhookId, `status = 'dead' and lost_reason = 'given up by an operator'`),
      (dead) => dead === failingAgain,
    );
  });
  say({ givenUp: failingAgain, endedMs });
  await eventually(
    async () => (await handle.describe()).status.name,
    (name) => name === 'COMPLETED',
  );
}, 300_000);

test('reading 100,000 waiting deliveries is fast, and deleting the subscription ends them in one statement', async () => {
  const { webhookId, webhooks } = await withWaiting('deleted', 100_000);
  const clock = clockAt(await businessNow(bursar.world));
  const waiting = `status = 'pending' and attempts_made > 0`;
  // The best of three, because any of them may have waited for another process of the machine.
  const [looks, counts]: [number[], number[]] = [[], []];
  for (let n = 0; n < 3; n++) {
    const [, countMs] = await timed(() => count(webhookId, waiting));
    const [next, lookMs] = await timed(() =>
      readEndpoint({ ...bursar.infrastructure, clock, perReceiver: 100 })(webhookId),
    );
    expect(next.view.waiting).toBe(100_000);
    looks.push(lookMs);
    counts.push(countMs);
  }
  const [lookMs, countMs] = [Math.min(...looks), Math.min(...counts)];
  const [, deleteMs] = await timed(() => webhooks.deleteWebhook({ params: { id: webhookId } }));
  say({ waiting: 100_000, countMs, lookMs, deleteMs });
  expect(await count(webhookId, `status = 'dead' and lost_reason = 'the subscription was deleted'`)).toBe(100_000);
  expect(lookMs).toBeLessThan(atMostAsLongAs(countMs));
  const handle = await handleOf(webhookId);
  await eventually(
    async () => (await handle.describe()).status.name,
    (name) => name === 'COMPLETED',
  );
}, 120_000);
