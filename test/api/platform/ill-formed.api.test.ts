/**
 * Goal: text that cannot be stored is refused with 400 wherever it stands, and reaches no log. Method: every published
 * operation with a lone surrogate or NUL in a value, in a name, deep in an unknown field, in the query and in the
 * path, asked of an API process whose whole output is read.
 * @module
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { freePort } from '../../../src/supervisor/ports.ts';
import { registeredMerchant } from '../../support/factories/merchants.ts';
import { signed } from '../../support/payments-world.ts';
import { publishedOperations, suiteLimitMs } from '../../support/published-operations.ts';
import { eventually, type Owner, startWorld, type World } from '../../support/world.ts';

let world: World;
let owner: Owner;
let merchantKey: string;
let api: ChildProcess;
let apiUrl: string;
let output = '';

/** Whatever of a caller must not be in a log. */
const marker = 'Geheimnis';

beforeAll(async () => {
  world = await startWorld();
  owner = await world.owner();
  merchantKey = (await registeredMerchant(owner)).merchant_secret_key;
  const port = await freePort();
  apiUrl = `http://127.0.0.1:${port}`;
  const { config } = world;
  api = spawn(process.execPath, ['src/main/api.ts'], {
    env: {
      PATH: process.env.PATH,
      PORT: String(port),
      DATABASE_URL: config.DATABASE_URL,
      BURSAR_DATA_DIR: config.BURSAR_DATA_DIR,
      TEMPORAL_ADDRESS: '127.0.0.1:9',
      BURSAR_DASHBOARD_SECRET: world.dashboardSecret,
      BURSAR_NETWORK_KEY: world.networkKey,
      BURSAR_VAULT_KEY: config.BURSAR_VAULT_KEY,
      BURSAR_SIGNING_KEY: config.BURSAR_SIGNING_KEY,
      BURSAR_SANDBOX_URL: world.sandboxUrl,
      BURSAR_RATE_LIMIT_PER_MINUTE: '1000000',
      LOG_LEVEL: 'trace',
    },
  });
  for (const stream of [api.stdout, api.stderr]) stream?.on('data', (chunk) => (output += String(chunk)));
  await eventually(
    async () => output,
    (text) => text.includes('api listens'),
  );
}, suiteLimitMs);
afterAll(async () => {
  api.kill();
  await once(api, 'exit');
  await world.close();
});

const illFormed = {
  'a lone surrogate in a value': `{"name":"${marker}\\ud83d","purpose":"${marker}\\ud83d"}`,
  'surrogates in the wrong order': `{"name":"${marker}\\uDE00\\uD83D"}`,
  'NUL in a value': `{"name":"${marker}\\u0000"}`,
  'a lone surrogate in a name': `{"${marker}\\udfff":1}`,
  'deep in an unknown field': `{"${marker}":${'['.repeat(200)}{"a":["\\ud800"]}${']'.repeat(200)}}`,
  'a text instead of an object': `"${marker}\\ud800"`,
} as const;

type Sent = { readonly status: number; readonly text: string };

async function send(
  one: (typeof publishedOperations)[number],
  { body = '{}', query = '', parameter = 'a'.repeat(16) },
): Promise<Sent> {
  const { operation } = one;
  const path = `${one.path.replaceAll(/\{\w+\}/g, () => parameter)}${query}`;
  const credential = operation.auth.includes('network')
    ? { 'X-Network-Signature': signed(world.networkKey, { path, rawBody: body }) }
    : credentialFor(operation.auth);
  const answer = await fetch(`${apiUrl}${path}`, {
    method: operation.method.toUpperCase(),
    headers: { ...credential, 'Content-Type': 'application/json', 'Idempotency-Key': randomUUID() },
    ...(operation.method === 'get' ? {} : { body }),
  });
  return { status: answer.status, text: await answer.text() };
}

function credentialFor(auth: (typeof publishedOperations)[number]['operation']['auth']): Record<string, string> {
  if (auth.includes('merchant')) return { 'X-Merchant-Key': merchantKey };
  return auth.includes('key')
    ? { Authorization: `Bearer ${owner.key}` }
    : { 'X-Dashboard-Secret': world.dashboardSecret };
}

const writing = publishedOperations.filter(
  ({ operation }) => operation.method !== 'get' && operation.takes === undefined,
);

test.each(Object.entries(illFormed))('%s is 400 for every operation that has a body', async (_what, body) => {
  const failed = [];
  for (const one of writing) {
    const { status, text } = await send(one, { body });
    if (status !== 400 || !text.includes('body: ') || text.includes(marker)) failed.push([one.name, status, text]);
  }
  expect(writing.length).toBeGreaterThan(40);
  expect(failed).toEqual([]);
});

test.each(['%ED%A0%80', '%00', '%FF', '%zz', '%F0%9F%98'])(
  '%s in a query or a path is 400 everywhere',
  async (escaped) => {
    const failed = [];
    for (const one of publishedOperations) {
      const asked = [`?${marker}${escaped}=1`, `?cursor=${marker}${escaped}`, `?merchant=${marker}${escaped}`].map(
        (query) => ({ query }),
      );
      const inPath = one.path.includes('{') ? [{ parameter: `${marker}${escaped}` }] : [];
      for (const where of [...asked, ...inPath]) {
        const { status, text } = await send(one, where);
        if (status !== 400 || text.includes(marker)) failed.push([one.name, where, status, text]);
      }
    }
    expect(failed).toEqual([]);
  },
);

test('invisible and misleading characters are refused in every field', async () => {
  const failed = [];
  for (const bad of ['\u202e', '\u2066', '\u200b', '\u0007', '\u009b']) {
    for (const [path, body] of [
      ['/agents', { name: `${marker}${bad}x` }],
      ['/agents', { name: 'x', profile: { description: `${marker}${bad}x` } }],
      ['/intents', { agentId: 'ag_aaaaaaaaaaaaaaaa', purpose: `${marker}${bad}x`, expectedAmountEuros: 1 }],
      ['/wallets', { name: 'x', purpose: `${marker}${bad}x` }],
    ] as const) {
      const answer = await fetch(`${apiUrl}${path}`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${owner.key}`, 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
      const text = await answer.text();
      if (answer.status !== 400 || !/bidirectional/.test(text)) failed.push([path, bad, answer.status, text]);
    }
  }
  expect(failed).toEqual([]);
});

test('none of these texts is in the output of the process, and no request was answered 500', async () => {
  expect(output).toContain('api listens');
  expect(output).not.toContain(marker);
  expect(output.split('\n').filter((line) => /"level":"(error|fatal)"/.test(line))).toEqual([]);
});
