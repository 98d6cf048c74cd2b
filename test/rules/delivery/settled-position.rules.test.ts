/**
 * Goal: a number counts as settled only when no transaction that may have drawn it is still open, and every number
 * does in the end. Method: random histories of transactions that draw numbers and end, read at random moments.
 * @module
 */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createSettledPosition } from '../../../src/domains/delivery/events/settled-position.rules.ts';

type Step = { readonly kind: 'draw' | 'end' | 'look' | 'lookSlowly'; readonly writer: number };

const steps = fc.array(
  fc.record({
    kind: fc.constantFrom<Step['kind']>('draw', 'draw', 'end', 'look', 'lookSlowly'),
    writer: fc.nat(5),
  }),
  { maxLength: 200 },
);

test('no number of an open transaction is settled, and in the end every number is', () => {
  fc.assert(
    fc.property(steps, (history) => {
      const position = createSettledPosition();
      /** Each open transaction with the numbers that it has drawn. */
      const open = new Map<number, { id: string; numbers: number[] }>();
      let drawn = 0;
      let begun = 0;
      let last = 0;
      const draw = (writer: number) => {
        const transaction = open.get(writer) ?? { id: `t${begun++}`, numbers: [] };
        drawn += 1;
        transaction.numbers.push(drawn);
        open.set(writer, transaction);
      };
      const holders = () => new Set([...open.values()].map(({ id }) => id));
      for (const { kind, writer } of history) {
        if (kind === 'draw') draw(writer);
        if (kind === 'end') open.delete(writer);
        if (kind === 'look') position.see({ drawn, holders: holders() });
        if (kind === 'lookSlowly') {
          const before = drawn;
          draw(writer); // Between the two questions of a look.
          position.see({ drawn: before, holders: holders() });
        }
        const through = position.through() ?? 0;
        expect(through).toBeGreaterThanOrEqual(last);
        last = through;
        const unsettled = [...open.values()].flatMap(({ numbers }) => numbers);
        expect(unsettled.filter((number) => number <= through)).toEqual([]);
      }
      open.clear();
      position.see({ drawn, holders: new Set() });
      expect(position.through()).toBe(drawn);
    }),
  );
});

test('a transaction that stays open delays the position, and only for as long as it is open', () => {
  const position = createSettledPosition();
  for (let drawn = 1; drawn <= 100; drawn++) position.see({ drawn, holders: new Set(['stuck', `t${drawn}`]) });
  expect(position.through()).toBeUndefined();
  // Sixteen moments wait at most: the others were not noted, and the next one is.
  position.see({ drawn: 101, holders: new Set(['t101']) });
  expect(position.through()).toBe(16);
  position.see({ drawn: 102, holders: new Set(['t102']) });
  expect(position.through()).toBe(101);
  position.see({ drawn: 103, holders: new Set() });
  expect(position.through()).toBe(103);
});

test('a moment waits for its own holders, and later ones for theirs', () => {
  const position = createSettledPosition();
  position.see({ drawn: 1, holders: new Set(['a']) });
  position.see({ drawn: 2, holders: new Set(['b']) });
  position.see({ drawn: 3, holders: new Set(['b', 'c']) });
  expect(position.through()).toBe(1);
  position.see({ drawn: 4, holders: new Set(['c']) });
  expect(position.through()).toBe(2);
  position.see({ drawn: 5, holders: new Set(['d']) });
  expect(position.through()).toBe(4);
});

test('looks between which nothing was drawn do not take the places of others', () => {
  const position = createSettledPosition();
  const stuck = new Set(['stuck']);
  for (const drawn of [1, 2, 3]) for (let look = 0; look < 20; look++) position.see({ drawn, holders: stuck });
  position.see({ drawn: 4, holders: stuck });
  position.see({ drawn: 5, holders: new Set(['another']) });
  expect(position.through()).toBe(4);
});

test('before anything is known there is no position, and a sequence without numbers is settled', () => {
  const position = createSettledPosition();
  expect(position.through()).toBeUndefined();
  position.see({ drawn: 7, holders: new Set(['open']) });
  expect(position.through()).toBeUndefined();
  position.see({ drawn: 9, holders: new Set(['another']) });
  expect(position.through()).toBe(7);
  const empty = createSettledPosition();
  empty.see({ drawn: 0, holders: new Set(['open']) });
  expect(empty.through()).toBe(0);
});
