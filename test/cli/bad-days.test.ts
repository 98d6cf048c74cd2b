/**
 * Goal: the command survives a restart of the service and ends when its user wants, and the demo takes nothing from the
 * user. Method: a service that answers as the test says.
 * @module
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Context } from '../../src/demo/context.ts';
import { createReporter } from '../../src/demo/reporter.ts';
import { leaveYourTurn } from '../../src/demo/your-turn.ts';
import { bursar } from './command.ts';
import { type Answered, type Asked, type Service, startService } from './fake-service.ts';

let service: Service;
let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'bursar-bad-days-'));
});
afterEach(async () => {
  await service.close();
  await rm(dir, { recursive: true, force: true });
});

const envOf = () => ({ BURSAR_DATA_DIR: dir, BURSAR_API_URL: service.url, BURSAR_API_KEY: 'sk_sandbox_x' });

const anEvent = (position: number) => ({
  id: `evt_${position}`,
  position,
  event: 'agent.updated',
  agentId: null,
  subjectId: 'ag_1',
  requestId: 'req',
  runId: null,
  createdAt: '2026-11-21T12:00:00.000Z',
  data: {},
});

describe('listen', () => {
  test('waits while the service restarts, and misses nothing', async () => {
    const interrupted = new AbortController();
    const answers: Answered[] = [
      { body: { data: [], position: 5, hasMore: false } },
      undefined,
      { status: 502, body: { error: 'a proxy answers for it' } },
      { body: { data: [anEvent(6)], position: 6, hasMore: false } },
    ];
    service = await startService((_, earlier) => {
      if (earlier >= answers.length) interrupted.abort();
      return answers[earlier];
    });
    const ended = await bursar(['listen', '--from', '5'], { env: envOf(), ended: interrupted.signal });
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/agent\.updated {2}ag_1\n$/) });
    expect(ended.stderr.split('\n').slice(1, -1)).toEqual([
      `${service.url} does not answer: waiting for it`,
      `${service.url} answers again`,
    ]);
    expect(service.asked.map(({ path }) => path)).toEqual(
      [5, 5, 5, 5, 6].map((after) => expect.stringContaining(`after=${after}`)),
    );
  });

  test('ends at once where nothing answers from the beginning', async () => {
    service = await startService(() => undefined);
    expect(await bursar(['listen'], { env: envOf() })).toMatchObject({ code: 4 });
  });

  test('is interrupted while it waits for a limit to pass', async () => {
    const interrupted = new AbortController();
    service = await startService(() => {
      setImmediate(() => interrupted.abort());
      return { status: 429, body: { error: 'later' }, headers: { 'Retry-After': '3600' } };
    });
    const ended = await bursar(['listen'], { env: envOf(), ended: interrupted.signal });
    expect(ended.code).toBe(0);
    expect(service.asked).toHaveLength(1);
  });
});

test('a command that is interrupted repeats nothing, and says what was answered', async () => {
  const interrupted = new AbortController();
  service = await startService(() => {
    setImmediate(() => interrupted.abort());
    return { status: 503, body: { error: 'the database is away' }, headers: { 'Retry-After': '3600' } };
  });
  const ended = await bursar(['cards'], { env: envOf(), ended: interrupted.signal });
  expect(ended).toMatchObject({ code: 1, stderr: 'bursar: the database is away\n' });
  expect(service.asked).toHaveLength(1);
});

describe('the end of the demo', () => {
  const waiting = { id: 'int_1', status: 'pending_approval', expectedAmountEuros: 75, approvalUrl: 'http://x/approve' };
  const agents = [{ id: 'ag_mine', name: 'Buyer' }];
  const answers = ({ method, path }: Asked): Answered => {
    if (path.startsWith('/agents?')) return { body: { data: agents } };
    if (path === '/agents') return { status: 201, body: { id: 'ag_new' } };
    if (path.endsWith('/tokens')) return { status: 201, body: { token: 'at_new' } };
    if (path === '/fund') return { status: 201, body: {} };
    if (method === 'GET')
      return { body: { data: path.includes('ag_mine') ? [{ ...waiting, expectedAmountEuros: 12.5 }] : [] } };
    return { status: 201, body: waiting };
  };

  const leave = async (kept: { agentId?: string; agentToken?: string }) => {
    service = await startService(answers);
    const lines: string[] = [];
    const ready = { apiUrl: service.url, apiKey: 'sk_1', sandboxUrl: 'http://shops' };
    const context = { ready, reporter: createReporter((line) => lines.push(line), 1) } as unknown as Context;
    const written: unknown[] = [];
    await leaveYourTurn(context, {
      keep: async (_, made) => void written.push(made),
      kept: async () => ({ ...kept, file: '/home/me/cli.json' }),
      project: '/bursar',
    });
    return { text: lines.join('\n'), written };
  };

  test('makes an agent where none is kept, and keeps its token', async () => {
    const { text, written } = await leave({});
    expect(written).toEqual([{ agentId: 'ag_new', agentToken: 'at_new' }]);
    expect(text).toContain(`pay 'http://shops/shops/sandbox-shop?amountCents=7500' --intent int_1`);
    expect(text).not.toContain('at_new');
  });

  test('names the amount of what an earlier demo left waiting', async () => {
    const { text, written } = await leave({ agentId: 'ag_mine', agentToken: 'at_mine' });
    expect(written).toEqual([]);
    expect(text).toContain('asks to pay 12.50 EUR');
    expect(text).toContain('?amountCents=1250');
  });

  test('replaces no token that is kept, also where it is of nobody that the owner has', async () => {
    const { text, written } = await leave({ agentId: 'ag_gone', agentToken: 'at_gone' });
    expect(written).toEqual([]);
    expect(text).toContain('ag_gone');
    expect(text).toContain('approve int_1');
    expect(text).not.toContain('amountCents=');
  });
});
