/** Waiting calls are bounded: of one owner, and in all. @module */
import { expect, test } from '@jest/globals';
import { waitSlots } from '../../src/platform/wait-slots.ts';

test('an owner whose calls all wait keeps no other owner waiting, and a place comes back', () => {
  const take = waitSlots({ most: 3, mostOfOwner: 2 });
  const [first, second] = [take('one'), take('one')];
  expect(take('one')).toBeUndefined();
  const other = take('two');
  expect(other).toBeDefined();
  expect(take('three')).toBeUndefined();
  first?.();
  expect(take('three')).toBeDefined();
  second?.();
  other?.();
  expect(take('one')).toBeDefined();
});
