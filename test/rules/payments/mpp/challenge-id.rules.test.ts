/** The id of a challenge: vectors made with npm mppx 0.11.0, and what a changed part does. @module */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type BoundParts,
  challengeIdOf,
  isChallengeIdOf,
} from '../../../../src/domains/payments/mpp/challenge-id.rules.ts';

const secret = 'vector-secret-0123456789abcdef-0123456789';
const parts: BoundParts = {
  realm: 'api.shop.example',
  method: 'card',
  intent: 'charge',
  request:
    'eyJhbW91bnQiOiI0OTkiLCJjdXJyZW5jeSI6ImV1ciIsIm1ldGhvZERldGFpbHMiOnsiYWNjZXB0ZWROZXR3b3JrcyI6WyJ2aXNhIl0sIm1lcmNoYW50TmFtZSI6IkNhZsOpIMOcbsOvIn19',
};
const expires = '2030-01-01T00:00:00Z';
const header = 'Payment-Authorization';

describe('the id of a challenge', () => {
  test.each<[string, Partial<BoundParts>, string]>([
    ['required parts', {}, 'yNWWSxEpR7gVM9iQ3DbvS77hdUMOC5z_zSLziN4sy38'],
    ['expires', { expires }, 'qMHA-PSir7xZLqS6g52MJHAAuR2jrYsVO9E6R26syHQ'],
    [
      'expires and opaque',
      { expires, opaque: 'eyJhIjoiMSIsImIiOiIyIn0' },
      'A2HN-bi08bGZPs_4CasTYkrCL_BrGeAaljQUr3BYxE4',
    ],
    ['expires and header', { expires, header }, 'mNEozU2eQgvlLfciGJYWYaT8IijQAvbQzHUkarDDj8s'],
    [
      'every part',
      { expires, header, digest: 'sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:', opaque: 'eyJhIjoiMSJ9' },
      'GqdLUqhFZgrrOfyRj4UMHvJMRPLGQQ_EyGOxkIgKUvw',
    ],
  ])('equals the vector with %s', (_name, extra, id) => {
    expect(challengeIdOf(secret, { ...parts, ...extra })).toBe(id);
    expect(isChallengeIdOf(secret, { ...parts, ...extra }, id)).toBe(true);
  });

  test('changes with each part, and with the secret', () => {
    const word = fc.stringMatching(/^[a-z0-9]{1,12}$/);
    const whole = fc.record({
      realm: word,
      method: word,
      intent: word,
      request: word,
      expires: word,
      digest: word,
      header: word,
      opaque: word,
    });
    const name = fc.constantFrom('realm', 'method', 'intent', 'request', 'expires', 'digest', 'header', 'opaque');
    fc.assert(
      fc.property(whole, name, word, (given, changed, value) => {
        fc.pre(given[changed as keyof typeof given] !== value);
        const id = challengeIdOf(secret, given);
        expect(isChallengeIdOf(secret, { ...given, [changed]: value }, id)).toBe(false);
        expect(isChallengeIdOf(secret, { ...given, [changed]: undefined }, id)).toBe(false);
        expect(isChallengeIdOf(`${secret}2`, given, id)).toBe(false);
      }),
    );
  });

  test('needs a secret of 32 bytes, and a shortened id is no id', () => {
    expect(() => challengeIdOf('short', parts)).toThrow('a challenge secret has at least 32 bytes');
    expect(() => challengeIdOf('x'.repeat(31), parts)).toThrow('at least 32 bytes');
    expect(challengeIdOf('x'.repeat(32), parts)).toMatch(/^[\w-]{43}$/);
    const id = challengeIdOf(secret, parts);
    expect(isChallengeIdOf(secret, parts, id.slice(0, -1))).toBe(false);
    expect(isChallengeIdOf(secret, parts, '')).toBe(false);
  });
});
