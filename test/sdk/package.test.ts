/**
 * Goal: the SDK that people install has every operation, and its README tells the truth. Method: the tarball, made from
 * the present contracts, is installed in an empty folder; every example of the README is compiled and run against a
 * running installation, and prints what its comments say.
 * @module
 */
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { webhooksArea } from '../../src/domains/delivery/webhooks/webhook.contract.ts';
import { bodyOf, deliveryHeaders, newWebhookSecret } from '../../src/domains/delivery/webhooks/webhook.signature.ts';
import { agentTokensArea } from '../../src/domains/identity/agent-tokens/agent-token.contract.ts';
import { agentsArea } from '../../src/domains/parties/agents/agent.contract.ts';
import { intentsArea } from '../../src/domains/spending/intents/intent.contract.ts';
import { fundArea } from '../../src/domains/treasury/funding/funding.contract.ts';
import { publishedAreas } from '../../src/main/modules/index.ts';
import { freePort } from '../../src/supervisor/ports.ts';
import { eventually, startWorld, type World } from '../support/world.ts';
import { type Packed, packSdk } from './packed.ts';

let packed: Packed;
let world: World;
let receiverPort: number;
let examples: readonly Example[];
let complaints: string;
beforeAll(async () => {
  receiverPort = await freePort();
  [packed, world] = await Promise.all([
    packSdk(),
    startWorld({ worker: true, allowedOrigins: [`http://127.0.0.1:${receiverPort}`] }),
  ]);
  examples = await examplesOfReadme();
  for (const [at, { program }] of examples.entries()) await write(`example-${at}`, program);
  for (const [name, call] of Object.entries(calls)) await write(name, programOf(call));
  complaints = await packed.compile();
}, 400_000);
afterAll(async () => {
  await world?.close();
  await packed?.remove();
});

type Example = { readonly title: string; readonly program: string };

async function examplesOfReadme(): Promise<Example[]> {
  const readme = await readFile(new URL('../../sdk/README.md', import.meta.url), 'utf8');
  const sections = readme.split(/^## /m).slice(1);
  return sections.flatMap((section) => {
    const [title = ''] = section.split('\n');
    return [...section.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, program = '']) => ({ title, program }));
  });
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** What the comments behind `console.log` promise; `…` stands for anything. */
const promised = (program: string): RegExp[] =>
  [...program.matchAll(/console\.log\(.*\).*? \/\/ (.+)$/gm)].map(
    ([, line = '']) => new RegExp(`^${line.split('…').map(escaped).join('.*')}$`),
  );

const write = (name: string, program: string): Promise<void> => writeFile(join(packed.folder, `${name}.ts`), program);
const programOf = (call: string): string =>
  `import { Bursar } from '@bursar/sdk';\nexport const made = new Bursar({ baseUrl: '' }).${call};\n`;
const wrong = {
  'unknown-in-body': "agents.createAgent({ nam: 'x' })",
  'unknown-in-query': 'intents.listIntents({ colour: 1 })',
  'missing-in-path': 'intents.getIntent({})',
  'takes-nothing': 'health.getHealth({ x: 1 })',
  'wrong-type': "intents.declareIntent({ purpose: 'x', expectedAmountEuros: '1' })",
};
const calls = { ...wrong, right: "intents.declareIntent({ purpose: 'x', expectedAmountEuros: 1 }, { timeoutMs: 1 })" };

const installed = (path: string): string => join(packed.folder, 'node_modules/@bursar/sdk', path);
const load = async (): Promise<Sdk> => (await import(pathToFileURL(installed('dist/index.js')).href)) as Sdk;

type Verify = (given: Record<string, unknown>) => Promise<Record<string, unknown>>;
type Sdk = {
  readonly Bursar: new (options: object) => Record<string, Record<string, unknown>>;
  readonly errorClasses: Readonly<Record<string, unknown>>;
  readonly webhooks: { readonly verify: Verify };
};

test('every operation is a method of its area, but for what only the card network calls', async () => {
  const { Bursar, errorClasses } = await load();
  const bursar = new Bursar({ baseUrl: world.apiUrl });
  const offered = Object.values(bursar).flatMap((area) => Object.keys(area));
  const published = publishedAreas.flatMap(({ operations }) =>
    Object.entries(operations).flatMap(([name, { auth }]) => (auth.includes('network') ? [] : [name])),
  );
  // `events.after` goes on by itself.
  expect(offered.toSorted()).toEqual([...published, 'after'].toSorted());
  expect(Object.keys(errorClasses)).toEqual(expect.arrayContaining(['policy_denied', 'E_AGENT_ISOLATION', 'gone']));
});

test('the package has no dependency, imports nothing of Node, and has the version of the service', async () => {
  const { dependencies, version } = JSON.parse(await readFile(installed('package.json'), 'utf8'));
  const own = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
  expect([dependencies, version]).toEqual([undefined, own.version]);
  const files = (await readdir(installed('dist'), { recursive: true })).filter((name) => name.endsWith('.js'));
  const texts = await Promise.all(files.map((name) => readFile(installed(`dist/${name}`), 'utf8')));
  const imports = texts.flatMap((text) => [...text.matchAll(/from ['"]([^'"]+)['"]/g)].map(([, from = '']) => from));
  expect(imports.filter((from) => !from.startsWith('.'))).toEqual([]);
});

test('programs with a wrong field, a missing one or one of another operation do not compile', () => {
  const files = [...complaints.matchAll(/^(\S+)\.ts\(/gm)].map(([, name]) => name);
  expect([complaints, [...new Set(files)].toSorted()]).toEqual([expect.any(String), Object.keys(wrong).toSorted()]);
});

describe('webhooks.verify', () => {
  const secret = `whsec_${Buffer.from(Array.from({ length: 32 }, (_, i) => i)).toString('base64')}`;
  const body = '{"event":"card.frozen","createdAt":"2026-11-20T08:00:00.000Z","data":{"id":"ca_01","status":"frozen"}}';
  const now = () => 1_795_161_600_000;
  // The golden vectors of test/rules/delivery/webhook.signature.test.ts, computed by openssl.
  const standard = {
    'webhook-id': 'whd_01kaftm3w0e6r8t9y0b1c2d3e4',
    'webhook-timestamp': '1795161600',
    'webhook-signature': 'v1,b4l9vXLL7Xn8bVjvAOwaTze46wCmUh23sWOzF2zfXLo=',
  };
  const own = {
    'X-Service-Delivery-Id': 'whd_01kaftm3w0e6r8t9y0b1c2d3e4.2',
    'X-Service-Timestamp': '1795161600',
    'X-Service-Signature': 'sha256=5ea9ff8cbdb85ba887d7b276afe3b8543af120b0d324b0a8e4a2299aec1de96d',
  };
  const delivery = { event: 'card.frozen', id: 'whd_01kaftm3w0e6r8t9y0b1c2d3e4', data: { id: 'ca_01' } };
  const other = newWebhookSecret();
  const previous = { 'X-Service-Signature': `sha256=${'0'.repeat(64)}` };

  test.each([
    ['Standard Webhooks', standard, secret],
    ['X-Service-Signature', own, secret],
    ['both', { ...standard, ...own }, secret],
    ['headers of fetch', new Headers({ ...standard, ...own }), secret],
    ['a secret that is being exchanged', standard, [other, secret]],
    [
      'several signatures',
      { ...standard, 'webhook-signature': `v1,AAAA v2,x ${standard['webhook-signature']}` },
      secret,
    ],
    [
      'the previous signature',
      { ...own, ...previous, 'X-Service-Signature-Previous': own['X-Service-Signature'] },
      secret,
    ],
  ])('takes %s', async (_name, headers, given) => {
    const { webhooks } = await load();
    for (const bytes of [body, new TextEncoder().encode(body)]) {
      expect(await webhooks.verify({ body: bytes, headers, secret: given, now })).toMatchObject(delivery);
    }
  });

  test('takes what the service sends', async () => {
    const { webhooks } = await load();
    const unixSeconds = Math.floor(Date.now() / 1_000);
    const sent = bodyOf({ event: 'card.frozen', createdAt: new Date(), data: {}, sequence: 7 });
    const signed = { attemptId: 'whd_01kaftm3w0.1', deliveryId: 'whd_01kaftm3w0', unixSeconds, body: sent };
    // While a secret is exchanged, both sign; the header of the sequence is not signed and does not count.
    const headers = deliveryHeaders({ secret: other, previous: secret }, signed, {
      event: 'card.frozen',
      sequence: 8,
      requestId: 'r',
    });
    for (const known of [other, secret]) {
      expect(await webhooks.verify({ body: sent, headers, secret: known })).toMatchObject({
        id: 'whd_01kaftm3w0',
        sequence: 7,
      });
    }
  });

  test.each([
    ['another body', 'wrong_signature', standard, { body: `${body} ` }],
    ['another secret', 'wrong_signature', own, { secret: other }],
    ['one wrong signature of two', 'wrong_signature', { ...standard, ...own, ...previous }, {}],
    ['another id', 'wrong_signature', { ...standard, 'webhook-id': 'whd_other' }, {}],
    ['no signature', 'missing_header', {}, {}],
    ['no id', 'missing_header', { ...standard, 'webhook-id': undefined }, {}],
    ['an id that came twice', 'malformed', { ...standard, 'webhook-id': ['a', 'b'] }, {}],
    ['a timestamp that is none', 'malformed', { ...standard, 'webhook-timestamp': '1e9' }, {}],
    ['an old one', 'outside_tolerance', standard, { now: () => now() + 301_000 }],
    ['one of the future', 'outside_tolerance', own, { now: () => now() - 301_000 }],
    ['an old one, by a stricter receiver', 'outside_tolerance', own, { now: () => now() + 2_000, toleranceSeconds: 1 }],
    ['a signature of another form', 'wrong_signature', { ...standard, 'webhook-signature': 'v1,%%%' }, {}],
  ])('refuses %s: %s', async (_name, fault, headers, changes) => {
    const { webhooks } = await load();
    await expect(webhooks.verify({ body, headers, secret, now, ...changes })).rejects.toMatchObject({ fault });
  });

  test('refuses a body that is no event, and a secret of another form', async () => {
    const { webhooks } = await load();
    const sign = (text: string) => {
      const unixSeconds = Math.floor(now() / 1_000);
      const signed = { attemptId: 'whd_01.1', deliveryId: 'whd_01', unixSeconds, body: text };
      return deliveryHeaders({ secret }, signed, { event: 'x', sequence: 1, requestId: 'r' });
    };
    for (const text of ['', '[]', '{', 'null', '{"event":1}']) {
      const verified = webhooks.verify({ body: text, headers: sign(text), secret, now });
      await expect(verified).rejects.toMatchObject({ fault: 'malformed' });
    }
    await expect(webhooks.verify({ body, headers: own, secret: randomBytes(32).toString('hex'), now })).rejects.toThrow(
      TypeError,
    );
  });
});

describe('the README', () => {
  test('every example runs as printed, and prints what it promises', async () => {
    const owner = await world.owner();
    await owner.client(fundArea).fundWallet({ body: { amountEuros: 500 } });
    const agent = await owner.client(agentsArea).createAgent({ body: { name: 'Shopper' } });
    const tokens = owner.client(agentTokensArea);
    const { token } = await tokens.createAgentToken({ params: { id: agent.id }, body: { label: 'shopper' } });
    const env = {
      PATH: process.env.PATH,
      BURSAR_URL: world.apiUrl,
      BURSAR_KEY: owner.key,
      BURSAR_TOKEN: token,
      SHOP_URL: `${world.sandboxUrl}/shops/sandbox-shop`,
    };
    expect(examples.length).toBeGreaterThan(10);
    for (const [at, { title, program }] of examples.entries()) {
      if (title === 'Receive events') continue; // Runs until it is ended: the next test.
      const args = [join('built', `example-${at}.js`)];
      const ended = await new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
        execFile(process.execPath, args, { cwd: packed.folder, env }, (error, stdout, stderr) =>
          resolve({ code: error?.code ?? 0, stdout, stderr }),
        );
      });
      expect({ title, ...ended }).toMatchObject({ title, code: 0, stderr: '' });
      const lines = ended.stdout.trim().split('\n');
      const missing = promised(program).filter((line) => !lines.some((one) => line.test(one)));
      expect({ title, missing, lines }).toEqual({ title, missing: [], lines });
    }

    const at = examples.findIndex(({ title }) => title === 'Receive events');
    expect(promised(examples[at]?.program ?? '')).toHaveLength(1);
    const url = `http://127.0.0.1:${receiverPort}/bursar`;
    const webhook = await owner.client(webhooksArea).createWebhook({ body: { url, events: ['intent.approved'] } });
    const listening = spawn(process.execPath, [join('built', `example-${at}.js`)], {
      cwd: packed.folder,
      env: { ...env, PORT: String(receiverPort), WEBHOOK_SECRET: webhook.secret },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const unsigned = () =>
        fetch(url, { method: 'POST', body: '{}' }).then(
          ({ status }) => status,
          () => 0,
        );
      expect(await eventually(unsigned, (status) => status !== 0)).toBe(400);
      const body = { agentId: agent.id, purpose: 'a pen', expectedAmountEuros: 2 };
      const { id } = await owner.client(intentsArea).declareIntent({ body });
      const [printed] = (await once(listening.stdout, 'data')) as [Buffer];
      expect(printed.toString()).toBe(`approved: ${id}\n`);
    } finally {
      listening.kill();
    }
  }, 120_000);
});
