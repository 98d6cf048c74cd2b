/**
 * Goal: who asks `sharedCall` is answered by a call that began after it asked, and many who wait share one; `keptCall`
 * makes one call for all who ask within its time. Method: calls that end when the test says so, and a clock of the test.
 * @module
 */
import { expect, test } from '@jest/globals';
import { keptCall } from '../../src/platform/kept-call.ts';
import { sharedCall } from '../../src/platform/shared-call.ts';

function controlled() {
  const calls: PromiseWithResolvers<number>[] = [];
  const ask = sharedCall(() => {
    const call = Promise.withResolvers<number>();
    calls.push(call);
    return call.promise;
  });
  return { calls, ask };
}
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('those who ask while a call is under way share the next one', async () => {
  const { calls, ask } = controlled();
  const first = ask();
  const later = [ask(), ask(), ask()];
  expect(calls).toHaveLength(1);
  calls[0]?.resolve(1);
  expect(await first).toBe(1);
  await settled();
  expect(calls).toHaveLength(2);
  const last = ask();
  calls[1]?.resolve(2);
  expect(await Promise.all(later)).toEqual([2, 2, 2]);
  await settled();
  calls[2]?.resolve(3);
  expect(await last).toBe(3);
  await settled();
  const alone = ask();
  expect(calls).toHaveLength(4);
  calls[3]?.resolve(4);
  expect(await alone).toBe(4);
});

test('a call that fails concerns those who share it alone', async () => {
  const { calls, ask } = controlled();
  const first = ask();
  const second = ask();
  calls[0]?.reject(new Error('away'));
  await expect(first).rejects.toThrow('away');
  await settled();
  calls[1]?.resolve(2);
  expect(await second).toBe(2);
});

test('an answer is kept for its time from the end of its call on, and a failure is not', async () => {
  let nowMs = 0;
  const calls: PromiseWithResolvers<number>[] = [];
  const ask = keptCall(
    () => {
      const call = Promise.withResolvers<number>();
      calls.push(call);
      return call.promise;
    },
    1_000,
    () => nowMs,
  );
  const first = [ask(), ask()];
  nowMs = 4_000;
  first.push(ask()); // Its call is under way, for however long.
  expect(calls).toHaveLength(1);
  calls[0]?.resolve(1);
  expect(await Promise.all(first)).toEqual([1, 1, 1]);
  nowMs = 4_999;
  expect(await ask()).toBe(1);
  nowMs = 5_000;
  const second = ask();
  expect(calls).toHaveLength(2);
  calls[1]?.reject(new Error('away'));
  await expect(second).rejects.toThrow('away');
  const third = ask();
  expect(calls).toHaveLength(3);
  calls[2]?.resolve(3);
  expect(await third).toBe(3);
});
