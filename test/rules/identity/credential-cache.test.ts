/** What is remembered of credentials: a second at most, and nothing that a change has overtaken. @module */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createCredentialCache } from '../../../src/domains/identity/credentials/credential-cache.ts';

test('nothing is cached while no listener receives changes', () => {
  const cache = createCredentialCache<string>();
  cache.remember('h', 'owner', cache.age());
  expect(cache.recall('h')).toBeUndefined();
  cache.listening(true);
  cache.remember('h', 'owner', cache.age());
  expect(cache.recall('h')).toBe('owner');
  cache.listening(false);
  expect(cache.recall('h')).toBeUndefined();
});

test('a second is the longest', () => {
  let now = 0;
  const cache = createCredentialCache<string>(() => now);
  cache.listening(true);
  cache.remember('h', 'owner', cache.age());
  now = 999;
  expect(cache.recall('h')).toBe('owner');
  now = 1_000;
  expect(cache.recall('h')).toBeUndefined();
});

test('an answer from before a change is not cached after it', () => {
  const cache = createCredentialCache<string>();
  cache.listening(true);
  const age = cache.age();
  cache.forget();
  cache.remember('h', 'owner', age);
  expect(cache.recall('h')).toBeUndefined();
});

type Step = { kind: 'look up' | 'answer' | 'revoke' | 'recall' | 'wait' | 'listen' | 'deafen' };

test('in any order of events no revoked credential is cached after its notification', () => {
  const step = fc.constantFrom<Step['kind']>('look up', 'answer', 'revoke', 'recall', 'wait', 'listen', 'deafen');
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let now = 0;
      let isLive = true;
      let pending: { age: number; found: boolean } | undefined;
      const cache = createCredentialCache<string>(() => now);
      for (const kind of steps) {
        if (kind === 'look up') pending = { age: cache.age(), found: isLive };
        if (kind === 'answer' && pending?.found) cache.remember('h', 'owner', pending.age);
        if (kind === 'revoke') {
          isLive = false;
          cache.forget();
        }
        if (kind === 'wait') now += 400;
        if (kind === 'listen') cache.listening(true);
        if (kind === 'deafen') cache.listening(false);
        if (!isLive) expect(cache.recall('h')).toBeUndefined();
      }
    }),
  );
});
