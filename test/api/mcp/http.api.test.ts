/**
 * Goal: whatever reaches /mcp is answered in a form that a client understands, without details of ours, and a page of
 * another site reaches nothing. Method: the real API without Temporal, raw HTTP.
 * @module
 */

import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { call, messageOf, post, type Refused, rpc } from '../../support/mcp.ts';
import { anIntent, aPayer, type Payer } from '../../support/payments-world.ts';
import { eventually, startWorld, type World } from '../../support/world.ts';

const lines: string[] = [];
let world: World;
let payer: Payer;
let bearer: Record<string, string>;
beforeAll(async () => {
  world = await startWorld({
    env: {
      TEMPORAL_ADDRESS: '127.0.0.1:9',
      BURSAR_PUBLIC_URL: 'https://pay.example',
      BURSAR_MCP_HOSTS: 'api.internal',
    },
    onLogLine: (line) => lines.push(line),
  });
  payer = await aPayer(world);
  bearer = { Authorization: `Bearer ${payer.token}` };
});
afterAll(async () => {
  await world.close();
});

const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
const send = (message: unknown, headers: Record<string, string> = {}) =>
  post(`${world.apiUrl}/mcp`, message, { ...bearer, ...headers });

/** With headers that fetch does not let a program set. */
const statusOf = (headers: Record<string, string>): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const { port } = new URL(world.apiUrl);
    const sent = request({ host: '127.0.0.1', port, path: '/mcp', method: 'POST', headers: { ...bearer, ...headers } });
    sent.on('response', (answer) => resolve(answer.resume().statusCode)).on('error', reject);
    sent.end(JSON.stringify(ping));
  });

test.each([
  ['https://evil.example', 403],
  ['http://127.0.0.1:3000', 403],
  ['null', 403],
  ['not an origin', 403],
  ['https://pay.example', 200],
])('a page of %s is answered %i', async (origin, status) => {
  const answer = await send(ping, { Origin: origin });
  expect(answer.status).toBe(status);
  if (status === 403) expect(answer.headers.get('X-Service-Error-Code')).toBe('forbidden');
});

test('a Host that is not of this service is refused, because a page’s name may resolve to this machine', async () => {
  const { host, port } = new URL(world.apiUrl);
  const json = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
  for (const [name, status] of [
    [host, 200],
    [`localhost:${port}`, 200],
    ['pay.example', 200],
    ['api.internal:8400', 200],
    ['evil.example', 403],
    [`evil.example:${port}`, 403],
    ['localhost.evil.example', 403],
  ] as const)
    expect([name, await statusOf({ ...json, Host: name })]).toEqual([name, status]);
  // The name of the page is the name that it calls: its own origin, and no host of this service.
  expect(await statusOf({ ...json, Host: `evil.example:${port}`, Origin: `http://evil.example:${port}` })).toBe(403);
});

test('without a token, with an unknown or an expired one: 401, and no OAuth metadata', async () => {
  const expired = await aPayer(world);
  await world.sql(`update agent_tokens set expires_at = now() - interval '1 s' where agent_id = $1`, [expired.agentId]);
  const headers = [
    {},
    { Authorization: 'Bearer at_test_nobodysnobodysnobodys' },
    { Authorization: `Bearer ${expired.token}` },
  ];
  for (const one of headers) {
    const answer = await post(`${world.apiUrl}/mcp`, ping, one as Record<string, string>);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('WWW-Authenticate')).toBeNull();
    expect(await answer.json()).toEqual({ error: expect.any(String) });
  }
  for (const path of ['oauth-protected-resource', 'oauth-authorization-server'])
    expect((await fetch(`${world.apiUrl}/.well-known/${path}`)).status).toBe(404);
});

test.each(['GET', 'DELETE', 'PUT'])('%s is answered 405', async (method) => {
  const answer = await fetch(`${world.apiUrl}/api/mcp`, { method, headers: bearer });
  expect([answer.status, answer.headers.get('Allow')]).toEqual([405, 'POST']);
});

test.each([
  ['{', -32700],
  ['"\\ud800"', -32700],
  ['[]', -32600],
  [[ping, ping], -32600],
  ['7', -32600],
  ['null', -32600],
])('the junk %j is a JSON-RPC error', async (junk, code) => {
  const answer = await send(junk);
  expect([answer.status, answer.headers.get('X-Data-Residency')]).toEqual([400, 'EU']);
  expect(await answer.json()).toMatchObject({ jsonrpc: '2.0', id: null, error: { code } });
});

test.each([
  [{}],
  [{ jsonrpc: '1.0', id: 1, method: 'tools/list' }],
  [{ jsonrpc: '2.0', id: 1, method: 'nothing/there' }],
  [{ jsonrpc: '2.0', id: 1, method: 'tools/call' }],
  [{ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 7 } }],
  [{ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: '__proto__', arguments: {} } }],
  [{ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'intents_get', arguments: [] } }],
  [{ jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri: '../../etc/passwd' } }],
  [{ jsonrpc: '2.0', id: { a: 1 }, method: 'ping' }],
])('the message %j is refused, without HTML and without a stack', async (message) => {
  const answer = await send(message);
  const text = await answer.text();
  expect(answer.status).toBeLessThan(500);
  expect(text).toMatch(/"error"/);
  expect(text).not.toMatch(/<html|node_modules|at \w+ \(/i);
});

test('a wrong type of content, an unknown version and a wrong Accept are refused', async () => {
  const body = JSON.stringify(ping);
  const sent = (headers: Record<string, string>) =>
    fetch(`${world.apiUrl}/mcp`, { method: 'POST', headers: { ...bearer, ...headers }, body });
  for (const headers of [
    { 'Content-Type': 'text/plain', Accept: 'application/json, text/event-stream' },
    { 'Content-Type': 'application/json', Accept: 'text/html' },
    {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': '1999-01-01',
    },
  ]) {
    const answer = await sent(headers);
    expect([headers, answer.status >= 400 && answer.status < 500]).toEqual([headers, true]);
    expect(answer.headers.get('Content-Type')).toContain('json');
  }
});

test('arguments of 5 MB are answered 413, and the next call works', async () => {
  const params = { name: 'evidence_add', arguments: { description: 'x'.repeat(5 * 1024 * 1024) } };
  const answer = await send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  expect(answer.status).toBe(413);
  expect(await answer.json()).toEqual({ error: expect.stringContaining('at most') });
  expect((await rpc(world.apiUrl, payer.token, 'tools/list')).error).toBeUndefined();
});

test('what the edge refuses in a tool’s arguments is said in words', async () => {
  const bad = { purpose: 'x', expectedAmountEuros: '12', purchaseRef: 'x' };
  expect(await call<Refused>(world.apiUrl, payer.token, 'intents_declare', bad)).toMatchObject({
    code: 'invalid_request',
    message: expect.stringContaining('expectedAmountEuros'),
    next: { do: expect.stringContaining('Correct') },
  });
});

test('without Temporal a payment is refused with the same call to make again, and is not lost', async () => {
  const intentId = await anIntent(world, payer);
  const args = { intentId, targetUrl: 'https://shop.example/', purchaseRef: 'later' };
  const answer = await call<Refused>(world.apiUrl, payer.token, 'checkout_execute', args);
  expect(answer).toMatchObject({
    code: 'unavailable',
    next: { tool: 'checkout_execute', arguments: args, do: expect.stringContaining('same purchaseRef') },
  });
});

/** Counts what is read of an intent while `during` runs. */
async function countingReads(intentId: string, during: (reads: () => number) => Promise<void>): Promise<void> {
  let reads = 0;
  const count = (message: unknown): void => {
    if ((message as { request: { url?: string } }).request.url === `/intents/${intentId}`) reads += 1;
  };
  subscribe('http.server.request.start', count);
  try {
    await during(() => reads);
  } finally {
    unsubscribe('http.server.request.start', count);
  }
}
const some = (n: number): boolean => n > 1;

test('a client that leaves during a wait leaves nothing behind', async () => {
  const intentId = await anIntent(world, payer, { status: 'pending_approval' });
  const another = await anIntent(world, payer, { status: 'pending_approval' });
  await countingReads(intentId, async (reads) => {
    const leaving = new AbortController();
    const params = { name: 'intents_wait', arguments: { intentId, waitSeconds: 45 } };
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
    const waiting = post(`${world.apiUrl}/mcp`, message, bearer, leaving.signal).catch((error: Error) => error.name);
    await eventually(async () => reads(), some);
    leaving.abort();
    expect(await waiting).toBe('AbortError');
    const readsMeanwhile = async (): Promise<number> => {
      const before = reads();
      await call(world.apiUrl, payer.token, 'intents_wait', { intentId: another, waitSeconds: 1 });
      return reads() - before;
    };
    expect(await eventually(readsMeanwhile, (n) => n === 0)).toBe(0);
  });
});

test('a process that ends answers those who wait', async () => {
  const intentId = await anIntent(world, payer, { status: 'pending_approval' });
  const second = await world.secondApi();
  await countingReads(intentId, async (reads) => {
    const waiting = call(second.url, payer.token, 'intents_wait', { intentId, waitSeconds: 45 });
    await eventually(async () => reads(), some);
    const stopped = second.stop();
    expect(await waiting).toMatchObject({ result: { status: 'pending_approval' }, next: { tool: 'intents_wait' } });
    await stopped;
  });
});

test('progress goes to a client that asks for it', async () => {
  const intentId = await anIntent(world, payer, { status: 'pending_approval' });
  const params = { name: 'intents_wait', arguments: { intentId, waitSeconds: 1 }, _meta: { progressToken: 'p' } };
  const answer = await send(
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
    { 'MCP-Protocol-Version': '2025-06-18' },
  );
  expect(await answer.text()).toContain('notifications/progress');
});

test('a call counts once towards the rate limit, also when it reads many times', async () => {
  const { url } = await world.secondApi(); // Its minute begins with the first request.
  const remaining = async (): Promise<number> =>
    Number((await post(`${url}/mcp`, ping, bearer)).headers.get('X-RateLimit-Remaining'));
  const before = await remaining();
  const intentId = await anIntent(world, payer, { status: 'pending_approval' });
  await call(url, payer.token, 'intents_wait', { intentId, waitSeconds: 1 });
  expect(await remaining()).toBe(before - 2);
});

test('over the limit the answer says when to come back', async () => {
  const limited = await startWorld({ env: { BURSAR_RATE_LIMIT_PER_MINUTE: '2' } });
  try {
    const statuses = [];
    for (let i = 0; i < 4; i++) statuses.push((await post(`${limited.apiUrl}/mcp`, ping)).status);
    expect(statuses).toEqual([401, 401, 429, 429]);
  } finally {
    await limited.close();
  }
});

test('nothing of it is logged as a bug, and no token', () => {
  expect(lines.filter((line) => /"bug"|Unhandled/.test(line))).toEqual([]);
  expect(lines.join('\n')).not.toContain(payer.token);
});

test('an answer of JSON-RPC to a ping', async () => {
  expect(await messageOf(await send(ping))).toMatchObject({ result: {} });
});
