/** How many security lines refused accesses leave, and that neither lines nor memory grow with the flood. @module */
import type { IncomingMessage } from 'node:http';
import { mock } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, expect, test } from '@jest/globals';
import { type AuditedRefusal, createRefusedAccess, type RefusedAccess } from '../../../src/http/refused-access.ts';
import type { Operation } from '../../../src/http/route.ts';
import { DomainError } from '../../../src/kernel/errors.ts';
import { createLogger } from '../../../src/platform/log.ts';

type Line = { event: string; client?: string; omitted?: number; credential?: string | null };

let opened: RefusedAccess[] = [];
afterEach(async () => {
  mock.timers.reset();
  await Promise.all(opened.map((one) => one.close()));
  opened = [];
});

function tracing() {
  const lines: Line[] = [];
  const audited: AuditedRefusal[] = [];
  let now = 1_000_000;
  const log = createLogger({
    name: 'test',
    level: 'info',
    destination: { write: (line) => lines.push(JSON.parse(line) as Line) },
  });
  const refusedAccess = createRefusedAccess({
    log,
    audit: async (refusal) => void audited.push(refusal),
    realNow: () => now,
  });
  opened.push(refusedAccess);
  return {
    lines,
    audited,
    refusedAccess,
    later: (ms: number) => {
      now += ms;
    },
    refuse: (client: string, headers: Record<string, string> = {}, error: unknown = unauthenticated) =>
      refusedAccess.trace({
        name: 'listKeys',
        operation: { auth: ['key', 'dashboard'] } as unknown as Operation,
        request: { headers } as unknown as IncomingMessage,
        caller: undefined,
        client,
        error,
      }),
  };
}

const unauthenticated = new DomainError('unauthenticated', 'no');
const refusedOnes = (lines: Line[]) => lines.filter(({ event }) => event === 'access.refused');
const summaries = (lines: Line[]) => lines.filter(({ event }) => event === 'access.refused.omitted');

test('300 refusals of one address are 20 lines, and one with the count of the 280 others when the next line comes', async () => {
  const { lines, refuse, later } = tracing();
  for (let i = 0; i < 300; i++) await refuse('192.0.2.1');
  expect(lines).toHaveLength(20);
  later(60_000);
  await refuse('192.0.2.1');
  expect(summaries(lines)).toMatchObject([{ client: '192.0.2.1', omitted: 280 }]);
  expect(refusedOnes(lines)).toHaveLength(21);
});

test('the count is written when the minute ends, also when nothing follows', async () => {
  mock.timers.enable();
  const { lines, refuse } = tracing();
  for (let i = 0; i < 25; i++) await refuse('192.0.2.1');
  mock.timers.tick(60_000);
  expect(summaries(lines)).toMatchObject([{ client: '192.0.2.1', omitted: 5 }]);
});

test('and when the process stops', async () => {
  const { lines, refuse, refusedAccess } = tracing();
  for (let i = 0; i < 21; i++) await refuse('192.0.2.1');
  await refusedAccess.close();
  expect(summaries(lines)).toMatchObject([{ omitted: 1 }]);
});

test('one address does not use up the lines of another; IPv6 addresses count by their /64', async () => {
  const { lines, refuse } = tracing();
  for (let i = 0; i < 50; i++) await refuse('192.0.2.1');
  for (let i = 0; i < 50; i++) await refuse(`2001:db8:1:2::${i.toString(16)}`);
  await refuse('192.0.2.2');
  expect(refusedOnes(lines)).toHaveLength(41);
});

test('100,000 addresses are 1,000 lines and one count, and are not remembered', async () => {
  const { lines, refuse, refusedAccess } = tracing();
  const before = heap();
  for (let i = 0; i < 100_000; i++) await refuse(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`);
  expect(heap() - before).toBeLessThan(20 * 1024 * 1024);
  await refusedAccess.close();
  expect(refusedOnes(lines)).toHaveLength(1_000);
  expect(summaries(lines)).toEqual([expect.objectContaining({ omitted: 99_000 })]);
});

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function heap(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

test.each<[Record<string, string>, string | null]>([
  [{}, null],
  [{ authorization: `Bearer sk_sandbox_${'a'.repeat(28)}x7Qz` }, 'sk_sandbox_…x7Qz'],
  [{ authorization: 'Bearer sk_short1234' }, 'an unknown credential'],
  [{ authorization: `Basic ${'a'.repeat(40)}` }, 'an unknown credential'],
  [{ 'x-dashboard-secret': 'b'.repeat(64) }, 'dashboard secret'],
  [{ 'x-network-signature': `t=1,v1=${'c'.repeat(64)}` }, 'network signature'],
])('%j leaves %j and not the secret', async (headers, credential) => {
  const { lines, refuse } = tracing();
  await refuse('192.0.2.1', headers);
  expect(lines).toMatchObject([{ credential }]);
  for (const value of Object.values(headers)) expect(JSON.stringify(lines)).not.toContain(value.replace('Bearer ', ''));
});

test('a refusal that is neither 401, 403, 429 nor a failed assertion leaves no line', async () => {
  const { lines, audited, refuse } = tracing();
  await refuse('192.0.2.1', {}, new DomainError('not_found', 'no'));
  await refuse('192.0.2.1', {}, new Error('bug'));
  expect(lines).toEqual([]);
  await refuse('192.0.2.1', {}, new DomainError('invalid_request', 'no', { isFailedVerification: true }));
  expect([lines.length, audited.length]).toEqual([1, 1]);
});

test('a wrong dashboard secret is audited under the same cap', async () => {
  const { audited, refuse } = tracing();
  for (let i = 0; i < 300; i++) await refuse('192.0.2.1', { 'x-dashboard-secret': 'b'.repeat(64) });
  expect(audited).toHaveLength(20);
  expect(audited[0]).toMatchObject({ operation: 'listKeys', code: 'unauthenticated', sourceAddress: '192.0.2.1' });
});
