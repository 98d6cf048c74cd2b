/**
 * Goal: a run of all tests fails for each refusal, event and call of the network that a contract omits or names in vain;
 * an event belongs to the call that recorded it, and what the network sends to the call that waits for it. Method: a
 * small server that records as the API does; the reporter with files of answers.
 * @module
 */
import { channel } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { EventName } from '../../src/events/catalog.ts';
import type { PublishedChanges } from '../../src/events/record.ts';
import type { Actor } from '../../src/platform/cause.ts';
import {
  compareEvents,
  compareNetworkCalls,
  compareRefusals,
  recordAnswers,
  recordEvents,
  sentByTest,
} from '../support/answers.ts';
import CountReporter from '../support/count-reporter.mts';

let folder: string;
let file: string;
const { TEST_ANSWERS } = process.env;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bursar-answers-'));
  file = join(folder, 'answers');
});
afterEach(() => {
  process.env.TEST_ANSWERS = TEST_ANSWERS;
  if (TEST_ANSWERS === undefined) delete process.env.TEST_ANSWERS;
});
afterAll(() => rm(folder, { recursive: true, force: true }));

type Routed = IncomingMessage & { originalUrl?: string; params?: Readonly<Record<string, string>> };

const changes = channel('bursar.changes');
const agentKey: Actor = { kind: 'key', id: 'key_1' };

/** Records as a handler or a step does. */
function record(name: EventName, id: string, actor: Actor, requestId: string): void {
  const cause = { causeId: id, requestId, actor, at: new Date(0) };
  changes.publish({ cause, events: [{ id, name }] } satisfies PublishedChanges);
}

test('an event belongs to the call whose handler recorded it, and a step of a workflow to the call it works for', async () => {
  recordAnswers(file);
  const server = createServer(async (request: Routed, response) => {
    const [, , id = ''] = request.url?.split('/') ?? [];
    Object.assign(request, { params: { id }, originalUrl: request.url });
    response.setHeader('X-Request-Id', `request ${request.url}`);
    await setImmediate(); // As a handler that waits for the database.
    if (id === '4') await post('/network/5');
    // Of the network: the change carries the request id of the call that asked for the payment.
    const asking = id === '5' ? 'request /pays/4' : 'request /asked/1';
    record('agent.created', `handler of ${request.url}`, { kind: 'network' }, asking);
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const post = async (path: string) => {
    const { port } = server.address() as AddressInfo;
    await (await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST' })).text();
  };
  for (const path of ['/asked/1', '/told/2', '/rolled-back/3', '/pays/4']) await post(path);
  record('card.issued', 'step', agentKey, 'request /asked/1');
  record('card.frozen', 'deadline', { kind: 'deadline' }, 'request /told/2');
  record('card.issued', 'elsewhere', agentKey, 'request of nobody');
  server.close();
  const uncommitted = 'handler of /rolled-back/3';
  await recordEvents(file, async (ids) => ids.filter((id) => id !== uncommitted));
  expect((await readFile(file, 'utf8')).trim().split('\n')).toEqual([
    'fired agent.created POST /asked/{id}',
    'fired agent.created POST /told/{id}',
    'followed by POST /told/{id}: POST /asked/{id}',
    'fired agent.created POST /network/{id}',
    'carried out by POST /network/{id}: POST /pays/{id}',
    'fired agent.created POST /pays/{id}',
    'followed by POST /pays/{id}: POST /asked/{id}',
    'fired card.issued POST /asked/{id}',
  ]);
});

test('what is asked after an answer, or sent by a test beside it, follows it, also before its response is closed', async () => {
  recordAnswers(file);
  const asked = (path: string, writableEnded: boolean, headers = {}) => ({
    request: { method: 'POST', originalUrl: path, params: {}, headers },
    response: { statusCode: 200, writableEnded, getHeader: () => `request ${path}`, once: () => undefined },
  });
  const start = channel('http.server.request.start');
  for (const [path, isAnswered, headers] of [
    ['/answered', true, {}],
    ['/waiting', false, {}],
    ['/beside', false, sentByTest],
  ] as const) {
    start.publish(asked(path, isAnswered));
    start.publish(asked(`/network${path}`, false, headers));
    record('agent.created', `of ${path}`, { kind: 'network' }, `request ${path}`);
  }
  await recordEvents(file, async (ids) => ids);
  const lines = (await readFile(file, 'utf8')).trim().split('\n');
  expect(lines.filter((line) => / by /.test(line)).slice(-3)).toEqual([
    'followed by POST /network/answered: POST /answered',
    'carried out by POST /network/waiting: POST /waiting',
    'followed by POST /network/beside: POST /beside',
  ]);
});

const operations = [
  { name: 'createAgent', calls: ['POST /agents', 'POST /v1/agents'], fires: ['agent.created', 'card.issued'] },
  { name: 'listAgents', calls: ['GET /agents'], fires: [] },
];

test('each event that a contract omits, and each that it names in vain, is one sentence', () => {
  const all = ['fired agent.created POST /v1/agents', 'fired card.issued POST /agents'];
  expect(compareEvents(operations, [...all, 'GET /agents 401 unauthenticated', ''])).toEqual([]);
  expect(compareEvents(operations, [...all, 'fired card.issued GET /agents'])).toEqual([
    'listAgents fired card.issued, which its contract does not name',
  ]);
  expect(compareEvents(operations, ['fired agent.created POST /agents'])).toEqual([
    'no call of createAgent fired card.issued, which its contract names',
  ]);
});

const refusing = [
  {
    name: 'createAgent',
    calls: ['POST /agents', 'POST /v1/agents'],
    refusals: ['400 invalid_request', '400 invalid_state', '503 unavailable', '503 undefined'],
    provoked: ['400 invalid_request', '400 invalid_state'],
  },
];

test('each refusal that a contract omits, and each that it names in vain, is one sentence', () => {
  const all = ['POST /agents 400 invalid_request', 'POST /v1/agents 400 invalid_state', 'POST /agents 503 undefined'];
  const others = ['GET /agents 404 not_found', 'POST /agents/{id} 404 not_found', 'fired agent.created POST /agents'];
  expect(compareRefusals(refusing, [...all, ...others, 'POST /agents 500 internal', ''])).toEqual([]);
  expect(
    compareRefusals(refusing, [...all, 'POST /agents 403 policy_denied', 'POST /v1/agents 404 undefined']),
  ).toEqual([
    'createAgent answered 403 policy_denied, which its contract does not name',
    'createAgent answered 404 undefined, which its contract does not name',
  ]);
  expect(compareRefusals(refusing, all.slice(0, 1))).toEqual([
    'no test provoked the declared refusal 400 invalid_state of createAgent',
  ]);
});

const carriedOut = [
  { name: 'executeCheckout', calls: ['POST /checkout/execute'], networkCalls: ['authorizeCardPayment'] },
  { name: 'authorizeCardPayment', calls: ['POST /network/authorizations'], networkCalls: [] },
  { name: 'clearCardPayment', calls: ['POST /network/clearings', 'POST /v1/network/clearings'], networkCalls: [] },
];

test('each call of the card network that a contract omits, and each that it names in vain, is one sentence', () => {
  const authorized = 'carried out by POST /network/authorizations: POST /checkout/execute';
  expect(compareNetworkCalls(carriedOut, [authorized])).toEqual([]);
  const later = [authorized, authorized.replace('/authorizations', '/clearings')].map((line) =>
    line.replace('carried out', 'followed'),
  );
  expect(compareNetworkCalls(carriedOut, later)).toEqual([]);
  expect(
    compareNetworkCalls(carriedOut, ['carried out by POST /v1/network/clearings: POST /checkout/execute']),
  ).toEqual([
    'executeCheckout was carried out by clearCardPayment, which its contract does not name',
    'no call of executeCheckout was carried out by authorizeCardPayment, which its contract names',
  ]);
});

test('a run of all tests reports all of them, and a run of some of them none', async () => {
  process.env.TEST_ANSWERS = join(folder, 'of-a-run');
  const lines = [
    ...['fired agent.created GET /agents', 'fired agent.created POST /agents'],
    ...['POST /agents 410 gone', 'POST /agents 400 invalid_request', 'GET /health 503 undefined'],
  ];
  await writeFile(process.env.TEST_ANSWERS, `${lines.join('\n')}\n`);
  const faults = await new CountReporter({ testPathPatterns: { patterns: [] } }).faults([]);
  expect(faults).toContain('listAgents fired agent.created, which its contract does not name');
  expect(faults).toContain('no call of createAgent fired card.issued, which its contract names');
  expect(faults).not.toContain('no call of createAgent fired agent.created, which its contract names');
  expect(faults).toContain('createAgent answered 410 gone, which its contract does not name');
  expect(faults).toContain('no test provoked the declared refusal 401 unauthenticated of createAgent');
  expect(faults).not.toContain('no test provoked the declared refusal 400 invalid_request of createAgent');
  expect(faults.filter((fault) => fault.startsWith('getHealth'))).toEqual([]);
  expect(await new CountReporter({ testPathPatterns: { patterns: ['test/api'] } }).faults([])).toEqual([]);
});
