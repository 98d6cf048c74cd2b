/**
 * Goal: whoever closes or opens a subscription while another transaction acts on it, no delivery waits without a run that
 * attempts or ends it, and none of an open subscription is ended. Method: both transactions in PostgreSQL, in the order
 * that does harm; no worker runs.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Database } from '../../../src/db/database.ts';
import { runSql } from '../../../src/db/statement.ts';
import type { Tx } from '../../../src/db/tx.ts';
import {
  type Claimed,
  claimFirstAttempts,
  claimRetries,
} from '../../../src/domains/delivery/webhooks/delivery.claim.service.ts';
import { endRetriesOf, endWaitingOf } from '../../../src/domains/delivery/webhooks/delivery.end.service.ts';
import { lockHealth } from '../../../src/domains/delivery/webhooks/delivery.lease.service.ts';
import { recordResults } from '../../../src/domains/delivery/webhooks/delivery.result.service.ts';
import { endpointWorkflowId } from '../../../src/domains/delivery/webhooks/endpoint.messages.ts';
import { disableWebhook } from '../../../src/domains/delivery/webhooks/webhook.service.ts';
import type { Cause } from '../../../src/platform/cause.ts';
import { claimLimits } from '../../../src/relay/deliveries.ts';
import { claimInSteps } from '../../../src/relay/first-attempts.ts';
import { readEndpoint } from '../../../src/usecases/delivery/read-endpoint.ts';
import { addBacklog, countDeliveries, subscribedTo } from '../../support/backlog.ts';
import { deadlocksIn } from '../../support/deadlocks.ts';
import { type DeliveryWorld, startDeliveryWorld } from '../../support/delivery-world.ts';
import { overOrWaiting } from '../../support/lock-waits.ts';
import { businessNow, clockAt } from '../../support/world.ts';

let bursar: DeliveryWorld;
beforeAll(async () => {
  bursar = await startDeliveryWorld();
});
afterAll(() => bursar.close());

/** One first attempt for each status, claimed and answered, and not recorded yet. */
async function answeredBy(box: string, statuses: readonly number[]) {
  const owner = await subscribedTo(bursar, box);
  await bursar.emit(owner.ownerId, statuses.length);
  const { database } = bursar.infrastructure;
  const { claimed } = await database.write((tx) => claimFirstAttempts(tx, 100, claimLimits));
  const own = claimed.filter(({ webhookId }) => webhookId === owner.webhookId);
  expect(own).toHaveLength(statuses.length);
  const results = own.map((delivery, n) => ({
    claimed: delivery,
    attempted: { status: statuses[n] ?? null, timedOut: false, failure: null },
    tookMs: 1,
    retryAfterMs: 0,
    responseBody: null,
  }));
  return { owner, results };
}

test('results in order and the deletion of their subscription do not deadlock', async () => {
  const owner = await subscribedTo(bursar, 'ordered-deleted', true);
  await addBacklog(bursar, owner, { count: 400, subject: `'po_' || (n % 20)` });
  const { database } = bursar.infrastructure;
  const claimed: Claimed[] = [];
  // What stands behind another of its subject is parked first.
  while (claimed.length < 20) claimed.push(...(await claimInSteps(database, 1_000, claimLimits)).claimed);
  expect(await countDeliveries(bursar, owner.webhookId, 'is_parked')).toBeGreaterThan(300);
  const before = await deadlocksIn(bursar.world);
  const now = await businessNow(bursar.world);
  const results = claimed.map((delivery) => ({
    claimed: delivery,
    attempted: { status: 500, timedOut: false, failure: null },
    tookMs: 1,
    retryAfterMs: 0,
    responseBody: null,
  }));
  let recording: Promise<string[]> | undefined;
  await database.write(async (tx) => {
    await lockHealth(tx, [owner.webhookId]);
    await runSql(tx, 'update webhooks set deleted_at = created_at, sealed_secret = null where id = $1', [
      owner.webhookId,
    ]);
    recording ??= database.write((other) => recordResults(other, results, now));
    await overOrWaiting(bursar.world, recording);
    await endWaitingOf(tx, [owner.webhookId], 'the subscription was deleted');
  });
  expect(await recording).toHaveLength(20);
  expect(await countDeliveries(bursar, owner.webhookId, `status = 'pending' or is_parked`)).toBe(0);
  expect(await deadlocksIn(bursar.world)).toBe(before);
});

test('a failure recorded while another transaction disables its subscription has a run, which ends it', async () => {
  const { owner, results } = await answeredBy('disabled-meanwhile', [500, 410]);
  const { webhookId } = owner;
  const { database } = bursar.infrastructure;
  const now = await businessNow(bursar.world);
  const cause: Cause = { causeId: 'a-test', requestId: 'a-test', actor: { kind: 'system' }, at: now };
  let recording: Promise<string[]> | undefined;
  await database.write(async (tx) => {
    await lockHealth(tx, [webhookId]);
    recording = database.write((other) => recordResults(other, results, now));
    await overOrWaiting(bursar.world, recording);
    expect(await disableWebhook(tx, webhookId, 'a test disables it', cause)).toBe(true);
  });
  expect(await recording).toHaveLength(2);
  // Of those that wait without an open run, nothing would come any more.
  const withoutRun = `status = 'pending' and not exists (
    select from workflow_runs r where r.id = '${endpointWorkflowId(webhookId)}' and r.is_open)`;
  expect(await countDeliveries(bursar, webhookId, withoutRun)).toBe(0);
  expect(await readEndpoint({ database, clock: clockAt(now), perReceiver: 100 })(webhookId)).toMatchObject({
    kind: 'final',
  });
  expect(await countDeliveries(bursar, webhookId, `status in ('pending', 'delivering')`)).toBe(0);
});

test('what waits of a subscription that was opened again after the run had read it as closed is not ended', async () => {
  const { owner, results } = await answeredBy('opened-meanwhile', [500]);
  const { webhookId } = owner;
  const { database } = bursar.infrastructure;
  const now = await businessNow(bursar.world);
  await database.write((tx) => recordResults(tx, results, now));
  await bursar.world.sql(`update webhooks set status = 'disabled' where id = $1`, [webhookId]);
  let opened = 0;
  const openedMeanwhile: Database = {
    ...database,
    write: async (work) => {
      if (opened++ === 0) {
        await bursar.world.sql(`update webhooks set status = 'active' where id = $1`, [webhookId]);
        await addBacklog(bursar, owner, { count: 1 });
      }
      return database.write(work);
    },
  };
  await readEndpoint({ database: openedMeanwhile, clock: clockAt(now), perReceiver: 100 })(webhookId);
  expect(opened).toBeGreaterThan(0);
  expect(await countDeliveries(bursar, webhookId, `status = 'pending'`)).toBe(2);
  // Closed still, it ends both.
  await bursar.world.sql(`update webhooks set status = 'disabled' where id = $1`, [webhookId]);
  await readEndpoint({ database, clock: clockAt(now), perReceiver: 100 })(webhookId);
  expect(await countDeliveries(bursar, webhookId, `status = 'dead'`)).toBe(2);
});

test.each(['closing', 'abandoning'] as const)(
  '%s leaves what another transaction claims meanwhile to its result',
  async (end) => {
    const owner = await subscribedTo(bursar, `claimed-beside-${end}`);
    const { webhookId } = owner;
    await addBacklog(bursar, owner, { count: 2, attempts: end === 'abandoning' ? 1 : 0 });
    const { database } = bursar.infrastructure;
    const now = await businessNow(bursar.world);
    const claim = async (tx: Tx) =>
      end === 'abandoning'
        ? claimRetries(tx, webhookId, now, 1, claimLimits)
        : (await claimFirstAttempts(tx, 1, claimLimits)).claimed;
    const ends = (tx: Tx) =>
      end === 'abandoning'
        ? endRetriesOf(tx, { webhookId, deliveryId: null }, 10, 'a test')
        : endWaitingOf(tx, [webhookId], 'a test');
    let ending: Promise<number> | undefined;
    const claimed = await database.write(async (tx) => {
      const own = await claim(tx);
      await bursar.world.sql(`update webhooks set status = 'disabled' where id = $1`, [webhookId]);
      ending = database.write(ends);
      await overOrWaiting(bursar.world, ending);
      return own;
    });
    expect(claimed).toHaveLength(1);
    expect(await ending).toBe(1);
    expect(await countDeliveries(bursar, webhookId, `status = 'pending' and id = '${claimed[0]?.id}'`)).toBe(1);
  },
);
