/**
 * Goal: no spelling of a request reaches more than its plain spelling does, and none ends in a 5xx or a secret in a log.
 * Method: raw sockets (repeated and contradictory headers, strange targets), signed network messages whose target was
 * changed on the way, and a flood of refused requests with forged client addresses.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { aPayer, type Payer, signed } from '../../support/payments-world.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
let payer: Payer;
let other: Payer;
let output = '';
beforeAll(async () => {
  world = await startWorld({
    onLogLine: (line) => {
      output += line;
    },
  });
  payer = await aPayer(world);
  other = await aPayer(world);
});
beforeEach(() => {
  output = '';
});
afterAll(() => world.close());

type Answer = { readonly status: number; readonly text: string };

/** Sends these bytes, and reads until the server closes or has answered. */
function raw(bytes: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(world.apiUrl).port), '127.0.0.1', () => socket.write(bytes));
    let text = '';
    const done = () => resolve({ status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0), text });
    // A busy machine answers late; after an answer only a second one could come.
    socket.setTimeout(60_000, () => socket.destroy());
    socket.on('data', (chunk) => {
      text += chunk.toString();
      socket.setTimeout(3_000);
    });
    socket.on('close', done);
    socket.on('error', reject);
  });
}
const get = (target: string, ...headers: string[]): Promise<Answer> => send('GET', target, headers);
function send(method: string, target: string, headers: readonly string[], body = ''): Promise<Answer> {
  const length = body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`, 'Content-Type: application/json'];
  const head = [`${method} ${target} HTTP/1.1`, 'Host: x', 'Connection: close', ...length, ...headers];
  return raw(`${head.join('\r\n')}\r\n\r\n${body}`);
}
const bearer = (token: string): string => `Authorization: Bearer ${token}`;

describe('headers', () => {
  test('two Authorization headers are refused, whichever comes first', async () => {
    const wrong = bearer(`sk_sandbox_${'0'.repeat(32)}`);
    const right = bearer(payer.owner.key);
    for (const pair of [
      [right, wrong],
      [wrong, right],
      [right, bearer(other.owner.key)],
      [right, right],
    ]) {
      expect([pair, (await get('/agents', ...pair)).status]).toEqual([pair, 400]);
    }
    expect((await get('/agents', right)).status).toBe(200);
  });

  test('two lengths, a length beside chunks, and other ways to hide a second request are refused', async () => {
    const hidden = `GET /agents HTTP/1.1\r\nHost: x\r\n${bearer(payer.owner.key)}\r\n\r\n`;
    for (const headers of [
      ['Transfer-Encoding: chunked', `Content-Length: ${hidden.length + 5}`],
      ['Content-Length: 5', 'Content-Length: 6'],
      ['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'],
      ['Transfer-Encoding: xchunked'],
      ['Transfer-Encoding : chunked'],
      ['Content-Length: +5'],
      ['Content-Length: 5, 5'],
    ]) {
      const { text } = await raw(
        `POST /keys/create HTTP/1.1\r\nHost: x\r\n${headers.join('\r\n')}\r\n\r\n0\r\n\r\n${hidden}`,
      );
      expect([headers, text.match(/^HTTP\/1\.1 \d+/gm)]).toEqual([headers, [expect.stringMatching(/ 4\d\d$/)]]);
    }
  });

  test('many Hosts, a folded header and a NUL are refused', async () => {
    for (const headers of [['Host: y'], ['HOST: x'], ['X-A: 1', ' Authorization: Bearer x'], ['X-A: a\0b']]) {
      expect([headers, (await get('/health', ...headers)).status]).toEqual([headers, 400]);
    }
  });

  test('repeated headers for secret, owner or key are refused', async () => {
    const secret = `X-Dashboard-Secret: ${world.dashboardSecret}`;
    const owner = `X-Owner-Id: ${payer.owner.ownerId}`;
    expect((await get('/keys', secret, owner)).status).toBe(200);
    expect((await get('/keys', secret, secret, owner)).status).toBe(401);
    expect((await get('/keys', secret, owner, `X-Owner-Id: ${other.owner.ownerId}`)).status).toBe(400);
    const twice = ['Idempotency-Key: a', 'Idempotency-Key: b', bearer(payer.owner.key)];
    expect((await send('POST', '/wallets', twice, '{"name":"w"}')).status).toBe(400);
  });
});

describe('targets', () => {
  const strange = (id: string): readonly string[] => [
    `//agents/${id}`,
    `/agents//${id}`,
    `/./agents/${id}`,
    `/x/../agents/${id}`,
    `/%2e%2e/agents/${id}`,
    `/docs/..%2fagents/${id}`,
    `/docs/%2e%2e/agents/${id}`,
    `/agents%2f${id}`,
    `/agents/${id}%00`,
    `/agents/${id}%2f`,
    `/agents/${id}/..`,
    `/agents/${id};a=b`,
    `/agents/%61g_${id.slice(3)}`,
    `/AGENTS/${id}`,
    `/agents/${id.toUpperCase()}`,
    `/agents/${id}/`,
    `/agents/${id}?__proto__=1`,
    `/agents/${id}?a[b]=1`,
    `/agents/${id}#x`,
    `/agents/${id}\\`,
    `/v1/v1/agents/${id}`,
    `/agents/%c0%ae%c0%ae`,
    `/agents/%u0061`,
    `http://elsewhere.example/agents/${id}`,
    `http://user:pass@elsewhere.example/agents/${id}`,
    `*`,
    `agents/${id}`,
  ];

  test('no spelling of a target reaches another owner’s record, a sibling’s or one without a credential', async () => {
    for (const target of strange(other.agentId)) {
      for (const headers of [[], [bearer(payer.owner.key)], [bearer(payer.token)]]) {
        const { status, text } = await get(target, ...headers);
        expect([target, headers.length, status, text.includes('cardBalanceEuros')]).toEqual([
          target,
          headers.length,
          expect.any(Number),
          false,
        ]);
        expect([target, status >= 400 && status < 500]).toEqual([target, true]);
      }
    }
    expect(output).not.toContain('"bug"');
  });

  test('only the document and the pages are served without a credential', async () => {
    for (const target of [
      '/docs/assets/../package.json',
      '/docs/assets/%2e%2e/package.json',
      '/docs/assets/..%2fpackage.json',
      '/docs/assets/package.json',
      '/docs/assets/swagger-ui-bundle.js.map',
      '/docs/assets/swagger-ui.css%00.js',
      '/docs/pages/..%2f..%2fmain%2fconfig.ts',
      '/docs/pages/../../main/config.ts',
    ]) {
      expect([target, [400, 404].includes((await get(target)).status)]).toEqual([target, true]);
    }
  });
});

describe('signed network messages', () => {
  const message = () => {
    const body = JSON.stringify({
      id: `rev_${randomUUID()}`,
      authorizationId: `auth_${randomUUID()}`,
      cardRef: payer.cardRef,
    });
    return body;
  };
  const post = (target: string, signature: string, body: string) =>
    send('POST', target, [`X-Network-Signature: ${signature}`], body);
  const path = '/network/reversals';
  const changed = [
    '/network/reversals/',
    '/network/reversals?',
    '/network/reversals?a',
    '/v1/network/reversals',
    '/V1/network/reversals',
    '/Network/reversals',
    '/network/%72eversals',
    '//network/reversals',
    '/./network/reversals',
    '/network/clearings',
    '/network/authorizations',
    'http://x/network/reversals',
    '/network/reversals#a',
  ];

  test('a target changed on the way is refused', async () => {
    for (const target of changed) {
      const body = message();
      const { status } = await post(target, signed(world.networkKey, { path, rawBody: body }), body);
      expect([target, status, [400, 401, 404].includes(status)]).toEqual([target, status, true]);
      expect(await world.sql('select 1 from network_messages where body::text like $1', [`%${body}%`])).toEqual([]);
    }
    const body = message();
    expect((await post(path, signed(world.networkKey, { path, rawBody: body }), body)).status).toBe(200);
  });

  test('old, future, doubled and malformed signatures are refused, also while good ones pass', async () => {
    const now = Math.floor(Date.now() / 1_000);
    const body = message();
    const good = signed(world.networkKey, { path, rawBody: body });
    const bad = [
      signed(world.networkKey, { path, rawBody: body, unixSeconds: now - 302 }),
      signed(world.networkKey, { path, rawBody: body, unixSeconds: now + 302 }),
      signed(world.networkKey, { path, rawBody: `${body} ` }),
      `${good}, ${good}`,
      good.replace('v1=', 'v0='),
      good.toUpperCase(),
      `${good.slice(0, -1)}`,
      '',
    ];
    for (const signature of bad) {
      const { status } = await post(path, signature, body);
      expect([signature, status, [401, 429].includes(status)]).toEqual([signature, status, true]);
    }
    const twice = [`X-Network-Signature: ${good}`, `X-Network-Signature: ${good}`];
    expect([401, 429]).toContain((await send('POST', path, twice, body)).status);
    const [first, again] = [await post(path, good, body), await post(path, good, body)];
    expect([first.status, again.status]).toEqual([200, 200]);
    expect(again.text.split('\r\n\r\n')[1]).toBe(first.text.split('\r\n\r\n')[1]);
  });
});

test('a flood of refusals with forged addresses leaves 20 lines, counts the rest and keeps every secret out', async () => {
  const secret = `S3cr3t${randomUUID().replaceAll('-', '')}`;
  const attempt = (n: number) =>
    fetch(`${world.apiUrl}/keys/create?token=${secret}`, {
      method: 'POST',
      headers: {
        'X-Forwarded-For': `203.0.113.${n % 250}, 10.0.0.${n % 250}`,
        Forwarded: `for=203.0.113.${n % 250}`,
        'X-Real-IP': `203.0.113.${n % 250}`,
        ...([
          { Authorization: `Bearer sk_sandbox_${secret}` },
          { Authorization: `Basic ${secret}` },
          { Authorization: secret },
          { 'X-Dashboard-Secret': secret },
          { Authorization: `Bearer ${payer.token}`, 'X-Service-Run-Id': secret },
        ][n % 5] as Record<string, string>),
      },
      body: JSON.stringify({ label: secret }),
    });
  const statuses = new Map<number, number>();
  for (let i = 0; i < 500; i += 50) {
    const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => attempt(i + n)));
    for (const { status } of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  expect([...statuses.keys()].every((status) => [401, 403, 429].includes(status))).toBe(true);
  const lines = output
    .split('\n')
    .filter((line) => line.includes('"access.refused"'))
    .map((line) => JSON.parse(line) as { client: string });
  // Earlier tests of this minute have taken some of the twenty.
  expect(lines.length).toBeLessThanOrEqual(20);
  expect(new Set(lines.map(({ client }) => client)).size).toBeLessThanOrEqual(1);
  expect(output).not.toContain(secret);
  expect(output).not.toContain(payer.token);
  expect(output).not.toContain('203.0.113.');
  const [audited] = await world.sql<{ count: number }>(
    `select count(*)::int as count from audit where action = 'access.refused'`,
  );
  expect(audited?.count).toBeLessThanOrEqual(20);
});

test('wrong secrets at GET /sandbox/clock are 401 and then 429, and the right one passes all the while', async () => {
  const ask = (secret: string) => fetch(`${world.apiUrl}/sandbox/clock`, { headers: { 'X-Dashboard-Secret': secret } });
  const guesses = await Promise.all(Array.from({ length: 40 }, (_, n) => ask(`guess ${n} ${'x'.repeat(40)}`)));
  const counted = guesses.map(({ status }) => status);
  expect(counted.filter((status) => status === 401).length).toBeLessThanOrEqual(10);
  expect(counted.every((status) => status === 401 || status === 429)).toBe(true);
  expect((await ask(world.dashboardSecret)).status).toBe(200);
  expect([401, 429]).toContain((await ask('')).status);
  for (const credential of [payer.owner.key, payer.token]) {
    const answer = await fetch(`${world.apiUrl}/sandbox/clock`, { headers: { Authorization: `Bearer ${credential}` } });
    expect([401, 403]).toContain(answer.status);
  }
});
