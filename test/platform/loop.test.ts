/**
 * Goal: a background loop goes on soon after PostgreSQL has returned, repeats other failures less and less often, and is
 * not hurried by wakes while it fails. Method: a pass that fails as the test says, and a clock that the test moves.
 * @module
 */
import { mock } from 'node:test';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { minute, second } from '../../src/kernel/instant.ts';
import { createLogger } from '../../src/platform/log.ts';
import { type Loop, startLoop } from '../../src/platform/loop.ts';

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
afterEach(() => mock.timers.reset());

const log = createLogger({ name: 'test', level: 'silent' });
const away = Object.assign(new Error('nobody listens'), { code: 'ECONNREFUSED' });
const stepMs = second / 4;

/** A loop and when its passes began, in milliseconds. `failure`: what the next passes fail with. */
async function watched(everyMs: number, failure?: Error) {
  const passes: number[] = [];
  const state = { failure, nowMs: 0 };
  const loop: Loop = startLoop({
    name: 'watched',
    everyMs,
    log,
    pass: async () => {
      passes.push(state.nowMs);
      if (state.failure !== undefined) throw state.failure;
    },
  });
  const settle = async () => {
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  /** `eachStep`: what happens meanwhile. */
  const pass = async (ms: number, eachStep: () => void = () => undefined) => {
    await settle();
    for (const until = state.nowMs + ms; state.nowMs < until; ) {
      state.nowMs += stepMs;
      mock.timers.tick(stepMs);
      await settle();
      eachStep();
    }
  };
  await settle();
  return { loop, passes, pass, state, gaps: () => passes.slice(1).map((at, n) => at - (passes[n] ?? 0)) };
}

test('while PostgreSQL is away, however long, the next pass is never more than two seconds off', async () => {
  const { loop, pass, passes, gaps, state } = await watched(minute, away);
  await pass(5 * minute, () => loop.wake());
  expect(gaps().slice(0, 3)).toEqual([500, second, 2 * second]);
  expect(Math.max(...gaps())).toBe(2 * second);
  expect(loop.state().failing).toBe(true);
  state.failure = undefined;
  const tried = passes.length;
  await pass(2 * second);
  expect(passes.length).toBe(tried + 1);
  expect(loop.state().failing).toBe(false);
  await pass(minute);
  expect(gaps().at(-1)).toBe(minute);
  await loop.stop();
});

test('another failure is repeated less and less often, and wakes do not shorten the wait', async () => {
  const { loop, pass, gaps } = await watched(minute, new Error('a fault of ours'));
  await pass(minute, () => loop.wake());
  expect(gaps()).toEqual([500, second, 2 * second, 4 * second, 8 * second, 16 * second, 16 * second]);
  await loop.stop();
});

test.each([
  ['PostgreSQL is away', away],
  ['another failure', new Error('a fault of ours')],
])('a loop of four passes a second makes one a second while it fails: %s', async (_, failure) => {
  const { loop, pass, gaps } = await watched(second / 4, failure);
  await pass(6 * second);
  expect(
    gaps()
      .slice(1)
      .every((gap) => gap === second),
  ).toBe(true);
  expect(gaps().length).toBeGreaterThanOrEqual(6);
  await loop.stop();
});

test('a loop that is woken passes at once, and none after its stop', async () => {
  const { loop, pass, passes } = await watched(minute);
  await pass(second);
  expect(passes).toEqual([0]);
  loop.wake();
  await pass(second);
  expect(passes).toEqual([0, second]);
  await loop.stop();
  loop.wake();
  await pass(2 * minute);
  expect(passes).toEqual([0, second]);
});
