/** Group commit: what shares a batch shares nothing else. */
import { expect, test } from '@jest/globals';
import { CallerGone, groupCommit } from '../../src/db/group-commit.ts';

const failing = (code: string): Error => Object.assign(new Error(code), { code });
const gate = () => Promise.withResolvers<void>();
const settled = (all: readonly Promise<unknown>[]) =>
  Promise.all(all.map((one) => one.then(String, (error: { code?: string; name: string }) => error.code ?? error.name)));

/** Notes the batches; `fails` decides what a batch does before it is written. */
function writer(fails: (items: readonly number[], nth: number) => void | Promise<void> = () => undefined, limits = {}) {
  const batches: (readonly number[])[] = [];
  const submit = groupCommit(async (items: readonly number[]) => {
    batches.push(items);
    await fails(items, batches.length);
    return items.map((item) => item * 10);
  }, limits);
  return { batches, submit };
}

test('what arrives while a batch is written forms the next ones, in order and bounded', async () => {
  const first = gate();
  const { batches, submit } = writer((_, nth) => (nth === 1 ? first.promise : undefined), { atOnce: 3 });
  const all = Promise.all([1, 2, 3, 4, 5, 6].map((item) => submit(item)));
  first.resolve();
  expect(await all).toEqual([10, 20, 30, 40, 50, 60]);
  expect(batches).toEqual([[1], [2, 3, 4], [5, 6]]);
});

test.each(['40001', '40P01'])('a batch that fails with %s is repeated', async (code) => {
  const { batches, submit } = writer((_, nth) => {
    if (nth <= 2) throw failing(code);
  });
  expect(await submit(1)).toBe(10);
  expect(batches).toHaveLength(3);
});

test.each(['40001', '40P01'])('items of a batch that fails with %s each time are each written alone', async (code) => {
  const first = gate();
  const { submit } = writer(async (items, nth) => {
    if (nth === 1) await first.promise;
    if (items.length > 1) throw failing(code);
  });
  const all = [1, 2, 3].map((item) => submit(item));
  first.resolve();
  expect(await settled(all)).toEqual(['10', '20', '30']);
});

test('an item with which every batch fails fails alone, and one that never gets through is a 503', async () => {
  const first = gate();
  const { submit } = writer(async (items, nth) => {
    if (nth === 1) await first.promise;
    if (items.includes(3)) throw failing('23514');
    if (items.includes(4)) throw failing('40001');
  });
  const all = [1, 2, 3, 4, 5].map((item) => submit(item));
  first.resolve();
  expect(await settled(all)).toEqual(['10', '20', '23514', 'unavailable', '50']);
});

test('a lost connection is tried once more, and then fails the whole batch without trying each item', async () => {
  const first = gate();
  const { batches, submit } = writer(async (_, nth) => {
    if (nth === 1) await first.promise;
    else if (nth < 5) throw failing('57P01');
  });
  const all = [1, 2, 3].map((item) => submit(item));
  first.resolve();
  expect(await settled(all)).toEqual(['10', '57P01', '57P01']);
  expect(batches).toHaveLength(3);
  const again = [4, 5].map((item) => submit(item));
  expect(await settled(again)).toEqual(['40', '50']);
});

test('a full queue refuses with 503 and a time to come again', async () => {
  const first = gate();
  const { submit } = writer((_, nth) => (nth === 1 ? first.promise : undefined), { mostWaiting: 2 });
  const all = [1, 2, 3].map((item) => submit(item));
  await expect(submit(4)).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: expect.any(Number) });
  first.resolve();
  expect(await settled(all)).toEqual(['10', '20', '30']);
  expect(await submit(5)).toBe(50);
});

test('a caller that is gone while it waits is not written; one whose batch is under way is', async () => {
  const first = gate();
  const { batches, submit } = writer((_, nth) => (nth === 1 ? first.promise : undefined));
  const [one, two] = [new AbortController(), new AbortController()];
  const all = [submit(1, one.signal), submit(2, two.signal), submit(3)];
  one.abort();
  two.abort();
  first.resolve();
  expect(await settled(all)).toEqual(['10', 'CallerGone', '30']);
  expect(batches).toEqual([[1], [3]]);
  await expect(submit(4, two.signal)).rejects.toBeInstanceOf(CallerGone);
});

test('a group whose lock takes too long waits in its own lane, and the others go on', async () => {
  const [arrived, release] = [gate(), gate()];
  const locked = new Set(['a']);
  const batches: (readonly string[])[] = [];
  const submit = groupCommit(
    async (items: readonly string[]) => {
      batches.push(items);
      if (items.some((item) => locked.has(item.slice(0, 1)))) {
        arrived.resolve();
        // It is asked again and again, which must not keep the others from running.
        if (batches.length > 10) await release.promise;
        throw failing('55P03');
      }
      return items;
    },
    { groupOf: (item) => item.slice(0, 1), mostLanes: 1 },
  );
  const stuck = submit('a1');
  await arrived.promise;
  const others = ['b1', 'c1'].map((item) => submit(item));
  const alsoStuck = submit('a2');
  expect(await settled(others)).toEqual(['b1', 'c1']);
  expect(await settled([submit('b2')])).toEqual(['b2']);
  locked.clear();
  release.resolve();
  expect(await settled([stuck, alsoStuck])).toEqual(['a1', 'a2']);
  expect(batches.filter((batch) => batch.includes('b2'))).toEqual([['b2']]);
});

test('items that share a batch with a locked one are written in their own lanes, and the locked one is a 503 in the end', async () => {
  const first = gate();
  const submit = groupCommit(
    async (items: readonly string[]) => {
      if (items.includes('first')) await first.promise;
      if (items.includes('locked')) throw failing('55P03');
      return items;
    },
    { groupOf: (item) => item, mostLanes: 2 },
  );
  const all = ['first', 'x', 'locked', 'y'].map((item) => submit(item));
  first.resolve();
  expect(await settled(all)).toEqual(['first', 'x', 'unavailable', 'y']);
  expect(await settled([submit('z')])).toEqual(['z']);
});
