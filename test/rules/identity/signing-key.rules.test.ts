/** Goal: a new key is published before it signs, and exactly one signs. Method: random sets of keys. @module */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  activeFrom,
  keyPurposes,
  keySetCacheSeconds,
  keyThatSigns,
  publishedBeforeUseMs,
} from '../../../src/domains/identity/well-known/signing-key.rules.ts';

const instant = fc.date({ min: new Date(0), max: new Date(1_000), noInvalidDate: true });
const someKeys = fc.uniqueArray(fc.record({ kid: fc.stringMatching(/^[a-z]{3}$/), activeFrom: instant }), {
  selector: ({ kid }) => kid,
});

test('the key that signs is active, and no active key is younger', () => {
  fc.assert(
    fc.property(someKeys, instant, (keys, now) => {
      const active = keys.filter((key) => key.activeFrom <= now);
      const chosen = keyThatSigns(keys, now);
      if (chosen === undefined) return expect(active).toEqual([]);
      expect(active).toContain(chosen);
      expect(active.every((key) => key.activeFrom <= chosen.activeFrom)).toBe(true);
      expect(keyThatSigns(keys.toReversed(), now)).toBe(chosen);
    }),
  );
});

test('a key signs from its very instant on, and of two that are as old the one with the greater kid', () => {
  const now = new Date(1_000);
  const key = (kid: string, from: number) => ({ kid, activeFrom: new Date(from) });
  expect(keyThatSigns([key('a', 1_000)], now)?.kid).toBe('a');
  expect(keyThatSigns([key('a', 1_001)], now)).toBeUndefined();
  for (const keys of [
    [key('a', 1_000), key('b', 1_000)],
    [key('b', 1_000), key('a', 1_000)],
  ])
    expect(keyThatSigns(keys, now)?.kid).toBe('b');
  expect(keyThatSigns([key('a', 2), key('z', 1)], now)?.kid).toBe('a');
});

test('keys are published ten minutes before they sign, for caches of five minutes', () => {
  expect([keySetCacheSeconds, publishedBeforeUseMs]).toEqual([300, 600_000]);
  expect(keyPurposes).toEqual(['checkpoint', 'service', 'agent']);
});

test('a rotation changes the key that signs only after every cache has expired', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 * publishedBeforeUseMs }), (elapsedMs) => {
      const now = new Date(0);
      const first = { kid: 'a', activeFrom: activeFrom(now, true) };
      const next = { kid: 'b', activeFrom: activeFrom(now, false) };
      const signs = keyThatSigns([first, next], new Date(elapsedMs))?.kid;
      expect(signs).toBe(elapsedMs < publishedBeforeUseMs ? 'a' : 'b');
    }),
  );
  expect(publishedBeforeUseMs).toBeGreaterThan(keySetCacheSeconds * 1_000);
});
