/** The guarded client against real servers on loopback: rebinding, redirects, slow and huge answers. @module */

import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createOutbound, type Outbound, type OutboundRequest, type Resolve } from '../../src/outbound/outbound.ts';
import type { OutboundError, OutboundErrorKind } from '../../src/outbound/outbound-error.ts';

const answers: RequestListener = (request, response) => {
  const [path] = (request.url ?? '/').split('?');
  if (path === '/redirect') response.writeHead(302, { location: 'http://127.0.0.1:1/private' }).end();
  else if (path === '/huge') for (let i = 0; i < 64; i++) response.write('x'.repeat(64 * 1024));
  else if (path === '/drip') setInterval(() => response.write('x'), 50).unref();
  else if (path === '/silent') return;
  else if (path === '/broken') request.socket.destroy();
  else if (path === '/cut')
    response.writeHead(200, { 'content-length': '100' }).write('half', () => request.socket.destroy());
  else if (path === '/many') response.writeHead(200, { 'set-cookie': ['a=1', 'b=2'], 'x-a': 'ä' }).end();
  else request.pipe(response);
};

/** Fails when a timer of `ms` fires first. Load delays the timer as much as `work`, because both wait for one loop. */
async function settledWithin<T>(ms: number, work: Promise<T>): Promise<T> {
  const late = Symbol('late');
  const first = await Promise.race([work, sleep(ms, late, { ref: false })]);
  if (first === late) throw new Error(`not settled within ${ms} ms`);
  return first as T;
}

describe('requests', () => {
  let server: Server;
  let outbound: Outbound;
  let origin: string;
  const seen: string[] = [];

  beforeAll(async () => {
    server = createServer((request, response) => {
      seen.push(`${request.method} ${request.url} ${request.headers['content-type'] ?? '-'}`);
      answers(request, response);
    });
    origin = `http://127.0.0.1:${await listening(server)}`;
    outbound = createOutbound({ allowedOrigins: [origin] });
  });

  afterAll(async () => {
    await outbound.close();
    await closed(server);
  });

  const post = (path: string, options: Partial<OutboundRequest> = {}): ReturnType<Outbound['request']> =>
    outbound.request(`${origin}${path}`, { method: 'POST', timeoutMs: 30_000, maxBytes: 1_024, ...options });

  test('an answer comes back whole, with method, headers and body as given', async () => {
    const answer = await post('/echo', { body: '{"ü":1}', headers: { 'content-type': 'application/json' } });
    expect(answer).toMatchObject({ status: 200, text: '{"ü":1}', truncated: false });
    expect(seen).toContain('POST /echo application/json');
    expect([...(await post('/echo', { body: new Uint8Array([0, 255]) })).bytes]).toEqual([0, 255]);
  });

  test('a redirect is an answer and is not followed', async () => {
    const answer = await post('/redirect');
    expect(answer.status).toBe(302);
    expect(answer.headers).toHaveProperty('location', 'http://127.0.0.1:1/private');
  });

  test('repeated headers are joined', async () => {
    expect((await post('/many')).headers).toHaveProperty('set-cookie', 'a=1, b=2');
  });

  test('a huge answer is cut at the limit', async () => {
    const answer = await post('/huge');
    expect(answer).toMatchObject({ status: 200, truncated: true });
    expect(answer.bytes.byteLength).toBe(1_024);
  });

  test('an answer of exactly the limit is not cut', async () => {
    expect(await post('/echo', { body: 'x'.repeat(1_024) })).toMatchObject({ truncated: false });
  });

  test('a body that drips for ever ends at the total deadline, and its status is known', async () => {
    const error = await settledWithin(30_000, failure(post('/drip', { timeoutMs: 1_500 })));
    expect(error).toMatchObject({ kind: 'timeout', status: 200 });
  });

  test('no answer at all is a timeout', async () => {
    expect(await failure(post('/silent', { timeoutMs: 200 }))).toMatchObject({ kind: 'timeout', status: undefined });
  });

  test('a connection closed before or within the answer is unreachable', async () => {
    expect(await failure(post('/broken'))).toMatchObject({ kind: 'unreachable', status: undefined });
    expect(await failure(post('/cut'))).toMatchObject({ kind: 'unreachable', status: 200 });
  });

  test('only repeatable requests are sent again over a new connection', async () => {
    const sent = (): number => seen.filter((line) => line.includes('/broken')).length;
    const before = sent();
    await failure(post('/broken'));
    expect(sent() - before).toBe(1);
    await failure(post('/broken', { isRepeatable: true }));
    expect(sent() - before).toBe(3);
  });

  test('a message names the host and never path or query', async () => {
    const error = await failure(post('/silent?key=hunter2', { timeoutMs: 100 }));
    expect(error.message).toContain('127.0.0.1');
    expect(error.message).not.toContain('hunter2');
  });

  test('TLS towards a plain server is a tls failure, a closed port unreachable, noise a protocol failure', async () => {
    const port = new URL(origin).port;
    const noise = createTcpServer((socket) =>
      socket
        .on('error', () => socket.destroy())
        .resume()
        .end('SSH-2.0-OpenSSH_9.6\r\n'),
    );
    const noisePort = await listening(noise);
    const closedPort = await freePort();
    const local = createOutbound({
      allowedOrigins: [port, noisePort, closedPort].flatMap((p) => [`http://127.0.0.1:${p}`, `https://127.0.0.1:${p}`]),
    });
    const kindOf = async (url: string): Promise<OutboundErrorKind> =>
      (await failure(local.request(url, { method: 'GET', timeoutMs: 30_000, maxBytes: 10 }))).kind;
    expect(await kindOf(`https://127.0.0.1:${port}/`)).toBe('tls');
    expect(await kindOf(`http://127.0.0.1:${closedPort}/`)).toBe('unreachable');
    expect(await kindOf(`http://127.0.0.1:${noisePort}/`)).toBe('protocol');
    await local.close();
    await closed(noise);
  });
});

describe('the address guard', () => {
  let server: Server;
  let port: number;
  let reached = 0;

  beforeAll(async () => {
    server = createServer((_, response) => {
      reached++;
      response.end('secret');
    });
    port = await listening(server);
  });

  afterAll(() => closed(server));

  const dial = async (resolve: Resolve, host = 'receiver.example', timeoutMs = 30_000): Promise<OutboundError> => {
    const outbound = createOutbound({ allowedOrigins: [], resolve });
    const error = await failure(
      outbound.request(`http://${host}:${port}/`, { method: 'GET', timeoutMs, maxBytes: 100 }),
    );
    await outbound.close();
    return error;
  };
  /** Of the global range that may be connected to, and given to nobody, so that nothing answers there. */
  const nobodys = { address: '2000::1', family: 6 };
  const always =
    (...addresses: string[]): Resolve =>
    async () =>
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

  test('a name that resolves to a private address is refused without a connection', async () => {
    const error = await dial(always('127.0.0.1'));
    expect(error).toMatchObject({ kind: 'refused_address' });
    expect(error.message).toBe('receiver.example resolves to 127.0.0.1, which is loopback');
    expect(reached).toBe(0);
  });

  test('one private address among several refuses the name, wherever it stands', async () => {
    for (const addresses of [
      ['8.8.8.8', '127.0.0.1'],
      ['127.0.0.1', '8.8.8.8'],
      ['2606:4700::1', '::ffff:127.0.0.1'],
    ]) {
      expect(await dial(always(...addresses))).toMatchObject({ kind: 'refused_address' });
    }
    expect(reached).toBe(0);
  });

  // spec: url-rule:5
  test('a name that moves to a private address between two questions is refused at the dial', async () => {
    let questions = 0;
    const rebinding: Resolve = async () => (questions++ === 0 ? [nobodys] : [{ address: '127.0.0.1', family: 4 }]);
    expect((await dial(rebinding, undefined, 500)).kind).not.toBe('refused_address');
    expect(await dial(rebinding)).toMatchObject({ kind: 'refused_address' });
    expect(questions).toBe(2);
    expect(reached).toBe(0);
  });

  test('each connection resolves its name exactly once, so a second answer is never used', async () => {
    let questions = 0;
    const outbound = createOutbound({
      allowedOrigins: [],
      resolve: async () => {
        questions++;
        return questions === 1 ? [nobodys] : [{ address: '127.0.0.1', family: 4 }];
      },
    });
    const request = { method: 'GET', timeoutMs: 500, maxBytes: 1, isRepeatable: true } as const;
    const error = await failure(outbound.request(`http://a.example:${port}/`, request));
    expect([error.kind === 'refused_address', questions, reached]).toEqual([false, 1, 0]);
    await outbound.close();
  });

  test('a literal private address is refused without asking any resolver', async () => {
    let questions = 0;
    const counting: Resolve = async () => {
      questions++;
      return [{ address: '8.8.8.8', family: 4 }];
    };
    for (const host of ['127.0.0.1', '[::1]', '[::ffff:7f00:1]', '2130706433', '0x7f.1', 'localhost']) {
      expect(await dial(counting, host)).toMatchObject({ kind: 'refused_address' });
    }
    expect(questions).toBe(0);
    expect(reached).toBe(0);
  });

  test('names that do not resolve, or to no address, are unreachable', async () => {
    const missing: Resolve = () => Promise.reject(Object.assign(new Error('queryA ENOTFOUND'), { code: 'ENOTFOUND' }));
    expect(await dial(missing)).toMatchObject({
      kind: 'unreachable',
      message: expect.stringContaining('does not resolve'),
    });
    expect(await dial(always())).toMatchObject({ kind: 'unreachable', message: 'receiver.example has no address' });
  });

  test('a resolver that never answers ends at the deadline', async () => {
    expect(
      await settledWithin(
        8_000, // Less than a connection may take to be made.
        dial(() => new Promise(() => undefined), 'receiver.example', 1_000),
      ),
    ).toMatchObject({ kind: 'timeout' });
  });

  test('an allowed origin is allowed with its exact port and scheme only', async () => {
    const outbound = createOutbound({ allowedOrigins: [`http://127.0.0.1:${port}`] });
    const get = (url: string): ReturnType<Outbound['request']> =>
      outbound.request(url, { method: 'GET', timeoutMs: 30_000, maxBytes: 100 });
    expect(await get(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 200, text: 'secret' });
    for (const url of [`https://127.0.0.1:${port}/`, `http://localhost:${port}/`, `http://127.0.0.1:${port + 1}/`]) {
      expect(await failure(get(url))).toMatchObject({ kind: 'refused_address' });
    }
    await outbound.close();
  });

  test('https can be demanded on an allowed origin too', async () => {
    const outbound = createOutbound({ allowedOrigins: [`http://127.0.0.1:${port}`] });
    const error = await failure(
      outbound.request(`http://127.0.0.1:${port}/`, {
        method: 'GET',
        timeoutMs: 1_000,
        maxBytes: 1,
        requireHttps: 'always',
      }),
    );
    expect(error).toMatchObject({ kind: 'refused_address', message: expect.stringContaining('use https') });
    await outbound.close();
  });
});

const failure = (call: Promise<unknown>): Promise<OutboundError> =>
  call.then(
    () => Promise.reject(new Error('the request was expected to fail')),
    (error: OutboundError) => error,
  );

const listening = (server: Server | TcpServer): Promise<number> =>
  new Promise((done) => {
    server.listen(0, '127.0.0.1', () => done((server.address() as AddressInfo).port));
  });

const closed = (server: Server | TcpServer): Promise<void> =>
  new Promise((done) => {
    if ('closeAllConnections' in server) server.closeAllConnections();
    server.close(() => done());
  });

async function freePort(): Promise<number> {
  const server = createTcpServer();
  const port = await listening(server);
  await closed(server);
  return port;
}
