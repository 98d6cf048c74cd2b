/**
 * Goal: each plan's webhook tier is what the specification's table says. Method: one table of the four plans, a receiver
 * that always refuses, the real worker, and the clock moved gap by gap; then what an owner and an operator see.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { endpointWorkflowId } from '../../../src/domains/delivery/webhooks/endpoint.messages.ts';
import { customersArea } from '../../../src/domains/parties/customers/customer.contract.ts';
import { day, hour, minute, second } from '../../../src/kernel/instant.ts';
import { type DeliveryWorld, startDeliveryWorld } from '../../support/delivery-world.ts';
import { inTurn, status } from '../../support/receiver.ts';
import { eventually } from '../../support/world.ts';

let bursar: DeliveryWorld;
beforeAll(async () => {
  bursar = await startDeliveryWorld({ retries: true });
});
afterAll(() => bursar.close());

type Plan = 'free' | 'starter' | 'business' | 'enterprise';

const subscribed = async (plan: Plan, box: string) => {
  const subscriber = await bursar.subscriber();
  const customers = bursar.world.as(subscriber.key).client(customersArea);
  const changePlan = async (to: Plan) => {
    const { id } = await customers.getOwnCustomer({});
    await customers.updateCustomer({ params: { id }, body: { plan: to } });
  };
  await changePlan(plan);
  const webhook = await subscriber.webhooks.createWebhook({
    body: { url: bursar.receiver.urlOf(box), events: ['policy.created'] },
  });
  const params = { id: webhook.id };
  const listed = async (filter: { status?: 'failed' | 'dead' | 'succeeded' | 'pending' } = {}) =>
    (await subscriber.webhooks.listWebhookDeliveries({ params, query: filter })).data;
  const newest = async () => (await listed())[0];
  const whole = async (id: string) =>
    subscriber.webhooks.getWebhookDelivery({ params: { deliveryId: id as `whd_${string}` } });
  return { ...subscriber, webhookId: webhook.id, changePlan, listed, newest, whole };
};

const attempted = (box: string): number => bursar.receiver.received(box).length;

const runOf = async (webhookId: string): Promise<{ status: string; stage: unknown } | undefined> => {
  const client = await bursar.infrastructure.temporal.client();
  const found = await client.workflow
    .getHandle(endpointWorkflowId(webhookId))
    .describe()
    .catch(() => undefined);
  return found && { status: found.status.name, stage: found.searchAttributes.BursarStage?.[0] };
};

const none: readonly number[] = [];
const fourGaps = [minute, 5 * minute, 15 * minute, hour];

describe.each([
  { plan: 'free', tier: 'basic', gaps: none, end: 'failed' },
  { plan: 'starter', tier: 'full', gaps: none, end: 'failed' },
  { plan: 'business', tier: 'full_retry', gaps: fourGaps, end: 'failed' },
  { plan: 'enterprise', tier: 'full_dlq', gaps: fourGaps, end: 'dead' },
] as const)('$plan has $tier', ({ plan, gaps, end }) => {
  const most = gaps.length + 1;

  // spec: limit:Webhook attempts:1 (basic full) 5 (full_retry full_dlq)
  // spec: tier:full_retry:backoff 1 minute 5 minutes 15 minutes 1 hour 4 hours
  // spec: tier:full_dlq:dead-letter yes
  test(`${most} attempt${most === 1 ? '' : 's'}, then ${end}`, async () => {
    const box = `tier-${plan}`;
    bursar.receiver.answers(box, status(500, { body: 'no room' }));
    const owner = await subscribed(plan, box);
    await bursar.emit(owner.ownerId);
    const first = await eventually(owner.newest, (shown) => shown?.attempt === 1);
    const id = first?.id ?? '';
    for (const [index, gap] of gaps.entries()) {
      const shown = await owner.newest();
      expect(shown).toMatchObject({ status: 'pending', attempt: index + 1, maxAttempts: 5, deliveredAt: null });
      const last = (await owner.whole(id)).attempts.at(-1);
      const failedAt = Date.parse(last?.at ?? '') + (last?.responseMs ?? 0);
      expect(Date.parse(shown?.nextAttemptAt ?? '') - failedAt).toBe(gap);
      await eventually(
        () => runOf(owner.webhookId),
        (run) => run?.stage === 'retrying',
      );
      await bursar.world.advance(gap);
      await eventually(owner.newest, (now) => now?.attempt === index + 2);
      // Not before it is due.
      const next = (await owner.whole(id)).attempts.at(-1);
      expect(Date.parse(next?.at ?? '')).toBeGreaterThanOrEqual(Date.parse(shown?.nextAttemptAt ?? ''));
    }

    expect(await owner.newest()).toMatchObject({
      id,
      event: 'policy.created',
      status: end,
      attempt: most,
      maxAttempts: most,
      nextAttemptAt: null,
      responseStatus: 500,
      responseMs: expect.any(Number),
      error: 'answered 500, not 2xx',
      deliveredAt: null,
    });
    const { attempts, payload } = await owner.whole(id);
    expect(attempts.map(({ attempt, deliveryId }) => [attempt, deliveryId])).toEqual(
      Array.from({ length: most }, (_, i) => [i + 1, `${id}.${i + 1}`]),
    );
    expect(attempts.at(-1)).toMatchObject({ responseStatus: 500, responseBody: 'no room' });
    expect(payload).toMatchObject({ event: 'policy.created', data: { id: 'po_00000000' } });

    // Dead letters differ from failed deliveries, and neither is tried again.
    expect((await owner.listed({ status: end })).map((shown) => shown.id)).toEqual([id]);
    expect(await owner.listed({ status: end === 'dead' ? 'failed' : 'dead' })).toEqual([]);
    if (gaps.length === 0) expect(await runOf(owner.webhookId)).toBeUndefined();
    else
      await eventually(
        () => runOf(owner.webhookId),
        (run) => run?.status === 'COMPLETED' && run.stage === 'dead_letters',
      );
    await bursar.world.advance(day);
    expect(attempted(box)).toBe(most);
  });

  test('a delivery that succeeds at once is final at once', async () => {
    const owner = await subscribed(plan, `well-${plan}`);
    await bursar.emit(owner.ownerId);
    const shown = await eventually(owner.newest, (now) => now?.status === 'succeeded');
    expect(shown).toMatchObject({
      attempt: 1,
      maxAttempts: most,
      responseStatus: 200,
      error: null,
      nextAttemptAt: null,
    });
    expect(Date.parse(shown?.deliveredAt ?? '')).toBeGreaterThanOrEqual(Date.parse(shown?.createdAt ?? ''));
  });
});

describe('a change of plan', () => {
  test('counts for later events; a delivery in progress keeps the tier of its event', async () => {
    bursar.receiver.answers('upgraded', inTurn(status(500)));
    const owner = await subscribed('free', 'upgraded');
    await bursar.emit(owner.ownerId);
    await eventually(owner.newest, (shown) => shown?.status === 'failed');
    await owner.changePlan('enterprise');
    await bursar.emit(owner.ownerId);
    const second_ = await eventually(owner.newest, (shown) => shown?.status === 'pending' && shown.attempt === 1);
    expect(second_?.maxAttempts).toBe(5);
    expect((await owner.listed({ status: 'failed' })).map(({ maxAttempts }) => maxAttempts)).toEqual([1]);

    await owner.changePlan('free');
    await bursar.world.advance(minute + second);
    const kept = await eventually(owner.newest, (shown) => shown?.attempt === 2);
    expect(kept).toMatchObject({ status: 'pending', maxAttempts: 5 });
    await bursar.emit(owner.ownerId);
    expect(await eventually(owner.newest, (shown) => shown?.status === 'failed')).toMatchObject({ maxAttempts: 1 });
  });
});
