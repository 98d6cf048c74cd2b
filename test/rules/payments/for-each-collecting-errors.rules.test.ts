/** A sweep does what it can: one item that fails stops no other, and a database that is away stops it at once. @module */
import { expect, test } from '@jest/globals';
import { forEachCollectingErrors } from '../../../src/usecases/payments/for-each-collecting-errors.ts';

const failing = (fails: ReadonlyMap<number, Error>) => {
  const done: number[] = [];
  const work = async (item: number) => {
    const error = fails.get(item);
    if (error !== undefined) throw error;
    done.push(item);
  };
  return { done, work };
};

test('the others are done, and each failure is answered', async () => {
  const [one, other] = [new Error('one'), new Error('other')];
  const { done, work } = failing(
    new Map([
      [1, one],
      [3, other],
    ]),
  );
  expect(await forEachCollectingErrors([1, 2, 3, 4], work)).toEqual([one, other]);
  expect(done).toEqual([2, 4]);
});

test('nothing more is tried when the database is away', async () => {
  const away = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
  const { done, work } = failing(new Map([[2, away]]));
  await expect(forEachCollectingErrors([1, 2, 3], work)).rejects.toBe(away);
  expect(done).toEqual([1]);
});
