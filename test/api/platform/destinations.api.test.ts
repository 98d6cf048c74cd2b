/**
 * Goal: the API process dials only what its own configuration names. Method: it runs as a child whose every connect is
 * written down, every published operation is called on it, and some with addresses that lead elsewhere.
 * @module
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createClient, sendTo } from '../../../src/client/client.ts';
import { webhooksArea } from '../../../src/domains/delivery/webhooks/webhook.contract.ts';
import { agentsArea } from '../../../src/domains/parties/agents/agent.contract.ts';
import { checkoutArea } from '../../../src/domains/payments/checkout/checkout.contract.ts';
import { intentsArea } from '../../../src/domains/spending/intents/intent.contract.ts';
import type { Config } from '../../../src/main/config.ts';
import {
  askedOf,
  callsOf,
  discoverSamples,
  publishedOperations,
  send,
  suiteLimitMs,
} from '../../support/published-operations.ts';
import { Sampler } from '../../support/samples.ts';
import { type Owner, startWorld, type World } from '../../support/world.ts';

type Noted = { readonly kind: 'connect' | 'name' | 'datagram' | 'native'; readonly what: string };

let world: World;
let watched: World;
let owner: Owner;
let child: ChildProcess;
let notes: string;
let elsewhere: Server;
let reached = 0;

beforeAll(async () => {
  elsewhere = createServer((_request, response) => {
    reached += 1;
    response.end();
  });
  elsewhere.listen(0, '127.0.0.1');
  await once(elsewhere, 'listening');
  world = await startWorld({ worker: true });
  owner = await world.owner();
  notes = join(world.config.BURSAR_DATA_DIR, 'connects.jsonl');
  child = fork(fileURLToPath(new URL('../../../src/main/api.ts', import.meta.url)), {
    execArgv: ['--import', fileURLToPath(new URL('./recording-connects.mjs', import.meta.url))],
    env: { ...environmentOf(world.config), RECORDED_CONNECTS: notes },
  });
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  watched = { ...world, apiUrl: url };
}, suiteLimitMs);
afterAll(async () => {
  child.kill('SIGTERM');
  const [code] = (await once(child, 'exit')) as [number];
  await world.close();
  elsewhere.close();
  expect(code).toBe(0);
});

/** The environment from which the configuration was read. */
function environmentOf(config: Config): NodeJS.ProcessEnv {
  const given = Object.entries(config).filter(([name]) => name === name.toUpperCase());
  const texts = given
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, Array.isArray(value) ? value.join(',') : String(value)]);
  return { PATH: process.env.PATH, ...Object.fromEntries(texts), PORT: '0', BURSAR_PUBLIC_URL: config.publicUrl };
}

async function noted(): Promise<Noted[]> {
  const lines = (await readFile(notes, 'utf8')).trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as Noted);
}
const whatOf = async (wanted: Noted['kind']): Promise<string[]> =>
  [...new Set((await noted()).filter(({ kind }) => kind === wanted).map(({ what }) => what))].sort();

/** Host and port of the two that the configuration names. */
const configured = ({ DATABASE_URL, TEMPORAL_ADDRESS }: Config): string[] => [
  new URL(DATABASE_URL).host,
  TEMPORAL_ADDRESS,
];

test(
  'a pass over all operations connects to PostgreSQL and Temporal, and to nothing else',
  async () => {
    const calls = callsOf(await discoverSamples(), new Sampler(world, owner));
    const failed: string[] = [];
    for (const one of publishedOperations) {
      const asked = await askedOf({ calls }, one.name);
      const answer = await send({ world: watched, owner }, one, asked);
      if (!answer.ok) failed.push(`${one.name}: ${answer.status} ${await answer.text()}`);
    }
    expect(failed).toEqual([]);
    expect(await whatOf('connect')).toEqual(configured(world.config).sort());
  },
  suiteLimitMs,
);

test(
  'addresses that callers supply are neither connected to nor resolved',
  async () => {
    const { port } = elsewhere.address() as AddressInfo;
    const client = <A extends Parameters<typeof createClient>[0]>(area: A) =>
      createClient(area, sendTo(watched.apiUrl, owner.key));
    const urls = [
      `http://127.0.0.1:${port}/`,
      `https://127.0.0.1:${port}/`,
      'https://receiver.example/hook',
      'https://rebinding.test:8443/hook',
      `http://localhost:${port}/`,
    ];
    const agent = await client(agentsArea).createAgent({ body: { name: 'dials nothing' } });
    // Evaluated by the API alone: nothing is delivered, and an intent that waits for a person is not bought for.
    for (const url of urls) {
      await client(webhooksArea)
        .createWebhook({ body: { url, events: ['wallet.closed'] } })
        .catch(() => undefined);
      const intent = await client(intentsArea).declareIntent({
        body: { agentId: agent.id, purpose: 'x', expectedAmountEuros: 80 },
      });
      await client(checkoutArea)
        .executeCheckout({ body: { intentId: intent.id as `int_${string}`, targetUrl: url } })
        .catch(() => undefined);
    }
    expect(reached).toBe(0);
    expect(await whatOf('connect')).toEqual(configured(world.config).sort());
    expect(await whatOf('name')).toEqual([]);
  },
  suiteLimitMs,
);

test('none of its imports can connect without the record', async () => {
  expect(await whatOf('datagram')).toEqual([]);
  expect((await whatOf('native')).filter((path) => /temporal|core-bridge/.test(path))).toEqual([]);
});

test('the record does see a connect: without PostgreSQL there would be none to find', async () => {
  const connects = (await noted()).filter(({ kind }) => kind === 'connect');
  expect(connects.length).toBeGreaterThanOrEqual(3);
});
