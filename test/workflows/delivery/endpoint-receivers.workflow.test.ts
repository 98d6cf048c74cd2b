/**
 * Goal: hanging receivers take no places of other receivers, waiting deliveries use up no attempt, and no delivery is sent
 * by two workers at once. Method: real receivers that hang, workers for retries alone with short timeouts, the real dev
 * server, and the requests that arrived.
 * @module
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { SendDelivery } from '../../../src/domains/delivery/webhooks/delivery.send.service.ts';
import { endpointWorkflowId } from '../../../src/domains/delivery/webhooks/endpoint.messages.ts';
import { minute, second } from '../../../src/kernel/instant.ts';
import { type DeliveryWorld, startDeliveryWorld } from '../../support/delivery-world.ts';
import { type Answer, after as answerAfter, hanging, inTurn, status } from '../../support/receiver.ts';
import { eventually } from '../../support/world.ts';

let bursar: DeliveryWorld;
beforeAll(async () => {
  bursar = await startDeliveryWorld();
});
afterEach(() => bursar.stopRelays());
afterAll(() => bursar.close());

/** Deliveries that failed once, `count` of them, at a receiver that then answers with `then`. */
const failedOnce = async (box: string, count: number, then: Answer) => {
  bursar.receiver.answers(box, (response, n) => (n <= count ? status(500)(response, n) : then(response, n - count)));
  const owner = await bursar.subscriber();
  const { id: webhookId } = await owner.webhooks.createWebhook({
    body: { url: bursar.receiver.urlOf(box), events: ['policy.created'] },
  });
  await bursar.emit(owner.ownerId, count);
  const relay = await bursar.relay();
  await eventually(
    () => standing(webhookId),
    ({ attempted }) => attempted === count,
  );
  await relay.stop();
  return { ...owner, webhookId };
};

/** Deliveries of a subscription, by their outcome. */
const standing = async (webhookId: string) => {
  const [row] = await bursar.world.sql<{ attempted: number; succeeded: number; most: number; dead: number }>(
    `select count(*) filter (where attempts_made > 0)::int as attempted,
       count(*) filter (where status = 'succeeded')::int as succeeded,
       count(*) filter (where status in ('failed', 'dead'))::int as dead, max(attempts_made)::int as most
     from webhook_deliveries where webhook_id = $1`,
    [webhookId],
  );
  if (row === undefined) throw new Error('no row');
  return row;
};

const runOf = async (webhookId: string) => {
  const client = await bursar.infrastructure.temporal.client();
  return client.workflow.getHandle(endpointWorkflowId(webhookId));
};
const endOf = (webhookId: string) =>
  eventually(
    async () => (await (await runOf(webhookId)).describe()).status.name,
    (name) => name === 'COMPLETED',
  );

const sequenceOf = async (webhookId: string): Promise<string[]> =>
  (
    await bursar.world.sql<{ id: string }>('select id from webhook_deliveries where webhook_id = $1 order by seq', [
      webhookId,
    ])
  ).map(({ id }) => id);

const idsAt = (box: string): string[] =>
  bursar.receiver.received(box).map(({ headers }) => String(headers['webhook-id']));

describe('probing', () => {
  test('after five timeouts in a row one request is sent at a time, the others keep their attempts, and a success releases them, oldest first', async () => {
    const [count, probes] = [30, 4];
    const then = inTurn(...Array.from({ length: 5 + probes }, () => hanging), answerAfter(20));
    const { webhookId } = await failedOnce('probed', count, then);
    await bursar.retryWorker({ timeoutMs: 2_000, patienceMs: 100, limits: { perReceiver: 5, leaseMs: 45_000 } });
    await bursar.world.advance(minute + second);
    const handle = await runOf(webhookId);
    await eventually(
      async () => JSON.stringify(await handle.query('__temporal_workflow_metadata')),
      (details) =>
        /After five attempts in a row without an answer the receiver gets one request at a time/.test(details),
    );
    expect((await handle.describe()).searchAttributes.BursarStage).toEqual(['probing']);
    // Five were sent together and used up one attempt each; then each probe was sent alone.
    await eventually(
      async () => idsAt('probed').length,
      (arrived) => arrived >= count + 5 + probes,
    );
    const open = bursar.receiver.received('probed').map(({ openAtOnce }) => openAtOnce);
    const alone = Array.from({ length: probes }, () => 1);
    expect(open.slice(count, count + 5 + probes)).toEqual([1, 2, 3, 4, 5, ...alone]);
    // The first answer releases the rest, which succeed at their first repeated attempt.
    await eventually(
      () => standing(webhookId),
      ({ succeeded }) => succeeded >= count - 5 - probes,
    );
    const attempts = await bursar.world.sql<{ attempts_made: number }>(
      'select attempts_made from webhook_deliveries where webhook_id = $1 order by seq',
      [webhookId],
    );
    const lost = attempts.map(({ attempts_made }) => attempts_made);
    expect(lost).toEqual(Array.from({ length: count }, () => 2));
    const sequence = await sequenceOf(webhookId);
    const released = idsAt('probed').slice(count + 5 + probes);
    expect(new Set(released).size).toBe(count - 5 - probes);
    released.forEach((id, index) => {
      const expected = sequence.indexOf(id) - (5 + probes);
      expect(Math.abs(expected - index)).toBeLessThanOrEqual(5); // Five go together.
    });
    // The deliveries that were sent as probes are due by their own schedule.
    await bursar.world.advance(5 * minute + second);
    await eventually(
      () => standing(webhookId),
      ({ succeeded }) => succeeded === count,
    );
    await endOf(webhookId);
  });
});

describe('several workers', () => {
  test('two processes never send one delivery concurrently, and each delivery arrives once', async () => {
    const count = 150;
    const { webhookId } = await failedOnce('shared', count, answerAfter(20));
    const sending = new Set<string>();
    const together: string[] = [];
    let sent = 0;
    const wrapSend =
      (send: SendDelivery): SendDelivery =>
      async (claimed) => {
        if (sending.has(claimed.id)) together.push(claimed.id);
        sending.add(claimed.id);
        sent += 1;
        try {
          return await send(claimed);
        } finally {
          sending.delete(claimed.id);
        }
      };
    await Promise.all([1, 2].map(() => bursar.retryWorker({ wrapSend, mostOfBatch: 10 })));
    await bursar.world.advance(minute + second);
    const handle = await runOf(webhookId);
    // A run that is lost leaves attempts under way, which its successor must not repeat.
    await eventually(
      async () => sent,
      (now) => now > 20,
    );
    await handle.terminate('test');
    await bursar.world.sql('update workflow_runs set started_epoch = null where id = $1', [
      endpointWorkflowId(webhookId),
    ]);
    await eventually(
      () => standing(webhookId),
      ({ succeeded }) => succeeded === count,
    );
    expect(together).toEqual([]);
    expect(sent).toBe(count);
    expect(bursar.receiver.mostAtOnce('shared')).toBeLessThanOrEqual(100);
    await endOf(webhookId);
  });

  test('together with first attempts they keep within the places of the receiver', async () => {
    const { webhookId, ownerId } = await failedOnce('places', 20, answerAfter(30));
    const limits = { perReceiver: 4, leaseMs: 45_000 };
    await bursar.retryWorker({ limits });
    await bursar.relay({ perReceiver: 4 });
    await bursar.emit(ownerId, 40);
    await bursar.world.advance(minute + second);
    await eventually(
      () => standing(webhookId),
      ({ succeeded }) => succeeded === 60,
    );
    expect(bursar.receiver.mostAtOnce('places')).toBeLessThanOrEqual(4);
    await endOf(webhookId);
  });
});

describe('hanging receivers', () => {
  test('a batch leaves attempts that hang after its patience, and their results wake the run', async () => {
    const { webhookId } = await failedOnce('left', 2, inTurn(hanging, status(200), status(200)));
    await bursar.retryWorker({ timeoutMs: 6_000, patienceMs: 500 });
    await bursar.world.advance(minute + second);
    const handle = await runOf(webhookId);
    const details = async () => JSON.stringify(await handle.query('__temporal_workflow_metadata'));
    await eventually(details, (text) => /1 under way to wh_\w+\..*Waiting for the results\./.test(text));
    const pending = (await handle.describe()).raw.pendingActivities ?? [];
    expect(pending).toEqual([]); // No slot is taken while it hangs.
    await eventually(details, (text) => /Last failure: no answer in time\. Next attempt at/.test(text));
    await bursar.world.advance(5 * minute + second);
    await endOf(webhookId);
    expect(await standing(webhookId)).toMatchObject({ succeeded: 2, most: 3 });
  });
});
