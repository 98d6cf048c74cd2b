/**
 * Goal: a call of the SDK has one effect and ends in time, whatever the connection does. Method: a server with answers
 * that the test writes; the requests that it got.
 * @module
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { ConnectionError, RefusedError, TimeoutError } from '../../sdk/src/errors.ts';
import { Pages } from '../../sdk/src/pages.ts';
import { type CallOptions, type Outgoing, send } from '../../sdk/src/send.ts';

type Reply = (response: ServerResponse, request: IncomingMessage) => void;
const requests: IncomingMessage[] = [];
let replies: Reply[] = [];
const server = createServer((request, response) => {
  requests.push(request);
  request.resume();
  const reply = replies.shift();
  if (reply === undefined) response.writeHead(500).end();
  else reply(response, request);
});
let url: string;
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterEach(() => {
  requests.length = 0;
  replies = [];
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

class PolicyDenied extends RefusedError {}
const defaults = {
  fetch: globalThis.fetch,
  errorClasses: { policy_denied: PolicyDenied },
  timeoutMs: 20_000,
  maxRetries: 3,
  maxRetryWaitMs: 20_000,
};
const answer =
  (status: number, headers: Record<string, string> = {}, body: unknown = { error: `a ${status}` }): Reply =>
  (response) =>
    response.writeHead(status, headers).end(JSON.stringify(body));
const ok = answer(200, {}, { id: 'x' });
const reset: Reply = (response) => response.socket?.destroy();
const never: Reply = () => undefined;
const atOnce = { 'Retry-After': '0' };

const call = (method: string, outgoing: Partial<Outgoing> = {}, options: CallOptions = {}): Promise<unknown> => {
  const { idempotencyKey } = outgoing;
  const headers: Record<string, string> = idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey };
  const read = (response: Response) => response.json();
  return send({ operation: 'buy', method, url, headers, read, ...outgoing }, options, defaults);
};
const failed = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'succeeded',
    (error: unknown) => error,
  );
const keyed = { idempotencyKey: 'one-key' };

test.each([
  ['429', 'POST', {}, answer(429, atOnce)],
  ['503', 'POST', keyed, answer(503, atOnce)],
  ['503', 'DELETE', {}, answer(503, atOnce)],
  [
    '409 of a running request',
    'POST',
    keyed,
    answer(409, { ...atOnce, 'X-Service-Error-Code': 'idempotency_conflict' }),
  ],
  ['502', 'GET', {}, answer(502, atOnce)],
  ['a reset', 'POST', keyed, reset],
  ['a reset', 'GET', {}, reset],
])('after %s, %s %j is sent again, with the same key', async (_name, method, outgoing, first) => {
  replies = [first, first, ok];
  expect(await call(method, outgoing)).toEqual({ id: 'x' });
  const keys = requests.map(({ headers }) => headers['idempotency-key']);
  expect(keys).toEqual(Array(3).fill((outgoing as Partial<Outgoing>).idempotencyKey));
});

test.each([
  ['503 of a POST without a key', 'POST', {}, answer(503, atOnce), RefusedError],
  ['a reset POST without a key', 'POST', {}, reset, ConnectionError],
  ['a reset DELETE', 'DELETE', {}, reset, ConnectionError],
  ['a reset PATCH', 'PATCH', {}, reset, ConnectionError],
  ['400', 'POST', keyed, answer(400, atOnce), RefusedError],
  [
    '409 of another request',
    'POST',
    keyed,
    answer(409, { 'X-Service-Error-Code': 'idempotency_conflict' }),
    RefusedError,
  ],
  ['500', 'GET', {}, answer(500), RefusedError],
  ['a redirect', 'GET', {}, answer(302, { Location: 'http://127.0.0.1:9/' }), ConnectionError],
])('%s is not sent again', async (name, method, outgoing, first, ErrorClass) => {
  replies = [first, ok];
  const error = await failed(call(method, outgoing, name === 'a redirect' ? { maxRetries: 0 } : {}));
  expect(error).toBeInstanceOf(ErrorClass);
  expect(requests).toHaveLength(1);
});

test('the refusal is the last one, with code, figures, request id, key and the number of requests', async () => {
  const headers = {
    ...atOnce,
    'X-Service-Error-Code': 'rate_limited',
    'X-Request-Id': 'request-4',
    'X-RateLimit-Limit': '100',
    'X-RateLimit-Remaining': '0',
    'X-RateLimit-Reset': '42',
  };
  replies = Array(4).fill(answer(429, headers, { error: 'too many' }));
  const error = (await failed(call('POST', keyed))) as RefusedError;
  expect(error).toMatchObject({
    operation: 'buy',
    message: 'too many',
    code: 'rate_limited',
    status: 429,
    requestId: 'request-4',
    rateLimit: { limitPerMinute: 100, remaining: 0, resetSeconds: 42 },
    retryAfterMs: 0,
    attempts: 4,
    idempotencyKey: 'one-key',
    body: { error: 'too many' },
  });
  expect(requests).toHaveLength(4);
});

test('a code has its class, and an unknown one, also one with the name of a method, the general class', async () => {
  for (const [code, ErrorClass] of [
    ['policy_denied', PolicyDenied],
    ['toString', RefusedError],
    ['of_tomorrow', RefusedError],
  ] as const) {
    replies = [answer(403, { 'X-Service-Error-Code': code })];
    const error = (await failed(call('GET'))) as RefusedError;
    expect([error.constructor, error.code]).toEqual([ErrorClass, code]);
  }
});

test('what is no JSON is quoted, and cut', async () => {
  replies = [(response) => response.writeHead(418).end(`<html>${'x'.repeat(1_000)}`)];
  const error = (await failed(call('GET'))) as RefusedError;
  expect(error.code).toBe('unknown');
  expect(error.message).toMatch(/^answered 418: <html>x{194}$/);
});

test('a wait beyond the bound is not begun, in seconds or as a date', async () => {
  for (const after of ['3600', new Date(Date.now() + 3_600_000).toUTCString()]) {
    replies = [answer(429, { 'Retry-After': after }), ok];
    expect(await failed(call('GET'))).toMatchObject({ status: 429, attempts: 1 });
  }
  expect(requests).toHaveLength(2);
});

test('no answer in time is a time-out, also when the body does not end; a repeat has the key', async () => {
  const begun: Reply = (response) => response.writeHead(200).write('{');
  replies = [never, begun];
  const error = await failed(call('POST', keyed, { timeoutMs: 200, maxRetries: 1 }));
  expect(error).toBeInstanceOf(TimeoutError);
  expect(error).toMatchObject({ attempts: 2, idempotencyKey: 'one-key' });
});

test('a signal ends a request and a wait with its own reason', async () => {
  const reason = new Error('enough');
  const stop = new AbortController();
  replies = [() => stop.abort(reason)];
  expect(await failed(call('GET', {}, { signal: stop.signal }))).toBe(reason);
  expect(await failed(call('GET', {}, { signal: stop.signal }))).toBe(reason);
  expect(requests).toHaveLength(1);

  const later = new AbortController();
  replies = [
    (response, request) => {
      response.on('finish', () => setImmediate(() => later.abort(reason)));
      answer(429, { 'Retry-After': '15' })(response, request);
    },
  ];
  expect(await failed(call('GET', {}, { signal: later.signal }))).toBe(reason);
  expect(requests).toHaveLength(2);
});

test('a stream is given at its beginning, and may take longer than the time-out', async () => {
  const signals: (AbortSignal | null | undefined)[] = [];
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    signals.push(init?.signal);
    return new Response('a long export');
  };
  const read = async (response: Response): Promise<unknown> => response;
  const outgoing = { operation: 'export', method: 'GET', url, headers: {}, read };
  const stream = (await send(outgoing, { timeoutMs: 5 }, { ...defaults, fetch })) as Response;
  await new Promise((resolve) => setTimeout(resolve, 50)); // A timer of 5 ms would have ended before this one.
  expect(signals.map((signal) => signal?.aborted)).toEqual([false]);
  expect(await stream.text()).toBe('a long export');
});

const pagesOf = (pages: readonly (readonly number[])[]) => {
  const asked: (string | undefined)[] = [];
  const list = new Pages(async (cursor) => {
    asked.push(cursor);
    const at = Number(cursor ?? 0);
    const isLast = at === pages.length - 1;
    return { data: pages[at] ?? [], hasMore: !isLast, nextCursor: isLast ? null : String(at + 1) };
  });
  return { list, asked };
};

test('a list is read when it is asked for, its first page once, and every item in order', async () => {
  const { list, asked } = pagesOf([[1, 2], [], [3]]);
  expect(asked).toEqual([]);
  expect((await list).data).toEqual([1, 2]);
  const items: number[] = [];
  for await (const item of list) items.push(item);
  expect([items, asked]).toEqual([
    [1, 2, 3],
    [undefined, '1', '2'],
  ]);
});

test('a bounded list reads no page more than it needs', async () => {
  const { list, asked } = pagesOf([[1, 2], [3]]);
  expect(await list.toArray({ limit: 2 })).toEqual([1, 2]);
  expect(await list.toArray({ limit: 0 })).toEqual([]);
  expect(asked).toEqual([undefined]);
});

test('a list that repeats a cursor fails, and a failed page is the error of the loop', async () => {
  const endless = new Pages(async () => ({ data: [1], hasMore: true, nextCursor: 'again' }));
  await expect(endless.toArray({ limit: 100 })).rejects.toThrow('repeats a cursor');
  const broken = new Pages<{ data: number[]; hasMore: boolean; nextCursor: null }>(async () => {
    throw new Error('page lost');
  });
  await expect(broken.toArray({ limit: 1 })).rejects.toThrow('page lost');
  expect(await broken.catch((error: Error) => error.message)).toBe('page lost');
});
