/** A sandbox on a free port against a fake Bursar, and the few calls that its tests repeat. @module */
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { createOutbound } from '../../src/outbound/outbound.ts';
import { type SandboxOptions, startSandbox } from '../../src/sandbox/sandbox.ts';
import { clockKey, FakeBursar, networkKey } from './fake-bursar.ts';

export type Answered = { status: number; body: Record<string, unknown> };

export async function startWorld(options: Partial<SandboxOptions> = {}) {
  const bursar = await new FakeBursar().start();
  const outbound = createOutbound({ allowedOrigins: [bursar.url] });
  const sandbox = await startSandbox(
    {
      databasePath: ':memory:',
      apiUrl: bursar.url,
      networkKey,
      clockKey,
      outbound,
      log: pino({ level: 'silent' }),
      decisionTimeoutMs: 30_000, // A busy machine answers late; the stand-in's own tests shorten it.
      pollMs: 20,
      clockPollMs: 20,
      ...options,
    },
    { host: '127.0.0.1', port: 0 },
  );
  return {
    bursar,
    ...callsTo(sandbox.url),
    async stop() {
      await sandbox.close();
      await outbound.close();
      await bursar.stop();
    },
  };
}
export type World = Awaited<ReturnType<typeof startWorld>>;

/** The calls of a client that knows nothing but the sandbox's address. */
export function callsTo(url: string) {
  let keys = 0;
  const newKey = (): string => `key-${++keys}-${Math.random().toString(36).slice(2)}`;

  const send = async (method: string, path: string, body?: unknown, key?: string): Promise<Answered> => {
    const headers = { 'Content-Type': 'application/json', ...(key === undefined ? {} : { 'Idempotency-Key': key }) };
    const response = await fetch(new URL(path, url), {
      method,
      headers,
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };

  const offer = async (shop: string, amountCents: number) => {
    const response = await fetch(new URL(`/shops/${shop}?amountCents=${amountCents}`, url), {
      headers: { Accept: 'application/vnd.bursar.checkout+json' },
    });
    return (await response.json()) as {
      orderId: string;
      payUrl: string;
      amountCents: number;
      merchant: { id: string };
    };
  };

  const issue = async (cardId = 'ca_00000001'): Promise<string> =>
    String((await send('POST', '/processor/cards', { cardId, usage: 'multi' }, newKey())).body.cardRef);

  const mint = async (
    cardRef: string,
    fields: { merchantId?: string; ceilingCents?: number; expiresInMs?: number } = {},
  ) => {
    const { merchantId = 'm_sandbox_shop', ceilingCents = 100_000, expiresInMs = 900_000 } = fields;
    const expiresAt = new Date(Date.now() + expiresInMs).toISOString();
    const answer = await send('POST', '/processor/tokens', { cardRef, merchantId, ceilingCents, expiresAt }, newKey());
    return String(answer.body.paymentToken);
  };

  const pay = (order: { orderId: string; payUrl: string }, paymentToken: string, key = newKey()) =>
    send('POST', order.payUrl, { orderId: order.orderId, paymentToken }, key);

  /** An offer at a shop and a fresh card's token that pays for it. */
  const ready = async (shop = 'sandbox-shop', amountCents = 1_250) => {
    const order = await offer(shop, amountCents);
    const cardRef = await issue();
    return { order, cardRef, token: await mint(cardRef, { merchantId: order.merchant.id }) };
  };

  return { url, send, offer, issue, mint, pay, ready, newKey };
}

/** Waits until it holds; fails with the last value when it does not within a minute. */
export async function eventually<T>(read: () => T | Promise<T>, holds: (value: T) => boolean): Promise<T> {
  const deadlineMs = performance.now() + 60_000;
  for (;;) {
    const value = await read();
    if (holds(value)) return value;
    if (performance.now() > deadlineMs) throw new Error(`still ${JSON.stringify(value)} after 60 s`);
    await sleep(10);
  }
}
