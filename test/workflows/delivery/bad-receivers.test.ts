/**
 * Goal: whatever a receiver does, its attempt ends within its limits and records why, and no redirect is followed. Method:
 * receivers on real sockets that misbehave, a relay with a short limit, and the recorded attempts.
 * @module
 */
import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { claimRetries } from '../../../src/domains/delivery/webhooks/delivery.claim.service.ts';
import { createSender } from '../../../src/domains/delivery/webhooks/delivery.send.service.ts';
import type { Id } from '../../../src/kernel/ids.ts';
import { day, later, minute } from '../../../src/kernel/instant.ts';
import { createOutbound } from '../../../src/outbound/outbound.ts';
import { claimLimits } from '../../../src/relay/deliveries.ts';
import { type DeliveryWorld, startDeliveryWorld } from '../../support/delivery-world.ts';
import { type Answer, status } from '../../support/receiver.ts';
import { businessNow, eventually } from '../../support/world.ts';

/** For receivers that never end; for the others the test waits as long as the machine needs. */
const timeoutMs = 5_000;

let bursar: DeliveryWorld;
beforeAll(async () => {
  bursar = await startDeliveryWorld();
});
afterEach(() => bursar.stopRelays());
afterAll(() => bursar.close());

const subscribed = async (url: string) => {
  const owner = await bursar.subscriber();
  const webhook = await owner.webhooks.createWebhook({ body: { url, events: ['policy.created'] } });
  return { ...owner, webhook, id: webhook.id as Id<'webhook'> };
};
type Subscribed = Awaited<ReturnType<typeof subscribed>>;

/** The only delivery, once it was attempted. */
const attempted = async ({ webhooks, id }: Subscribed) => {
  const [shown] = await eventually(
    async () => (await webhooks.listWebhookDeliveries({ params: { id } })).data,
    ([first]) => first?.attempt === 1,
  );
  return webhooks.getWebhookDelivery({ params: { deliveryId: shown?.id as Id<'delivery'> } });
};

const afterOne = async (box: string, answer: Answer, limitMs = minute) => {
  bursar.receiver.answers(box, answer);
  await bursar.stopRelays(); // The one before may have another limit.
  await bursar.relay({ timeoutMs: limitMs, leaseMs: 2 * minute });
  const owner = await subscribed(bursar.receiver.urlOf(box));
  await bursar.emit(owner.ownerId);
  return attempted(owner);
};

/** One part every 50 ms, until the connection is closed. */
const dripping = (response: ServerResponse, part: string): void => {
  const { socket } = response;
  const timer = setInterval(() => socket?.write(part), 50);
  socket?.once('close', () => clearInterval(timer));
};

describe('answers', () => {
  test('of any length are read up to 64 KiB, and the connection is closed', async () => {
    const part = Buffer.alloc(64 * 1_024, 'x');
    const closed = Promise.withResolvers<number>();
    const endless: Answer = (response) => {
      const { socket } = response;
      socket?.once('close', () => closed.resolve(socket.bytesWritten));
      response.writeHead(200, { 'content-length': String(2 ** 30) });
      const go = (): void => {
        if (response.destroyed) return;
        if (response.write(part)) setImmediate(go);
        else response.once('drain', go);
      };
      go();
    };
    const whole = await afterOne('gigabyte', endless);
    expect(whole).toMatchObject({ status: 'succeeded', responseStatus: 200 });
    // The bytes in the buffers of both sockets count as written.
    expect(await closed.promise).toBeLessThan(64 * 2 ** 20);
  });

  test('are asked for with that limit, which the buffers between do not let a receiver see', async () => {
    const limits: number[] = [];
    const { outbound } = bursar;
    const request: typeof outbound.request = (url, options) => {
      limits.push(options.maxBytes);
      return outbound.request(url, options);
    };
    const { vault } = bursar.infrastructure;
    bursar.receiver.answers('asked-for', status(200));
    await bursar.stopRelays();
    await bursar.relay({ send: createSender({ outbound: { ...outbound, request }, vault }) });
    const owner = await subscribed(bursar.receiver.urlOf('asked-for'));
    await bursar.emit(owner.ownerId);
    expect(await attempted(owner)).toMatchObject({ status: 'succeeded' });
    expect(limits).toEqual([65_536]);
  });

  test('that come one byte at a time end at the limit of the attempt', async () => {
    const inHead = await afterOne(
      'dripping-head',
      (response) => {
        response.socket?.write('HTTP/1.1 200 OK\r\nX-Long: ');
        dripping(response, 'x');
      },
      timeoutMs,
    );
    expect(inHead).toMatchObject({
      status: 'pending',
      error: expect.stringContaining('did not answer completely within 5 s'),
    });
    const inBody = await afterOne(
      'dripping-body',
      (response) => {
        response.socket?.write('HTTP/1.1 503 Busy\r\nContent-Length: 1000000\r\n\r\n');
        dripping(response, 'x');
      },
      timeoutMs,
    );
    expect(inBody).toMatchObject({ status: 'pending', responseStatus: 503 });
  });

  test('that break off are failures, with their status where it arrived', async () => {
    const cut = await afterOne('cut', (response) => void response.socket?.destroy());
    expect(cut).toMatchObject({ status: 'pending', error: expect.stringContaining('closed the connection') });
    const partly = await afterOne('cut-later', (response) => {
      response.writeHead(500, { 'content-length': '1000' });
      response.write('x', () => response.socket?.destroy());
    });
    expect(partly).toMatchObject({ status: 'pending', responseStatus: 500 });
  });

  test('that redirect are failures, and nothing is sent to the other address', async () => {
    for (const code of [301, 302, 303, 307, 308]) {
      const headers = { location: bursar.receiver.urlOf('elsewhere') };
      const whole = await afterOne(`moved-${code}`, status(code, { headers }));
      expect(whole).toMatchObject({ status: 'pending', error: `answered ${code}; redirects are not followed` });
    }
    expect(bursar.receiver.received('elsewhere')).toEqual([]);
  });
});

describe('429 with Retry-After', () => {
  const gapOf = async (box: string, value: () => string): Promise<number> => {
    const whole = await afterOne(box, (response, n) =>
      status(429, { headers: { 'retry-after': value() } })(response, n),
    );
    const [only] = whole.attempts;
    return Date.parse(whole.nextAttemptAt ?? '') - Date.parse(only?.at ?? '') - (only?.responseMs ?? 0);
  };

  test('a date makes the gap longer', async () => {
    const gap = await gapOf('later', () => new Date(Date.now() + 2 * 60 * minute).toUTCString());
    expect(gap).toBeGreaterThan(100 * minute);
    expect(gap).toBeLessThanOrEqual(121 * minute);
  });

  test.each([
    ['more seconds than a number holds', '9'.repeat(400), day],
    ['a year', '31536000', day],
    ['a date of the far future', 'Fri, 31 Dec 9999 23:59:59 GMT', day],
    ['nothing', '0', minute],
    ['a negative number', '-5', minute],
    ['a date that has passed', 'Thu, 01 Jan 1970 00:00:00 GMT', minute],
    ['a word', 'soon', minute],
  ])('%s', async (what, value, gap) => {
    expect(await gapOf(what.replaceAll(' ', '-'), () => value)).toBe(gap);
  });
});

describe('names', () => {
  const viaName = async (resolve: NonNullable<Parameters<typeof createOutbound>[0]['resolve']>) => {
    const outbound = createOutbound({ allowedOrigins: [], resolve });
    const { vault } = bursar.infrastructure;
    await bursar.relay({ send: createSender({ outbound, vault, timeoutMs: minute }) });
    const owner = await subscribed(`http://hooks.example.com:${new URL(bursar.receiver.origin).port}/by-name`);
    await bursar.emit(owner.ownerId);
    const whole = await attempted(owner);
    await outbound.close();
    return whole;
  };

  test('that do not resolve are failures', async () => {
    const missing = Object.assign(new Error('queryA ENOTFOUND'), { code: 'ENOTFOUND' });
    const whole = await viaName(() => Promise.reject(missing));
    expect(whole).toMatchObject({ status: 'pending', error: expect.stringContaining('does not resolve') });
  });

  test('that have moved to a private address since the subscription are not connected to', async () => {
    const whole = await viaName(async () => [{ address: '127.0.0.1', family: 4 }]);
    expect(whole).toMatchObject({
      status: 'pending',
      error: 'hooks.example.com resolves to 127.0.0.1, which is loopback',
    });
    expect(bursar.receiver.received('by-name')).toEqual([]);
  });
});

describe('changes of the subscription between two attempts', () => {
  const failedOnce = async (box: string) => {
    bursar.receiver.answers(box, status(500));
    const relay = await bursar.relay();
    const owner = await subscribed(bursar.receiver.urlOf(box));
    await bursar.emit(owner.ownerId);
    await attempted(owner);
    await relay.stop();
    return owner;
  };
  const claimAgain = async (id: Id<'webhook'>) => {
    const due = later(await businessNow(bursar.world), 2 * minute);
    return bursar.infrastructure.database.write((tx) => claimRetries(tx, id, due, 10, claimLimits));
  };

  test('a rotated secret signs the next attempt, beside the previous one', async () => {
    const owner = await failedOnce('rotated');
    const { secret } = await owner.webhooks.rotateWebhookSecret({ params: { id: owner.id }, body: {} });
    const [claimed] = await claimAgain(owner.id);
    if (claimed === undefined) throw new Error('nothing to attempt');
    const { vault } = bursar.infrastructure;
    await createSender({ outbound: bursar.outbound, vault })(claimed);
    const [, second] = bursar.receiver.received('rotated');
    for (const key of [secret, owner.webhook.secret]) {
      expect(new Webhook(key).verify(second?.body ?? '', second?.headers as Record<string, string>)).toMatchObject({
        event: 'policy.created',
      });
    }
  });

  test('nothing is claimed of a paused one until it is active, and nothing of a deleted one', async () => {
    const paused = await failedOnce('paused-between');
    const params = { id: paused.id };
    await paused.webhooks.updateWebhook({ params, body: { status: 'paused' } });
    expect(await claimAgain(paused.id)).toEqual([]);
    await paused.webhooks.updateWebhook({ params, body: { status: 'active' } });
    expect(await claimAgain(paused.id)).toHaveLength(1);
    const deleted = await failedOnce('deleted-between');
    await deleted.webhooks.deleteWebhook({ params: { id: deleted.id } });
    expect(await claimAgain(deleted.id)).toEqual([]);
  });
});
