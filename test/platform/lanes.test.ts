/**
 * Goal: batches form from what waits, what may not be under way together is not, and what is late is refused. Method:
 * batches that end when the test says so.
 * @module
 */
import { expect, test } from '@jest/globals';
import { inLanes, type Outcome } from '../../src/db/lanes.ts';

type Item = { readonly id: string; readonly group: string };
const item = (id: string, group = id): Item => ({ id, group });
const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

type Limits = {
  lanes?: number;
  atOnce?: number;
  mostWaiting?: number;
  withinMs?: number;
  fewestBeside?: number;
  patienceMs?: number;
};

/** A further lane takes what is there, unless the test says how few are not worth it. */
function controlled(options: Limits = {}) {
  const batches: { ids: string[]; end: (outcomes?: Outcome<string>[]) => void; fail: (error: Error) => void }[] = [];
  const submit = inLanes(
    (items: readonly Item[]) => {
      const work = Promise.withResolvers<Outcome<string>[]>();
      const end = (outcomes = items.map(({ id }): Outcome<string> => ({ done: `${id} done` }))) =>
        work.resolve(outcomes);
      batches.push({ ids: items.map(({ id }) => id), end, fail: work.reject });
      return work.promise;
    },
    {
      withinMs: 60_000,
      tooLate: () => new Error('too late'),
      tooMany: () => new Error('too many'),
      keyOf: ({ id }) => id,
      groupOf: ({ group }) => group,
      fewestBeside: 1,
      ...options,
    },
  );
  return { batches, submit, ids: () => batches.map(({ ids }) => ids) };
}

test('what comes while the lanes are busy forms the next batch, of as many as fit', async () => {
  const { batches, submit, ids } = controlled({ atOnce: 2 });
  const all = ['a', 'b', 'c', 'd', 'e'].map((id) => submit(item(id)));
  expect(ids()).toEqual([['a'], ['b']]);
  batches[1]?.end();
  await settled();
  expect(ids()).toEqual([['a'], ['b'], ['c', 'd']]);
  batches[0]?.end();
  await settled();
  expect(ids().at(-1)).toEqual(['e']);
  batches[2]?.end();
  batches[3]?.end();
  expect(await Promise.all(all)).toEqual(['a', 'b', 'c', 'd', 'e'].map((id) => `${id} done`));
});

test('beside a lane that works, a batch begins once enough wait; alone, it begins with what is there', async () => {
  const { batches, submit, ids } = controlled({ fewestBeside: 3, patienceMs: 60_000 });
  const all = ['a', 'b', 'c'].map((id) => submit(item(id)));
  await settled();
  expect(ids()).toEqual([['a']]);
  all.push(submit(item('d')), submit(item('e')));
  expect(ids()).toEqual([['a'], ['b', 'c', 'd']]);
  batches[0]?.end();
  await settled();
  expect(ids()).toHaveLength(2);
  batches[1]?.end();
  await settled();
  expect(ids().at(-1)).toEqual(['e']);
  batches[2]?.end();
  await Promise.all(all);
});

test('a batch that hangs keeps the next one for as long as its first item has patience, and no longer', async () => {
  const { batches, submit, ids } = controlled({ fewestBeside: 3, patienceMs: 5 });
  const all = [submit(item('a')), submit(item('b'))];
  expect(ids()).toEqual([['a']]);
  while (ids().length < 2) await settled();
  expect(ids()).toEqual([['a'], ['b']]);
  // What is decided again has waited before.
  all.push(submit(item('c')));
  batches[1]?.end([{ again: 'b' }]);
  await settled();
  expect(ids().at(-1)).toEqual(['b', 'c']);
  for (const { end } of batches) end();
  await Promise.all(all);
});

test('two of one key are never under way together, and those of a group in one batch only', async () => {
  const { batches, submit, ids } = controlled();
  const all = [item('a'), item('a', 'of the repeat'), item('b', 'g'), item('c', 'g'), item('d')].map(submit);
  expect(ids()).toEqual([['a'], ['b']]);
  batches[0]?.end();
  await settled();
  expect(ids()).toEqual([['a'], ['b'], ['a', 'd']]);
  batches[1]?.end();
  await settled();
  expect(ids().at(-1)).toEqual(['c']);
  batches[2]?.end();
  batches[3]?.end();
  await Promise.all(all);
});

test('a batch has a few of a group, and what has to be decided again comes in its place by arrival', async () => {
  const { batches, submit, ids } = controlled({ lanes: 1 });
  const all = [item('x'), ...['1', '2', '3', '4', '5'].map((id) => item(id, 'g')), item('y')].map(submit);
  batches[0]?.end();
  await settled();
  expect(ids().at(-1)).toEqual(['1', '2', '3', '4', 'y']);
  batches[1]?.end([{ done: '1' }, { again: 'g' }, { again: 'g' }, { done: '4' }, { done: 'y' }]);
  await settled();
  expect(ids().at(-1)).toEqual(['2', '3', '5']);
  batches[2]?.end();
  expect(await Promise.all(all)).toEqual(['x done', '1', '2 done', '3 done', '4', '5 done', 'y']);
});

test('what has to be decided again is of the group that it collided with, and strangers end within two batches', async () => {
  const { batches, submit, ids } = controlled({ lanes: 1 });
  const agentOf = (id: string) => id.split('-')[0] as string;
  // One approval of an agent in a batch, as the decisions have it.
  const endAll = async (at: number) => {
    const paid = new Set<string>();
    const outcomes = (ids()[at] as string[]).map((id): Outcome<string> => {
      if (paid.has(agentOf(id))) return { again: `agent/${agentOf(id)}` };
      paid.add(agentOf(id));
      return { done: id };
    });
    batches[at]?.end(outcomes);
    await settled();
  };
  const ended: string[] = [];
  const take = (id: string, group: string) => submit(item(id, group)).then((done) => ended.push(done));
  const all = [take('first', 'first')];
  for (let i = 0; i < 32; i++) all.push(take(`busy-${i}`, `card/${i % 8}`));
  for (let i = 0; i < 32; i++) all.push(take(`stranger${i}`, `card/of-${i}`));
  await endAll(0);
  await endAll(1);
  expect(ended).toEqual(['first', 'busy-0']);
  expect(ids()[2]?.slice(0, 5)).toEqual(['busy-1', 'busy-2', 'busy-3', 'busy-4', 'stranger0']);
  await endAll(2);
  await endAll(3);
  expect(ended.filter((id) => id.startsWith('stranger'))).toHaveLength(32);
  // Each batch ends one of them at least, those that came first before the others.
  for (let at = 4; at < ids().length; at++) await endAll(at);
  await Promise.all(all);
  expect(ended.filter((id) => id.startsWith('busy'))).toEqual(Array.from({ length: 32 }, (_, i) => `busy-${i}`));
});

test('a group that an item has moved to is free again after its batch, and the one that it left is not kept', async () => {
  const { batches, submit, ids } = controlled();
  const all = [item('a', 'card/1'), item('b', 'card/2'), item('c', 'card/1')].map(submit);
  batches[0]?.end([{ again: 'agent/x' }]);
  await settled();
  expect(ids()).toEqual([['a'], ['b'], ['a', 'c']]);
  batches[1]?.end([{ again: 'agent/x' }]);
  await settled();
  expect(ids()).toHaveLength(3);
  batches[2]?.end();
  await settled();
  expect(ids().at(-1)).toEqual(['b']);
  batches[3]?.end();
  expect(await Promise.all(all)).toEqual(['a done', 'b done', 'c done']);
});

test('a batch that fails fails its items alone, and so does one without a outcome for each', async () => {
  const { batches, submit } = controlled({ lanes: 1 });
  const all = ['a', 'b', 'c'].map((id) => submit(item(id)).catch(({ message }: Error) => message));
  batches[0]?.fail(new Error('away'));
  await settled();
  batches[1]?.end([{ done: 'b' }]);
  expect(await Promise.all(all)).toEqual(['away', '2 items have 1 outcomes', '2 items have 1 outcomes']);
  const next = submit(item('d'));
  batches[2]?.end();
  expect(await next).toBe('d done');
});

test('what has not begun in time is refused while the lanes hang, and what has begun is not', async () => {
  const { batches, submit, ids } = controlled({ lanes: 1, withinMs: 50 });
  const first = submit(item('a'));
  await expect(submit(item('b'))).rejects.toThrow('too late');
  const third = submit(item('c'));
  batches[0]?.end([{ again: 'a' }]);
  await settled();
  expect(ids()[1]?.[0]).toBe('a');
  batches[1]?.end();
  expect(await first).toBe('a done');
  await settled();
  batches[2]?.end();
  await third.catch(() => undefined); // In time or not: the machine may have slept.
});

test('what a batch leaves has as long again, and is refused then', async () => {
  const { batches, submit, ids } = controlled({ lanes: 1, withinMs: 20 });
  const first = submit(item('a'));
  const leftAt = performance.now();
  batches[0]?.end([{ again: 'a' }]);
  await settled();
  const second = submit(item('b', 'a')).catch((error: Error) => error.message);
  expect(ids()).toEqual([['a'], ['a']]);
  // It is left again and again, and its group is under way in no batch but its own.
  const last = first.then(
    () => 'done',
    (error: Error) => error.message,
  );
  while (performance.now() < leftAt + 200 && batches.length < 1_000) {
    batches.at(-1)?.end([{ again: 'a' }, { again: 'a' }].slice(0, batches.at(-1)?.ids.length));
    await settled();
  }
  expect(await Promise.all([last, second])).toEqual(['too late', 'too late']);
  expect(performance.now() - leftAt).toBeGreaterThanOrEqual(40);
});

test('what comes when too many wait is refused at once', async () => {
  const { batches, submit } = controlled({ lanes: 1, mostWaiting: 1 });
  const all = [submit(item('a')), submit(item('b'))];
  await expect(submit(item('c'))).rejects.toThrow('too many');
  batches[0]?.end();
  await settled();
  batches[1]?.end();
  await Promise.all(all);
});

test('lanes are full once as many wait as may, and not before', async () => {
  const { batches, submit } = controlled({ lanes: 1, atOnce: 2, mostWaiting: 2 });
  const all = ['a', 'b'].map((id) => submit(item(id)));
  expect(submit.isFull()).toBe(false);
  all.push(submit(item('c')));
  expect(submit.isFull()).toBe(true);
  await expect(submit(item('d'))).rejects.toThrow('too many');
  batches[0]?.end();
  await settled();
  expect(submit.isFull()).toBe(false);
  batches[1]?.end();
  await Promise.all(all);
});

test('what would wait for most of its time is refused at once, until a batch begins early again', async () => {
  const { batches, submit } = controlled({ lanes: 1, atOnce: 2, withinMs: 2_000 });
  const all = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((id) => submit(item(id)));
  expect(submit.isFull()).toBe(false);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  // The next one begins after three quarters of its time, and others stay behind it.
  batches[0]?.end();
  await settled();
  expect(submit.isFull()).toBe(true);
  await expect(submit(item('late'))).rejects.toThrow('too many');
  batches[1]?.end();
  await settled();
  // Fewer than a batch wait.
  batches[2]?.end();
  await settled();
  expect(submit.isFull()).toBe(false);
  all.push(submit(item('h')));
  for (let n = 3; n < 6; n++) {
    batches[n]?.end();
    await settled();
  }
  await Promise.all(all);
});

test('long queues of as many groups as fill a batch refuse nobody else', async () => {
  const { batches, submit } = controlled({ lanes: 1, atOnce: 8, withinMs: 1_000 });
  const hot = Array.from({ length: 40 }, (_, n) => submit(item(`h${n}`, `hot ${n % 2}`)).catch(String));
  await new Promise((resolve) => setTimeout(resolve, 800));
  batches[0]?.end();
  await settled();
  // Of two groups, four each: full, and what stays is of these groups.
  expect([batches[1]?.ids.length, submit.isFull()]).toEqual([8, false]);
  const other = submit(item('b'));
  for (let n = 1; n < 20; n++) {
    batches[n]?.end();
    await settled();
  }
  expect(await other).toBe('b done');
  await Promise.all(hot);
});

test('items of one group that wait for each other refuse nobody else', async () => {
  const { batches, submit } = controlled({ lanes: 1, atOnce: 16, withinMs: 200 });
  const all = Array.from({ length: 40 }, (_, n) => submit(item(`a${n}`, 'hot')).catch((error: Error) => error.message));
  await new Promise((resolve) => setTimeout(resolve, 160));
  batches[0]?.end();
  await settled();
  // Four of the group are a batch that is not full: another card is begun with the next one.
  expect(submit.isFull()).toBe(false);
  const other = submit(item('b'));
  batches[1]?.end();
  await settled();
  expect(batches[2]?.ids).toContain('b');
  batches[2]?.end();
  expect(await other).toBe('b done');
  await new Promise((resolve) => setTimeout(resolve, 100));
  for (const batch of batches.slice(3)) batch.end();
  await Promise.all(all);
});
