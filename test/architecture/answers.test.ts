/**
 * Goal: a run of all tests fails for each event that a contract omits or names in vain, and an event belongs to the call
 * that recorded it. Method: a small server that records as the API does; the reporter with files of answers.
 * @module
 */
import { channel } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { EventName } from '../../src/events/catalog.ts';
import type { PublishedChanges } from '../../src/events/record.ts';
import type { Actor } from '../../src/platform/cause.ts';
import { compareEvents, recordAnswers, recordEvents } from '../support/answers.ts';
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
    // Of the network: the change carries the request id of the call that asked for the payment.
    record('agent.created', `handler of ${request.url}`, { kind: 'network' }, 'request /asked/1');
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  for (const path of ['/asked/1', '/told/2', '/rolled-back/3'])
    await (await fetch(`http://127.0.0.1:${address.port}${path}`, { method: 'POST' })).text();
  record('card.issued', 'step', agentKey, 'request /asked/1');
  record('card.frozen', 'deadline', { kind: 'deadline' }, 'request /told/2');
  record('card.issued', 'elsewhere', agentKey, 'request of nobody');
  server.close();
  const uncommitted = 'handler of /rolled-back/3';
  await recordEvents(file, async (ids) => ids.filter((id) => id !== uncommitted));
  expect((await readFile(file, 'utf8')).trim().split('\n')).toEqual([
    'fired agent.created POST /asked/{id}',
    'fired agent.created POST /told/{id}',
    'fired card.issued POST /asked/{id}',
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

test('a run of all tests reports both, and a run of some of them neither', async () => {
  process.env.TEST_ANSWERS = join(folder, 'of-a-run');
  await writeFile(process.env.TEST_ANSWERS, 'fired agent.created GET /agents\nfired agent.created POST /agents\n');
  const faults = await new CountReporter({ testPathPatterns: { patterns: [] } }).faults([]);
  expect(faults).toContain('listAgents fired agent.created, which its contract does not name');
  expect(faults).toContain('no call of createAgent fired card.issued, which its contract names');
  expect(faults).not.toContain('no call of createAgent fired agent.created, which its contract names');
  expect(await new CountReporter({ testPathPatterns: { patterns: ['test/api'] } }).faults([])).toEqual([]);
});
