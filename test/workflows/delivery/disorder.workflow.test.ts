/**
 * Goal: no delivery is lost, none is attempted twice under one claim, and each ends, however receivers, operators,
 * clock, workers and owners interfere. Method: six receivers that fail in six ways on the real dev server, with two
 * workers that are replaced, and with operators' messages and deletions meanwhile; then counts of receivers and tables.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { endpointWorkflowId } from '../../../src/domains/delivery/webhooks/endpoint.messages.ts';
import { minute } from '../../../src/kernel/instant.ts';
import { randomFrom } from '../../load/random.ts';
import { type DeliveryWorld, startDeliveryWorld } from '../../support/delivery-world.ts';
import { type Answer, after, hanging, status } from '../../support/receiver.ts';
import { seed } from '../../support/seed.ts';
import { eventually } from '../../support/world.ts';

let bursar: DeliveryWorld;
beforeAll(async () => {
  bursar = await startDeliveryWorld();
});
afterAll(() => bursar.close());

const random = randomFrom(seed);
const { chance } = random;
const behaviours: Readonly<Record<string, Answer>> = {
  good: status(200),
  slow: (response, n) => after(random.below(600))(response, n),
  flaky: (response, n) => status(chance(0.5) ? 500 : 200)(response, n),
  hanging: (response, n) => (chance(0.3) ? hanging : status(chance(0.5) ? 503 : 200))(response, n),
  redirecting: status(302, { headers: { location: 'http://127.0.0.1:1/' } }),
  leaving: (response, n) => status(n > 60 ? 410 : 500)(response, n),
};
const limits = { perReceiver: 20, leaseMs: 4_000 };
const events = 120;

test('while receivers fail, workers are replaced, operators and owners intervene and the clock moves, each delivery ends and none is made twice', async () => {
  const { world, receiver } = bursar;
  const { ownerId, webhooks } = await bursar.subscriber();
  const ids = new Map<string, string>();
  for (const [box, answer] of [...Object.entries(behaviours), ['deleted', status(500)] as const]) {
    receiver.answers(box, answer);
    const { id } = await webhooks.createWebhook({ body: { url: receiver.urlOf(box), events: ['policy.created'] } });
    ids.set(box, id);
  }
  const sending = { timeoutMs: 1_500, limits };
  const relays = [
    await bursar.relay({ timeoutMs: 1_500, ...limits, pollMs: 300 }),
    await bursar.relay({ timeoutMs: 1_500, ...limits, pollMs: 300 }),
  ];
  const workers = [await bursar.retryWorker(sending), await bursar.retryWorker(sending)];
  const client = await bursar.infrastructure.temporal.client();
  const handles = [...ids.values()].map((id) => client.workflow.getHandle(endpointWorkflowId(id)));
  const failures: string[] = [];
  const waiting = async (): Promise<string | undefined> =>
    (
      await world.sql<{ id: string }>(
        `select id from webhook_deliveries where status = 'pending' and attempts_made > 0 order by random() limit 1`,
      )
    )[0]?.id;
  let givenUp = 0;

  const operators = async (until: number): Promise<void> => {
    while (Date.now() < until) {
      const handle = random.pick(handles);
      const message = chance(0.85) ? 'retry-now' : 'give-up';
      const id = await waiting();
      const input = chance(0.5) && message === 'retry-now' ? [] : [{ delivery: id ?? 'whd_00000000' }];
      if (message === 'give-up') givenUp += 1;
      // A run that has ended accepts no signal.
      await handle.signal(message, ...input).catch(() => undefined);
      await sleep(random.below(150));
    }
  };
  const clock = async (until: number): Promise<void> => {
    while (Date.now() < until) {
      await world.advance((1 + random.below(5)) * minute).catch((error: unknown) => failures.push(String(error)));
      await sleep(700);
    }
  };
  const replacing = async (until: number): Promise<void> => {
    while (Date.now() < until) {
      await sleep(4_000);
      const at = chance(0.5) ? 0 : 1;
      const fresh = await bursar.retryWorker(sending);
      await workers[at]?.stop();
      workers[at] = fresh;
      await relays[at]?.stop();
      relays[at] = await bursar.relay({ timeoutMs: 1_500, ...limits, pollMs: 300 });
    }
  };
  const emitting = async (): Promise<void> => {
    for (let n = 0; n < events / 10; n++) {
      await bursar.emit(ownerId, 10);
      await sleep(500);
    }
    await webhooks.deleteWebhook({ params: { id: ids.get('deleted') as never } });
  };

  const until = Date.now() + 25_000;
  await Promise.all([emitting(), operators(until), operators(until), clock(until), replacing(until)]);
  const open = async (): Promise<number> => {
    await world.advance(5 * minute);
    const [row] = await world.sql<{ open: number }>(
      `select count(*)::int as open from webhook_deliveries where status in ('pending', 'delivering')`,
    );
    return row?.open ?? -1;
  };
  await eventually(open, (left) => left === 0, 90_000);
  await eventually(
    () =>
      world.sql(
        `select id, due_at, wanted_wake, waking_until from workflow_runs where id like 'webhook-endpoint/%' and (is_open or wanted_wake or waking_until is not null)`,
      ),
    (left) => left.length === 0,
  );
  const counts = await world.sql<{ box: string; status: string; count: number; most: number }>(
    `select regexp_replace(w.url, '^.*/', '') as box, d.status, count(*)::int as count, max(d.claims)::int as most
     from webhook_deliveries d join webhooks w on w.id = d.webhook_id group by 1, 2 order by 1, 2`,
  );
  const wrong = await world.sql(
    `select id, status, attempts_made, claims, attempts, success_status from webhook_deliveries
     where jsonb_array_length(attempts) + (success_status is not null)::int <> attempts_made or attempts_made > 5
       or claims < attempts_made
       or (status = 'succeeded') <> (delivered_at is not null) or (status = 'succeeded') <> (success_status is not null)`,
  );
  expect(wrong).toEqual([]);
  expect(failures).toEqual([]);
  const requests = [...ids.keys()].flatMap((box) =>
    receiver.received(box).map(({ headers }) => String(headers['x-service-delivery-id'])),
  );
  process.stderr.write(`${JSON.stringify({ counts, requests: requests.length, givenUp })}\n`);
  expect(new Set(requests).size).toBe(requests.length);
  for (const [box, id] of ids) {
    const total = counts.filter((row) => row.box === box).reduce((sum, { count }) => sum + count, 0);
    if (box !== 'deleted' && box !== 'leaving') expect(total).toBe(events);
    const succeeded = await world.sql<{ id: string }>(
      `select id from webhook_deliveries where webhook_id = $1 and status = 'succeeded'`,
      [id],
    );
    const arrived = new Set(receiver.received(box).map(({ headers }) => String(headers['webhook-id'])));
    expect(succeeded.filter((one) => !arrived.has(one.id))).toEqual([]);
  }
  // A row is closed by the last step of its run, so the run itself ends a moment later.
  const statesOf = () =>
    Promise.all(handles.map(async (handle) => (await handle.describe().catch(() => undefined))?.status.name));
  await eventually(statesOf, (states) => states.every((state) => state === undefined || state === 'COMPLETED'));
  expect(
    (await world.sql<{ status: string }>(`select status from webhooks where id = $1`, [ids.get('leaving')]))[0]?.status,
  ).toBe('disabled');
}, 240_000);
