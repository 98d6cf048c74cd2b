/** Until when a token holds, and who gets one. @module */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  longestTokenDays,
  mayBeUsed,
  revokeToken,
  tokenExpiry,
  whyNoToken,
} from '../../../src/domains/identity/agent-tokens/agent-token.rules.ts';

const instant = fc.date({ min: new Date('2020-01-01'), max: new Date('2090-01-01'), noInvalidDate: true });
const days = fc.integer({ min: 1, max: longestTokenDays });

test('a token holds until its last millisecond and not one longer', () => {
  fc.assert(
    fc.property(instant, days, (now, length) => {
      const expiresAt = tokenExpiry(now, length) as Date;
      const state = { revokedAt: null, expiresAt };
      expect(expiresAt.getTime() - now.getTime()).toBe(length * 86_400_000);
      expect(mayBeUsed(state, new Date(expiresAt.getTime() - 1))).toBe(true);
      expect(mayBeUsed(state, expiresAt)).toBe(false);
    }),
  );
});

test('a revoked token is refused at any time', () => {
  fc.assert(
    fc.property(instant, instant, fc.option(instant), (revokedAt, now, expiresAt) => {
      expect(mayBeUsed({ revokedAt, expiresAt }, now)).toBe(false);
    }),
  );
});

test('a token without days never expires', () => {
  expect(tokenExpiry(new Date(), undefined)).toBeNull();
  expect(mayBeUsed({ revokedAt: null, expiresAt: null }, new Date('2999-01-01'))).toBe(true);
});

test('revoking twice moves once', () => {
  const once = revokeToken('active');
  expect(once).toEqual({ outcome: 'moved', next: 'revoked' });
  expect(revokeToken('revoked')).toEqual({ outcome: 'already', next: 'revoked' });
});

test('active and frozen agents get tokens, closed ones do not', () => {
  expect(whyNoToken('active')).toBeUndefined();
  expect(whyNoToken('frozen')).toBeUndefined();
  expect(whyNoToken('closed')).toBe('this agent is closed; its tokens are revoked and it gets no new ones');
});
