/** Goal: a consumer of the feed gets each event once and can stop at any time. Method: the iterator over made-up pages. @module */
import { expect, test } from '@jest/globals';
import { eventsAfter, type FeedPage } from '../../sdk/src/feed.ts';

const page = (data: readonly number[], position: number, hasMore = false): FeedPage<number> => ({
  data,
  position,
  hasMore,
});

test('goes on behind the position of each answer, and ends when its consumer leaves', async () => {
  const pages = [page([], 4), page([5, 6], 6, true), page([], 8, true), page([9], 9), page([11], 11)];
  const asked: string[] = [];
  const read = async (after: string) => pages[asked.push(after) - 1] ?? page([], 99);
  const seen: number[] = [];
  for await (const event of eventsAfter('now', { read })) {
    seen.push(event);
    if (event === 11) break;
  }
  expect(seen).toEqual([5, 6, 9, 11]);
  expect(asked).toEqual(['now', '4', '6', '8', '9']);
});

test('a signal ends it while it waits, with its own reason', async () => {
  const ended = new AbortController();
  const reason = new Error('the program ends');
  let reads = 0;
  const read = async () => {
    reads += 1;
    setImmediate(() => ended.abort(reason));
    return page([], 7);
  };
  await expect(eventsAfter(7, { read, signal: ended.signal }).next()).rejects.toBe(reason);
  expect(reads).toBe(1);
  await expect(eventsAfter(7, { read, signal: ended.signal }).next()).rejects.toBe(reason);
  expect(reads).toBe(1);
});

test('what the service refuses is thrown, so that the consumer goes on from where it stored', async () => {
  const read = async () => Promise.reject(new Error('unauthorized'));
  await expect(eventsAfter(0, { read }).next()).rejects.toThrow('unauthorized');
});
