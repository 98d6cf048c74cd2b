/**
 * Goal: a worker that is killed in the middle of retries loses no delivery and none is sent beside its holder's lease.
 * Method: a real installation, a receiver that hangs while the worker dies, and what arrives after its restart.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { webhooksArea } from '../../src/domains/delivery/webhooks/webhook.contract.ts';
import { policiesArea } from '../../src/domains/spending/policies/policy.contract.ts';
import { minute, second } from '../../src/kernel/instant.ts';
import { type Installation, startInstallation } from '../support/installation.ts';
import { hanging, type Receiver, startReceiver, status } from '../support/receiver.ts';
import { eventually } from '../support/world.ts';

const deliveries = 8;

let receiver: Receiver;
let site: Installation;
beforeAll(async () => {
  receiver = await startReceiver();
  site = await startInstallation({ BURSAR_ALLOWED_ORIGINS: receiver.origin });
}, 300_000);
afterAll(async () => {
  await site?.stop();
  await receiver.close();
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
  // Sent by the first worker, and once more by the next one; never before the lease of 45 s had run out.
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
