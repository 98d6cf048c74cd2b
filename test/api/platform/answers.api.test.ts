/**
 * Goal: what an answer says around its body is right on every path: statuses of paths and methods, caching, encodings,
 * hosts, and the files of the documentation page. Method: every published path over HTTP, broken requests over sockets.
 * @module
 */
import { readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { pathsOf } from '../../../src/http/route.ts';
import { publishedAreas } from '../../../src/main/modules/index.ts';
import { browserTest, openBrowser, openPage } from '../../support/browser.ts';
import { type Owner, startWorld, type World } from '../../support/world.ts';

let world: World;
let owner: Owner;
beforeAll(async () => {
  world = await startWorld();
  owner = await world.owner();
});
afterAll(() => world.close());

const ask = (path: string, method = 'GET', headers: Record<string, string> = {}) =>
  fetch(`${world.apiUrl}${path}`, { method, headers });

/** Sends raw bytes, reads until the server closes, or until it has answered and `close` is wanted. */
const raw = (bytes: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const { port } = new URL(world.apiUrl);
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(bytes));
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString();
      socket.end();
    });
    socket.on('close', () => resolve(text));
    socket.on('error', reject);
  });

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'];
const example = (path: string): string => path.replaceAll(/\{\w+\}/g, 'x');

/** Every served path with the methods that it has. */
const served = Map.groupBy(
  publishedAreas.flatMap((area) =>
    Object.values(area.operations).flatMap((operation) =>
      pathsOf(area, operation).map((path) => ({
        path: path || '/',
        method: operation.method.toUpperCase(),
        operation,
      })),
    ),
  ),
  ({ path }) => path.replaceAll(/\{\w+\}/g, '{}'),
);

describe('paths and methods', () => {
  const literals = new Set([...served.keys()].filter((path) => !path.includes('{}')));
  /** A parameter's path may be another operation's literal one. */
  const isItself = (path: string): boolean => literals.has(example(path)) || path.includes('{}');

  test('a path that is served answers 405 to every other method, with the ones it has in Allow', async () => {
    const failed = [];
    for (const [path, operations] of served) {
      const own = new Set(operations.map(({ method }) => method));
      if (!isItself(path)) continue;
      for (const method of methods.filter((one) => !own.has(one))) {
        const answer = await ask(path.replaceAll('{}', 'x'), method, { Authorization: `Bearer ${owner.key}` });
        const allowed = (answer.headers.get('allow') ?? '').split(', ').sort();
        if (answer.status !== 405 || String(allowed) !== String([...own].sort()) || !hasHeaders(answer))
          failed.push([method, path, answer.status, allowed]);
      }
    }
    expect(served.size).toBeGreaterThan(100);
    expect(failed).toEqual([]);
  });

  test('the documentation’s own paths too', async () => {
    for (const path of [
      '/docs',
      '/docs/explorer',
      '/docs/start.js',
      '/docs/assets/swagger-ui.css',
      '/docs/passkeys',
      '/docs/pages/page.css',
      '/openapi.json',
    ]) {
      for (const method of methods) {
        const answer = await ask(path, method);
        expect([path, method, answer.status, answer.headers.get('allow'), hasHeaders(answer)]).toEqual([
          path,
          method,
          method === 'GET' ? 200 : 405,
          method === 'GET' ? null : 'GET',
          true,
        ]);
      }
      expect((await ask(path, 'HEAD')).status).toBe(200);
    }
  });

  /** Paths of areas that the specification names; the first operation below the same name takes them off the list. */
  const ofOtherAreas = [
    ...[
      '/mpp/pay',
      '/mpp/protect',
      '/mpp/settle',
      '/mpp/credentials/mppc_aaaaaaaaaaaa',
      '/billing',
      '/billing/balance',
    ],
    ...[
      '/transfers',
      '/transfers/split',
      '/transfers/tr_aaaaaaaaaaaa/cancel',
      '/payments',
      '/beneficiaries',
      '/vendors',
    ],
    ...[
      '/disputes',
      '/refunds',
      '/receipts',
      '/runs',
      '/workflows',
      '/delegations',
      '/delegations/redeem',
      '/authorizations',
    ],
    ...[
      '/collect',
      '/claim',
      '/collect/requests/pr_aaaaaaaaaaaa/pay',
      '/collect/402/pr_aaaaaaaaaaaa',
      '/merchants',
      '/merchants/paid',
    ],
    ...['/statements', '/bills', '/canvas', '/sessions', '/mandates', '/kyc'],
    ...['/cli/auth/start', '/.well-known/bursar', '/risk', '/analytics/spend', '/audit'],
  ];
  const nameIn = (path: string) => path.replace(/^\/v1(?=\/)/, '').split('/')[1];
  const servedNames = new Set(
    publishedAreas.flatMap((area) =>
      Object.values(area.operations).flatMap((operation) => pathsOf(area, operation).map(nameIn)),
    ),
  );
  const notBuilt = [
    ...ofOtherAreas.filter((path) => !servedNames.has(nameIn(path))),
    ...['/nowhere', '/docs/nothing', '/docs/assets'],
    ...[
      '/agents/ag_aaaaaaaaaaaa/nothing',
      '/agents/tokens/nothing/at/all',
      '/checkout/fill',
      '/checkout',
      '/network',
      '/v1/v1/agents',
    ],
  ];
  test.each(notBuilt)('%s is not built: 404 under every method, with and without /v1', async (path) => {
    for (const prefix of ['', '/v1']) {
      for (const method of [...methods, 'HEAD']) {
        const answer = await ask(`${prefix}${path}`, method, { Authorization: `Bearer ${owner.key}` });
        expect([method, `${prefix}${path}`, answer.status, answer.headers.get('allow'), hasHeaders(answer)]).toEqual([
          method,
          `${prefix}${path}`,
          404,
          null,
          true,
        ]);
        if (method !== 'HEAD') expect(Object.keys((await answer.json()) as object)).toEqual(['error']);
      }
    }
  });
});

const hasHeaders = ({ headers }: Response): boolean =>
  headers.get('x-data-residency') === 'EU' && /^[0-9a-f-]{36}$/.test(headers.get('x-request-id') ?? '');

describe('caching', () => {
  test('no answer to a request that needs a credential may be cached, granted or refused', async () => {
    const failed = [];
    for (const operations of served.values()) {
      for (const { path, method, operation } of operations) {
        if (operation.auth.some((kind) => kind === 'public') && !path.includes('{token}')) continue;
        const credentials: Record<string, string>[] = [
          {},
          { Authorization: `Bearer ${owner.key}` },
          { 'X-Dashboard-Secret': world.dashboardSecret },
        ];
        for (const headers of credentials) {
          // What writes is refused after its credential was accepted: nothing is made here.
          const answer = await ask(`${example(path)}${method === 'GET' ? '' : '?nothing=1'}`, method, headers);
          if (answer.headers.get('cache-control') !== 'no-store')
            failed.push([method, path, Object.keys(headers), answer.status]);
        }
      }
    }
    expect(failed).toEqual([]);
  });

  test('a cached copy of the documentation is revalidated before its use', async () => {
    for (const path of ['/docs', '/docs/explorer', '/docs/start.js', '/docs/assets/swagger-ui.css', '/openapi.json']) {
      expect([path, (await ask(path)).headers.get('cache-control')]).toEqual([path, 'no-cache']);
    }
  });
});

describe('content encodings', () => {
  const body = JSON.stringify({ label: 'compressed' });
  const send = (encoding: string, bytes: string | Buffer<ArrayBuffer>, path = '/keys/create') =>
    fetch(`${world.apiUrl}${path}`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${owner.key}`,
        'Content-Type': 'application/json',
        'Content-Encoding': encoding,
      },
      body: bytes,
    });

  test.each([
    ['gzip', gzipSync(body)],
    ['deflate', deflateSync(body)],
    ['br', brotliCompressSync(body)],
    ['zstd', body],
    ['x-unheard-of', body],
    ['gzip, identity', gzipSync(body)],
    ['identity, gzip', gzipSync(body)],
    ['gzip', gzipSync(Buffer.alloc(50_000_000))],
  ] as const)('%s is 415, and nothing is inflated', async (encoding, bytes) => {
    const before = process.memoryUsage().arrayBuffers;
    const answer = await send(encoding, bytes);
    expect([answer.status, answer.headers.get('accept-encoding'), answer.headers.get('x-service-error-code')]).toEqual([
      415,
      'identity',
      'unsupported_encoding',
    ]);
    expect(((await answer.json()) as { error: string }).error).toMatch(/Content-Encoding/);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20_000_000);
  });

  test('every body has the encoding identity', async () => {
    expect((await send('identity', body)).status).toBe(201);
    expect((await send('Identity', body)).status).toBe(201);
  });

  test('without a credential it is 401, and a network’s message is evaluated the same', async () => {
    const anonymous = await fetch(`${world.apiUrl}/keys/create`, {
      method: 'POST',
      headers: { 'Content-Encoding': 'gzip' },
      body,
    });
    expect(anonymous.status).toBe(401);
    expect((await send('gzip', gzipSync(body), '/network/clearings')).status).toBe(415);
  });
});

describe('hosts', () => {
  test.each([
    ['two equal ones', 'GET /health HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n'],
    ['two different ones', 'GET /health HTTP/1.1\r\nHost: a\r\nhOST: b\r\n\r\n'],
    ['two on a path that needs a credential', 'GET /keys HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'],
    ['two on HTTP/1.0', 'GET /health HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n'],
    ['none', 'GET /health HTTP/1.1\r\n\r\n'],
  ])('%s: 400, and the connection ends', async (_what, bytes) => {
    const text = await raw(bytes);
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(text).toMatch(/X-Data-Residency: EU[\s\S]*X-Request-Id: /i);
    expect(text).toMatch(/Connection: close/i);
    expect(text).toMatch(/"error":"[^"]*Host/);
  });
  test('one, or none on HTTP/1.0, is answered', async () => {
    expect(await raw('GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
    expect(await raw('GET /health HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('broken requests', () => {
  test.each([
    ['a malformed request line', 'GET\r\n\r\n', 400],
    ['a header without a colon', 'GET / HTTP/1.1\r\nHost: a\r\nnonsense\r\n\r\n', 400],
    ['two lengths', 'POST /keys HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 400],
    [
      'a length and chunks',
      'POST /keys HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    ['a bad chunk', 'POST /keys/create HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', 4],
    ['headers that are too large', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(70_000)}\r\n\r\n`, 431],
    ['a target that is too long', `GET /${'a'.repeat(70_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 431],
    ['no HTTP of ours', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
  ])('%s', async (_what, bytes, status) => {
    const text = await raw(bytes);
    expect(text.slice(0, 12)).toMatch(new RegExp(`^HTTP/1\\.1 ${status}`));
    expect(text).toMatch(/X-Data-Residency: EU[\s\S]*X-Request-Id: [0-9a-f-]{36}/i);
    expect(text).toMatch(/\{"error":"/);
  });

  test('an aborted upload ends only its own request', async () => {
    const { port } = new URL(world.apiUrl);
    for (let i = 0; i < 10; i++) {
      await new Promise<void>((resolve) => {
        const head = `POST /keys/create HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${owner.key}\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{"label":`;
        const socket = connect(Number(port), '127.0.0.1', () =>
          socket.write(head, () => setTimeout(() => socket.destroy(), 5)),
        );
        socket.on('close', () => resolve());
        socket.on('error', () => undefined);
      });
    }
    const answer = await ask('/keys', 'GET', { Authorization: `Bearer ${owner.key}` });
    expect([answer.status, hasHeaders(answer)]).toEqual([200, true]);
  });
});

describe('the documentation page', () => {
  test('forgets credentials, and its files have their types', async () => {
    expect(await (await ask('/docs/start.js')).text()).toMatch(/persistAuthorization: false/);
    const page = await (await ask('/docs/explorer')).text();
    const files = [...page.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path ?? '');
    const types: Record<string, RegExp> = { css: /^text\/css/, js: /^text\/javascript/, png: /^image\/png/ };
    expect(files.length).toBe(4);
    for (const path of files) {
      const answer = await ask(path);
      const type = types[path.split('.').at(-1) ?? ''] ?? /nothing/;
      expect([path, answer.status, type.test(answer.headers.get('content-type') ?? '')]).toEqual([path, 200, true]);
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    }
  });

  test('no other file of the package is served', async () => {
    const names = await readdir('node_modules/swagger-ui-dist');
    const open = [];
    for (const name of [
      ...names,
      '',
      '.',
      '..%2fpackage.json',
      '%2e%2e/package.json',
      'swagger-ui.css%00',
      'swagger-ui.css/x',
    ]) {
      const { status } = await ask(`/docs/assets/${name}`);
      if (status === 200) open.push(name);
      else expect([name, status]).toEqual([name, expect.any(Number)]);
    }
    expect(open.sort()).toEqual(['favicon-32x32.png', 'swagger-ui-bundle.js', 'swagger-ui.css']);
  });

  browserTest('works with those files alone, and has forgotten a credential after a reload', async () => {
    const browser = await openBrowser();
    try {
      const { page, complaints } = await openPage(browser);
      await page.goto(`${world.apiUrl}/docs/explorer`);
      await page.locator('.opblock').first().waitFor();
      await page.locator('.auth-wrapper .authorize').first().click();
      await page.locator('.modal-ux input').first().fill(owner.key);
      await page.locator('.modal-ux button.authorize').first().click();
      expect(
        await page.evaluate<string>('JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage)])'),
      ).toBe('[[],[]]');
      expect(complaints).toEqual([]);
    } finally {
      await browser.close();
    }
  });
});
