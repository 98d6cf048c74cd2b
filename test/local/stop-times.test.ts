/** Goal: a process ends before it would be killed. Method: the times of all steps, added up. @module */
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { doneWithin, stopTimes } from '../../src/platform/stop-times.ts';
import { stopProgram } from '../../src/supervisor/processes.ts';

test('the steps of a stop take less than the supervisor and docker-compose wait', () => {
  const { drainMs, forceMs, closeMs, killMs } = stopTimes;
  expect(drainMs).toBeLessThan(forceMs);
  expect(forceMs + 500 + closeMs).toBeLessThan(killMs);
  expect(stopProgram[0]).toEqual({ signal: 'SIGTERM', withinMs: killMs });
  const compose = readFileSync(new URL('../../docker-compose.yml', import.meta.url), 'utf8');
  const ours = /x-bursar: &bursar[\s\S]*?stop_grace_period: (\d+)s/.exec(compose)?.[1];
  expect(Number(ours) * 1_000).toBeGreaterThan(forceMs + 500 + closeMs);
});

test('a hanging part is waited for no longer than its limit', async () => {
  const began = performance.now();
  expect(await doneWithin(50, new Promise(() => undefined))).toBe(false);
  expect(performance.now() - began).toBeLessThan(5_000);
  expect(await doneWithin(5_000, Promise.resolve())).toBe(true);
  await expect(doneWithin(5_000, Promise.reject(new Error('failed')))).rejects.toThrow('failed');
});
