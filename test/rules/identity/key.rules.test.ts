/** Whose key a new one may be, and that an owner is never left without any. @module */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ownerOfNewKey, revokeKey, whyUnfitKey } from '../../../src/domains/identity/keys/key.rules.ts';
import type { Id } from '../../../src/kernel/ids.ts';

const owner = fc.constantFrom<Id<'owner'>>('own_aaaaaaaa', 'own_bbbbbbbb', 'own_cccccccc');
const maybeOwner = fc.option(owner, { nil: undefined });

describe('the owner of a new key', () => {
  test('a key never creates one for another owner', () => {
    fc.assert(
      fc.property(owner, maybeOwner, (acting, wanted) => {
        const choice = ownerOfNewKey({ acting, isDashboard: false, wanted });
        if (wanted === undefined || wanted === acting) expect(choice).toEqual({ kind: 'owner', ownerId: acting });
        else expect(choice).toMatchObject({ kind: 'refused', code: 'forbidden' });
      }),
    );
  });

  test('the dashboard creates keys for the owner that it names, or for a new owner', () => {
    fc.assert(
      fc.property(maybeOwner, maybeOwner, (acting, wanted) => {
        const choice = ownerOfNewKey({ acting, isDashboard: true, wanted });
        const named = [...new Set([acting, wanted].filter((id) => id !== undefined))];
        if (named.length === 0) expect(choice).toEqual({ kind: 'new owner' });
        if (named.length === 1) expect(choice).toEqual({ kind: 'owner', ownerId: named[0] });
        if (named.length === 2) expect(choice).toMatchObject({ kind: 'refused', code: 'invalid_request' });
      }),
    );
  });
});

describe('revoking a key', () => {
  test('one live key always remains, whatever order they are revoked in', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(4), { maxLength: 20 }), (order) => {
        const live = new Set([0, 1, 2, 3, 4]);
        for (const key of order) {
          const move = revokeKey(live.has(key) ? 'live' : 'revoked', live.size);
          if (move.outcome === 'moved') live.delete(key);
        }
        expect(live.size).toBeGreaterThanOrEqual(1);
      }),
    );
  });

  test('a revoked key never changes again', () => {
    fc.assert(
      fc.property(fc.nat(5), (liveKeys) => {
        expect(revokeKey('revoked', liveKeys)).toEqual({ outcome: 'already', next: 'revoked' });
      }),
    );
  });

  test('the last active key cannot be revoked, and the error names the remedy', () => {
    expect(revokeKey('live', 1)).toMatchObject({ outcome: 'refused', why: expect.stringContaining('create another') });
  });
});

describe('a key that configuration names', () => {
  test('must be of the mode', () => {
    expect(whyUnfitKey('sk_live_0123456789012345', 'sandbox', false)).toMatch(
      /must begin with sk_sandbox_ or sk_test_/,
    );
    expect(whyUnfitKey('sk_test_0123456789012345', 'live', false)).toMatch(/must begin with sk_live_ or sk_/);
  });
  test('must be long enough, in live as long as ours', () => {
    expect(whyUnfitKey('sk_test_01234567', 'sandbox', true)).toBeUndefined();
    expect(whyUnfitKey('sk_test_0123456', 'sandbox', true)).toMatch(/16 characters/);
    expect(whyUnfitKey('sk_live_01234567890123456789', 'live', true)).toMatch(/40 characters/);
    expect(whyUnfitKey(`sk_live_${'a'.repeat(32)}`, 'live', true)).toBeUndefined();
  });
  test('must be what a bearer header can carry', () => {
    expect(whyUnfitKey('sk_test_with a space inside', 'sandbox', true)).toMatch(/letters, digits/);
  });
});

describe('a refusal', () => {
  const own: Id<'owner'> = 'own_aaaaaaaa';
  const other: Id<'owner'> = 'own_bbbbbbbb';

  test('of a key for another owner says what to leave out', () => {
    expect(ownerOfNewKey({ acting: own, isDashboard: false, wanted: other })).toEqual({
      ...{ kind: 'refused', code: 'forbidden' },
      why: 'a key makes keys for its own owner only; leave ownerId out',
    });
    expect(ownerOfNewKey({ acting: own, isDashboard: true, wanted: other })).toEqual({
      ...{ kind: 'refused', code: 'invalid_request' },
      why: 'ownerId and the header X-Owner-Id name different owners',
    });
  });

  test('to revoke the last key is one sentence, and one of two is revoked', () => {
    expect(revokeKey('live', 1)).toEqual({
      ...{ outcome: 'refused', why: 'this is the owner’s last live key; create another one first' },
    });
    expect(revokeKey('live', 2)).toEqual({ outcome: 'moved', next: 'revoked' });
  });

  test('of a key by configuration names the variable', () => {
    expect(whyUnfitKey('x', 'sandbox', false)).toBe('BURSAR_API_KEY must begin with sk_sandbox_ or sk_test_');
    expect(whyUnfitKey('x', 'live', false)).toBe('BURSAR_API_KEY must begin with sk_live_ or sk_');
    const form = 'BURSAR_API_KEY must be 8 to 200 letters, digits, _ or -';
    for (const key of ['sk_test', `sk_test_${'a'.repeat(193)}`, '!sk_test_0123456789', 'sk_test_0123456789!'])
      expect(whyUnfitKey(key, 'sandbox', true)).toBe(form);
    expect(whyUnfitKey(`sk_test_${'a'.repeat(192)}`, 'sandbox', true)).toBeUndefined();
    expect(whyUnfitKey('sk_test_0123456', 'sandbox', true)).toBe('BURSAR_API_KEY must have 16 characters or more');
    expect(whyUnfitKey(`sk_live_${'a'.repeat(31)}`, 'live', true)).toBe(
      'BURSAR_API_KEY must have 40 characters or more',
    );
  });
});
