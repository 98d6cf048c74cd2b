/**
 * Goal: items that are added singly are processed once each, in order, in batches of limited size, and a failure reaches
 * the callers of its batch. Method: arbitrary bursts against work whose end the test decides.
 * @module
 */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { inBatches } from '../../../src/kernel/batches.ts';

const soon = () => new Promise<void>((resolve) => setImmediate(resolve));

test('each is done once and in order; a batch that fails fails those in it and no others', async () => {
  const bursts = fc.array(fc.record({ count: fc.nat(12), pauses: fc.nat(3) }), { minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(bursts, fc.integer({ min: 1, max: 5 }), fc.nat(7), async (asked, atOnce, failing) => {
      const batches: number[][] = [];
      let working = 0;
      const ask = inBatches<number>(
        async (items) => {
          working += 1;
          expect(working).toBe(1);
          batches.push([...items]);
          await soon();
          working -= 1;
          if (items.some((item) => item % 8 === failing)) throw new Error('failed');
        },
        { atOnce, mostWaiting: 1_000 },
      );
      const outcomes: Promise<boolean>[] = [];
      for (const { count, pauses } of asked) {
        for (let i = 0; i < count; i++) {
          outcomes.push(
            ask(outcomes.length).then(
              () => true,
              () => false,
            ),
          );
        }
        for (let i = 0; i < pauses; i++) await soon();
      }
      const done = await Promise.all(outcomes);
      expect(batches.flat()).toEqual(done.map((_, item) => item));
      for (const batch of batches) {
        expect(batch.length).toBeLessThanOrEqual(atOnce);
        const fails = batch.some((item) => item % 8 === failing);
        expect(batch.map((item) => done[item])).toEqual(batch.map(() => !fails));
      }
    }),
  );
});

test('the first item starts at once; an item beyond the limit is refused and dropped', async () => {
  const begun: number[][] = [];
  let end: () => void = () => undefined;
  const ask = inBatches<number>(
    (items) => {
      begun.push([...items]);
      return new Promise((resolve) => {
        end = resolve;
      });
    },
    { atOnce: 10, mostWaiting: 2 },
  );
  const first = ask(1);
  expect(begun).toEqual([[1]]);
  const others = [ask(2), ask(3)];
  await expect(ask(4)).rejects.toThrow('2 are waiting already');
  end();
  await first;
  await soon();
  expect(begun).toEqual([[1], [2, 3]]);
  end();
  await Promise.all(others);
  const later = ask(5);
  end();
  await later;
  expect(begun).toEqual([[1], [2, 3], [5]]);
});
