/**
 * Which URLs of callers are taken: a sandbox names the setting that allows the developer's own machine, live does not;
 * a deployment that delivers over https only refuses http at creation and at delivery.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { webhooksArea } from '../../../src/domains/delivery/webhooks/webhook.contract.ts';
import { createOutbound } from '../../../src/outbound/outbound.ts';
import { type DeliveryWorld, startDeliveryWorld } from '../../support/delivery-world.ts';
import { recordsOf } from '../../support/factories/records.ts';
import { eventually, type Owner, startWorld, type World } from '../../support/world.ts';

const refusal = async (owner: Owner, world: World, path: string, body: object) => {
  const answer = await fetch(`${world.apiUrl}${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${owner.key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: answer.status, error: ((await answer.json()) as { error: string }).error };
};
const subscribe = async (world: World, url: string) =>
  refusal(await world.owner(), world, '/webhooks', { url, events: ['*'] });

describe('a sandbox', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ worker: true });
  });
  afterAll(() => world.close());

  test.each([
    ['http://localhost:3000/hook', 'http://localhost:3000'],
    ['http://127.0.0.1:9999/hook?secret=1', 'http://127.0.0.1:9999'],
    ['https://192.168.1.20/hook', 'https://192.168.1.20'],
    ['http://my-laptop:4000/', 'http://my-laptop:4000'],
    ['http://[::1]:4000/', 'http://[::1]:4000'],
    ['http://host.docker.internal:3000/hook', 'http://host.docker.internal:3000'],
    ['http://my-laptop.local:3000/hook', 'http://my-laptop.local:3000'],
    ['http://my-laptop.local.:3000/hook', 'http://my-laptop.local.:3000'],
  ])('a webhook to %s is refused with the setting that allows it', async (url, origin) => {
    const { status, error } = await subscribe(world, url);
    expect(status).toBe(400);
    expect(error).toMatch(/^body\.url: .*; to allow it in this sandbox, start Bursar with BURSAR_ALLOWED_ORIGINS=/);
    expect(error.endsWith(`BURSAR_ALLOWED_ORIGINS=${origin}`)).toBe(true);
  });

  test.each(['http://169.254.169.254/latest/meta-data', 'http://metadata.google.internal/', 'https://x.example:25/'])(
    'a webhook to %s is refused without it',
    async (url) => {
      const { status, error } = await subscribe(world, url);
      expect([status, error]).toEqual([400, expect.not.stringContaining('BURSAR_ALLOWED_ORIGINS')]);
    },
  );

  test('so is the target of an execute', async () => {
    const owner = await world.owner();
    const { intentId } = await recordsOf(world, owner);
    const body = { intentId, targetUrl: 'http://localhost:3000/shop' };
    const { status, error } = await refusal(owner, world, '/checkout/execute', body);
    expect([status, error]).toEqual([400, expect.stringContaining('BURSAR_ALLOWED_ORIGINS=http://localhost:3000')]);
  });

  test('so is a delivery to a name that resolves to the own network', async () => {
    const resolve = async () => [{ address: '192.168.1.20', family: 4 }];
    const outbound = createOutbound({ allowedOrigins: [], namesAllowedOrigins: true, resolve });
    const sent = outbound.request('http://dev.example:3000/', { method: 'GET', timeoutMs: 30_000, maxBytes: 1 });
    await expect(sent).rejects.toThrow(
      /resolves to 192\.168\.1\.20, which is private; .*BURSAR_ALLOWED_ORIGINS=http:\/\/dev\.example:3000$/,
    );
    await outbound.close();
  });
});

test('live does not suggest to allow private addresses', async () => {
  const world = await startWorld({ env: { BURSAR_MODE: 'live', BURSAR_ALLOW_SIMULATED: 'true' } });
  try {
    const { status, error } = await subscribe(world, 'http://localhost:3000/hook');
    expect([status, error]).toEqual([400, 'body.url: localhost is this machine; use a public address']);
  } finally {
    await world.close();
  }
});

describe('BURSAR_WEBHOOKS_HTTPS_ONLY=on', () => {
  let bursar: DeliveryWorld;
  beforeAll(async () => {
    bursar = await startDeliveryWorld();
  });
  afterAll(() => bursar.close());

  test('an http webhook is 400, an allowed origin included, and https is taken', async () => {
    const env = { BURSAR_WEBHOOKS_HTTPS_ONLY: 'on', BURSAR_ALLOWED_ORIGINS: 'http://127.0.0.1:9999' };
    const world = await startWorld({ env });
    try {
      for (const url of ['http://hooks.example.com/x', 'HTTP://hooks.example.com/x', 'http://127.0.0.1:9999/x']) {
        expect(await subscribe(world, url)).toEqual({
          status: 400,
          error:
            "body.url: the URL's scheme is http, and this deployment delivers over https only (BURSAR_WEBHOOKS_HTTPS_ONLY=on)",
        });
      }
      expect((await subscribe(world, 'https://hooks.example.com/x')).status).toBe(201);
    } finally {
      await world.close();
    }
  });

  test('a subscription from before is not delivered to, and its deliveries say why', async () => {
    const owner = await bursar.world.owner();
    const webhooks = owner.client(webhooksArea);
    const body = { url: bursar.receiver.urlOf('old-http'), events: ['policy.created'] };
    const { id } = await webhooks.createWebhook({ body });
    await bursar.relay({ httpsOnly: true });
    await bursar.emit(owner.ownerId);
    const failed = await eventually(
      async () => (await webhooks.listWebhookDeliveries({ params: { id }, query: {} })).data[0],
      (delivery) => delivery?.error != null,
    );
    const whole = await webhooks.getWebhookDelivery({ params: { deliveryId: failed?.id ?? '' } });
    expect(JSON.stringify(whole)).toContain('this deployment delivers over https only (BURSAR_WEBHOOKS_HTTPS_ONLY=on)');
    expect(whole.status).not.toBe('succeeded');
    expect(bursar.receiver.received('old-http')).toEqual([]);
  });
});
