/** Waiting calls are bounded: of one caller, of one owner, and in all. @module */
import { expect, test } from '@jest/globals';
import { waitSlots } from '../../src/platform/wait-slots.ts';

const of = (ownerId: string, callerId: string) => ({ ownerId, callerId });

test('an owner whose calls all wait keeps no other owner waiting, and a place comes back', () => {
  const take = waitSlots({ most: 3, mostOfOwner: 2 });
  const [first, second] = [take(of('one', 'a')), take(of('one', 'b'))];
  expect(take(of('one', 'c'))).toBeUndefined();
  const other = take(of('two', 'd'));
  expect(other).toBeDefined();
  expect(take(of('three', 'e'))).toBeUndefined();
  first?.();
  expect(take(of('three', 'e'))).toBeDefined();
  second?.();
  other?.();
  expect(take(of('one', 'c'))).toBeDefined();
});

test('one agent takes only a part of its owner’s places', () => {
  const take = waitSlots({ mostOfOwner: 3, mostOfCaller: 2 });
  const first = take(of('one', 'a'));
  expect(take(of('one', 'a'))).toBeDefined();
  expect(take(of('one', 'a'))).toBeUndefined();
  expect(take(of('one', 'b'))).toBeDefined();
  first?.();
  expect(take(of('one', 'a'))).toBeDefined();
});
