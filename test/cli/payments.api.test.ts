/**
 * Goal: with the command alone an agent is set up, pays, waits for a person, and is followed by trace and listen; no
 * secret is printed after it was made. Method: the command in this process against a whole installation.
 * @module
 */

import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { Webhook } from 'standardwebhooks';
import { webhooksArea } from '../../src/domains/delivery/webhooks/webhook.contract.ts';
import { agentsArea } from '../../src/domains/parties/agents/agent.contract.ts';
import { eventNamesOf } from '../support/events.ts';
import { inTurn, type Receiver, startReceiver, status } from '../support/receiver.ts';
import { eventually, type Owner, startWorld, type World } from '../support/world.ts';
import { bursar } from './command.ts';

let world: World;
let owner: Owner;
let receiver: Receiver;
let dir: string;
let env: Record<string, string>;
let token: string;
beforeAll(async () => {
  [world, receiver] = [await startWorld({ worker: true }), await startReceiver()];
  owner = await world.owner();
  dir = await mkdtemp(join(tmpdir(), 'bursar-command-'));
  env = {
    BURSAR_DATA_DIR: dir,
    BURSAR_API_URL: world.apiUrl,
    BURSAR_API_KEY: owner.key,
    BURSAR_SANDBOX_URL: world.sandboxUrl,
  };
  const made = await bursar(['--json', 'init', '--name', 'Buyer', '--budget', '300'], { env });
  expect(made).toMatchObject({ code: 0, stderr: '' });
  token = (JSON.parse(made.stdout) as { token: string }).token;
});
afterAll(async () => {
  await receiver.close();
  await world.close();
  await rm(dir, { recursive: true, force: true });
});

const without = ({ BURSAR_API_KEY: _, ...rest }: Record<string, string>) => rest;
const shop = (cents: number) => `${world.sandboxUrl}/shops/sandbox-shop?amountCents=${cents}`;
const json = async <T>(...args: string[]): Promise<T> =>
  JSON.parse((await bursar(['--json', ...args], { env })).stdout) as T;

test('init keeps the token for its user alone, and no later output has it', async () => {
  const file = join(dir, 'cli.json');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({
    current: world.apiUrl,
    services: { [world.apiUrl]: { agentToken: token } },
  });
  for (const args of [['doctor'], ['cards'], ['intents'], ['--curl', 'pay', shop(100), '--amount', '1']]) {
    const { stdout, stderr } = await bursar(args, { env });
    expect(stdout + stderr).not.toContain(token);
    expect(stdout + stderr).not.toContain(owner.key);
  }
  await chmod(file, 0o644);
  expect(await bursar(['cards'], { env })).toMatchObject({ code: 2, stderr: expect.stringContaining('chmod 600') });
  await chmod(file, 0o600);
});

test('what init made stays when a later call of it fails, and nothing is made that cannot be kept', async () => {
  const own = { ...env, BURSAR_CLI_FILE: join(dir, 'new', 'cli.json') };
  const failed = await bursar(['init', '--name', 'Third', '--budget', '999999999999'], { env: own });
  expect(failed.code).toBe(1);
  const { services } = JSON.parse(await readFile(own.BURSAR_CLI_FILE, 'utf8')) as { services: object };
  expect(services).toMatchObject({ [world.apiUrl]: { agentToken: expect.stringMatching(/^at_/) } });

  const byDashboard = { ...own, BURSAR_API_KEY: '', BURSAR_DASHBOARD_SECRET: world.dashboardSecret };
  expect((await bursar(['init', '--name', 'Fourth', '--new-owner'], { env: without(byDashboard) })).code).toBe(0);
  const kept = await readFile(own.BURSAR_CLI_FILE, 'utf8');
  expect(kept).toMatch(/"ownerKey": "sk_/);
  const again = await bursar(['init', '--name', 'Fifth', '--new-owner'], { env: without(byDashboard) });
  expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('the only copy') });
  expect(JSON.parse(await readFile(own.BURSAR_CLI_FILE, 'utf8'))).toEqual(JSON.parse(kept));

  const agentsBefore = await owner.client(agentsArea).listAgents({ query: {} });
  const nowhere = { ...env, BURSAR_CLI_FILE: join(dir, 'cli.json', 'below-a-file.json') };
  const unkept = await bursar(['init', '--name', 'Nobody'], { env: nowhere });
  expect(unkept).toMatchObject({ code: 2, stderr: expect.stringContaining('BURSAR_CLI_FILE') });
  expect(await owner.client(agentsArea).listAgents({ query: {} })).toEqual(agentsBefore);
});

describe('pay', () => {
  test('within the rules pays at once, a repeat with its ref finds the purchase, and trace tells its story', async () => {
    const args = ['pay', shop(1_250), '--amount', '12.50', '--ref', 'first', '--purpose', 'a book'];
    const paid = await json<{ success: boolean; transactionId: string; intentId: string }>(...args);
    expect(paid.success).toBe(true);
    expect(await json(...args)).toMatchObject({ transactionId: paid.transactionId });
    // A trace is read in several statements: that of the intent may come before the clearing, and a later one after it.
    const told = await eventually(
      () => bursar(['trace', paid.transactionId], { env }),
      ({ stdout }) => ['clearing by the card network', 'for  completed'].every((word) => stdout.includes(word)),
    );
    expect(told.code).toBe(0);
    expect(told.stdout).toMatch(
      /^\d\d:\d\d:\d\d {2}declared what the agent wants to pay for {2}completed {2}12\.50 EUR/,
    );
    for (const part of ['├─ ', 'purpose: a book', 'pass daily_limit', 'debit 12.50', 'workflow checkout']) {
      expect(told.stdout).toContain(part);
    }
    const seen = await bursar(['trace', paid.intentId, '--agent'], { env });
    expect(seen.stdout).toContain('left out: delivery (owner_only)');
  });

  test('above the limit ends with 3 and waits; approve lets it be paid', async () => {
    const waiting = await bursar(['pay', shop(8_000), '--amount', '80'], { env });
    expect(waiting.code).toBe(3);
    const [id = ''] = /int_\w+/.exec(waiting.stdout) ?? [];
    const [listed] = await json<{ id: string; approvalUrl: string }[]>('intents', '--status', 'pending_approval');
    expect(listed?.id).toBe(id);
    expect(waiting.stdout).not.toContain('/approve/');
    expect(await bursar(['approve', id], { env })).toMatchObject({ code: 0, stdout: `${id} is approved\n` });
    const paid = await bursar(['pay', shop(8_000), '--intent', id], { env });
    expect(paid).toMatchObject({ code: 0, stdout: expect.stringContaining('paid 80.00 EUR') });
  });

  test('a named purchase that a person approved is paid by its repeat, once', async () => {
    const args = ['pay', 'sandbox-shop', '--amount', '55', '--ref', 'named'];
    const waiting = await bursar(args, { env });
    expect(waiting).toMatchObject({ code: 3, stdout: expect.stringContaining('?amountCents=5500') });
    const [id = ''] = /int_\w+/.exec(waiting.stdout) ?? [];
    expect((await bursar(['approve', id], { env })).code).toBe(0);
    const paid = await json<{ transactionId: string; intentId: string }>(...args);
    expect(paid).toMatchObject({ success: true, intentId: id, amountEuros: 55 });
    expect(await json(...args)).toMatchObject({ success: true, transactionId: paid.transactionId });
    // What a command without an answer says to do.
    const byIntent = ['pay', 'sandbox-shop', '--amount', '55', '--intent', id, '--ref', 'named'];
    expect(await json(...byIntent)).toMatchObject({ success: true, transactionId: paid.transactionId });
    expect((await bursar(['trace', '--agent'], { env })).stdout).toContain(id);
  });

  test('beyond the rules ends with 1 and says why; a denied one too', async () => {
    const denied = await bursar(['pay', shop(50_000), '--amount', '500'], { env });
    expect(denied).toMatchObject({ code: 1, stdout: expect.stringMatching(/^denied: .*500\.00/) });
    const waiting = await bursar(['pay', shop(6_000), '--amount', '60'], { env });
    const [id = ''] = /int_\w+/.exec(waiting.stdout) ?? [];
    expect((await bursar(['deny', id, '--reason', 'too dear'], { env })).code).toBe(0);
    expect(await bursar(['pay', shop(6_000), '--intent', id], { env })).toMatchObject({ code: 1 });
  });
});

test('cards are listed, frozen and unfrozen', async () => {
  const [card] = await json<{ id: string; status: string }[]>('cards');
  expect(card?.status).toBe('active');
  const id = card?.id ?? '';
  expect((await bursar(['cards', 'freeze', id], { env })).stdout).toBe(`${id} is frozen\n`);
  expect((await bursar(['cards', 'unfreeze', id], { env })).stdout).toBe(`${id} is active\n`);
  expect((await bursar(['cards'], { env })).stdout).toContain('•••• ');
});

describe('listen', () => {
  test('forwards each event once, in order and signed like a delivery, and goes on where it ended', async () => {
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    const listen = ['listen', '--forward', receiver.urlOf('all'), '--once'];
    const own = { ...env, BURSAR_WEBHOOK_SECRET: secret };
    receiver.answers('all', inTurn(status(500), status(200)));
    const first = await bursar([...listen, '--from', '0'], { env: own });
    expect(first).toMatchObject({ code: 0 });
    const taken = receiver.received('all').slice(1);
    expect(taken.map(({ headers }) => headers['x-service-event'])).toEqual(await eventNamesOf(world, owner.ownerId));
    for (const { body, headers } of taken) {
      new Webhook(secret).verify(body, headers as Record<string, string>);
    }
    const sequences = taken.map(({ headers }) => Number(headers['x-service-sequence']));
    expect(sequences).toEqual(sequences.toSorted((one, other) => one - other));
    expect(receiver.received('all')[0]?.headers['webhook-id']).toBe(taken[0]?.headers['webhook-id']);

    const before = receiver.received('all').length;
    await bursar(listen, { env: own });
    expect(receiver.received('all')).toHaveLength(before);
    await bursar(['trigger', 'wallet.funded'], { env });
    await bursar([...listen, '--events', 'wallet.funded'], { env: own });
    expect(
      receiver
        .received('all')
        .slice(before)
        .map(({ headers }) => headers['x-service-event']),
    ).toEqual(['wallet.funded']);
  });

  test('makes a secret once, and shows it then only', async () => {
    const listen = ['listen', '--forward', receiver.urlOf('secret'), '--once'];
    const first = await bursar(listen, { env });
    const [secret = ''] = /whsec_\S+/.exec(first.stderr) ?? [];
    expect(secret).toMatch(/^whsec_[\w+/=]{44}$/);
    const again = await bursar(listen, { env });
    expect(again.stdout + again.stderr).not.toContain(secret);
  });

  test('without an address it shows events, also as JSON, and ends when it is interrupted', async () => {
    const shown = await bursar(['listen', '--from', '0', '--once', '--events', 'agent.created'], { env });
    expect(shown.stdout).toMatch(/^(\d\d:\d\d:\d\d {2}agent\.created {2}ag_\w+\n)+$/);
    const interrupted = new AbortController();
    const running = bursar(['listen'], { env, ended: interrupted.signal });
    interrupted.abort();
    expect((await running).code).toBe(0);
  });
});

test.each(['transaction.completed', 'card.frozen'])('trigger makes %s happen', async (event) => {
  expect(await json('trigger', event)).toMatchObject({ event });
});

test('doctor finds nothing wrong, and says what to do where something is', async () => {
  const well = await eventually(
    () => bursar(['doctor'], { env }),
    ({ code }) => code === 0,
  );
  expect(well.stdout).toContain('nothing is wrong');
  const revoked = await bursar(['doctor'], { env: { ...env, BURSAR_API_KEY: `sk_sandbox_${'x'.repeat(40)}` } });
  expect(revoked).toMatchObject({ code: 1, stdout: expect.stringContaining('set BURSAR_API_KEY') });
  const away = await bursar(['--json', '--api', 'http://127.0.0.1:9', 'doctor'], { env });
  expect(away.code).toBe(1);
  expect(JSON.parse(away.stdout)).toMatchObject({ ok: false });
});

describe('doctor names what is broken, and what to do', () => {
  const found = async (changes: Record<string, string>, ...args: string[]): Promise<string> => {
    const { DATABASE_URL, TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, BURSAR_VAULT_KEY } = world.config;
    const parts = { DATABASE_URL, TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, BURSAR_VAULT_KEY };
    const { code, stdout } = await bursar([...args, 'doctor'], { env: { ...env, ...parts, ...changes } });
    const lines = stdout.split('\n');
    const bad = lines.flatMap((line, at) => (line.startsWith('bad') ? [`${line} -> ${lines[at + 1]?.trim()}`] : []));
    expect(code).toBe(bad.length === 0 ? 0 : 1);
    return bad.join('\n');
  };
  const otherKey = Buffer.alloc(32, 7).toString('base64');
  const withDatabase = (change: (url: URL) => void): Record<string, string> => {
    const url = new URL(world.config.DATABASE_URL);
    change(url);
    return { DATABASE_URL: url.href };
  };

  test.each<[string, () => Record<string, string>, RegExp]>([
    ['nothing', () => ({}), /^$/],
    ['PostgreSQL away', () => withDatabase((url) => (url.port = '9')), /PostgreSQL: .*ECONNREFUSED.* -> start/],
    ['a wrong password', () => withDatabase((url) => (url.password = 'no')), /refuses this user.* -> correct user/],
    ['no such database', () => withDatabase((url) => (url.pathname = '/none')), /does not exist on that server/],
    ['Temporal away', () => ({ TEMPORAL_ADDRESS: '127.0.0.1:9' }), /Temporal: .*ECONNREFUSED.* -> start Temporal/],
    ['a wrong namespace', () => ({ TEMPORAL_NAMESPACE: 'none-such' }), /no namespace none-such -> correct/],
    ['a key of another installation', () => ({ BURSAR_VAULT_KEY: otherKey }), /vault key: .*not the key.* -> restore/],
  ])('%s', async (_, changes, expected) => {
    // A check of the service itself may be late once.
    const text = await eventually(
      () => found(changes()),
      (lines) => expected.test(lines),
    );
    expect(text).toMatch(expected);
  });

  test('a schema that lacks a migration, and one that is newer', async () => {
    const url = new URL(world.ownerUrl);
    const name = `/doctor_${process.pid}`;
    await world.sql(`create database ${name.slice(1)}`);
    url.pathname = name;
    const client = new pg.Client(url.href);
    await client.connect();
    const parts = { BURSAR_MIGRATION_DATABASE_URL: url.href };
    expect(await found(parts)).toMatch(/schema: \d+ migrations are missing, the first 0001-platform -> apply them/);
    await client.query('create table mikro_orm_migrations (name text)');
    await client.query(`insert into mikro_orm_migrations values ('9999-of-the-future')`);
    expect(await found(parts)).toMatch(/schema: is of a newer version: 9999-of-the-future -> run that version/);
    await client.end();
    await world.sql(`drop database ${name.slice(1)}`);
  });

  test('a key file that is lost, a data folder that is none, and a subscription that was ended', async () => {
    const other = await mkdtemp(join(tmpdir(), 'bursar-doctor-'));
    await writeFile(join(other, 'postgres.password'), 'x', { mode: 0o600 });
    const lost = await found({ BURSAR_DATA_DIR: other, BURSAR_VAULT_KEY: '' });
    expect(lost).toMatch(/vault\.key is missing -> set BURSAR_VAULT_KEY .* restore the file from a backup/);
    await rm(other, { recursive: true });
    const { id } = await owner.client(webhooksArea).createWebhook({
      body: { url: `${world.sandboxUrl}/receiver/ended`, events: ['card.frozen'] },
    });
    await world.sql(`update webhooks set status = 'disabled', disabled_reason = 'it failed' where id = $1`, [id]);
    expect(await found({})).toMatch(new RegExp(`webhook ${id}: is disabled: it failed -> mend the receiver`));
    await owner.client(webhooksArea).deleteWebhook({ params: { id } });
  });

  test('a port that another program has', async () => {
    const silent = createServer((socket) => {
      socket.on('error', () => undefined); // The command ends its connections as it likes.
      socket.end('hello\n');
    }).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}`;
    expect(await found({}, '--api', url)).toMatch(
      /service: what listens at .* does not answer as Bursar does -> if it is Bursar/,
    );
    silent.close();
  });

  test('a service that does not reach its database', async () => {
    const down = createHttpServer((_, response) => response.writeHead(503).end('{}')).listen(0, '127.0.0.1');
    await once(down, 'listening');
    const { port } = down.address() as AddressInfo;
    const text = await found({ BURSAR_API_KEY: '' }, '--api', `http://127.0.0.1:${port}`);
    expect(text).toMatch(/service: .* answers 503: it does not reach its database -> PostgreSQL does not answer/);
    down.close();
  });
});

test('refusals, a missing service and wrong usage have their exit codes', async () => {
  expect(await bursar(['trace', 'int_01kc1v9m3se7ttw5v1x0h2q8ab'], { env })).toMatchObject({ code: 1 });
  expect(await bursar(['--api', 'http://127.0.0.1:9', 'cards'], { env })).toMatchObject({ code: 4 });
  expect(await bursar(['trigger', 'mobile_wallet.updated'], { env })).toMatchObject({ code: 2 });
  expect(await bursar(['pay', shop(100)], { env })).toMatchObject({ code: 2 });
});

test('a stored token goes to no other service', async () => {
  const file = join(dir, 'other.json');
  const other = { apiUrl: 'http://127.0.0.1:9', agentId: 'ag_x', agentToken: 'at_other', positions: {} };
  await writeFile(file, JSON.stringify(other), { mode: 0o600 });
  const answer = await bursar(['pay', shop(100), '--amount', '1'], { env: { ...env, BURSAR_CLI_FILE: file } });
  expect(answer).toMatchObject({ code: 2, stderr: expect.stringContaining('no agent token') });
  // The file of an earlier version, which held one service: its token stays beside the new one.
  const made = await bursar(['init', '--name', 'Second'], { env: { ...env, BURSAR_CLI_FILE: file } });
  expect(made.code).toBe(0);
  const { services } = JSON.parse(await readFile(file, 'utf8')) as { services: Record<string, unknown> };
  expect(services).toMatchObject({
    'http://127.0.0.1:9': { agentId: 'ag_x', agentToken: 'at_other' },
    [world.apiUrl]: { agentToken: expect.stringMatching(/^at_/) },
  });
});

test('the webhook list of the owner stays empty: listen subscribes to nothing', async () => {
  expect((await owner.client(webhooksArea).listWebhooks({ query: {} })).data).toEqual([]);
});
