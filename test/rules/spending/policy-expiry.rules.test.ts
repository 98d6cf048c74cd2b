/** When a policy expires, and what its process does at each instant. @module */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { evaluateSpending } from '../../../src/domains/spending/policies/policy.rules.ts';
import {
  afterExpiry,
  expiryOf,
  isPolicyExpired,
  nextExpiryStep,
} from '../../../src/domains/spending/policies/policy-expiry.rules.ts';
import { later, minute } from '../../../src/kernel/instant.ts';
import { facts, policy } from './spending.arbitraries.ts';

const longestWaitMs = 1_000_000;
const instant = fc.date({ min: new Date('2026-01-01'), max: new Date('2027-12-31'), noInvalidDate: true });
const stepAt = (of: Parameters<typeof nextExpiryStep>[0], at: Date, isAgentThere = true) =>
  nextExpiryStep(of, { isAgentThere, at, longestWaitMs });

test('it expires exactly its minutes after the last change', () => {
  const updatedAt = new Date('2026-05-04T12:00:00.000Z');
  expect(expiryOf({ updatedAt, expiresAfterMinutes: 60 })).toEqual(new Date('2026-05-04T13:00:00.000Z'));
  expect(expiryOf({ updatedAt, expiresAfterMinutes: null })).toBeNull();
  expect(isPolicyExpired({ updatedAt, expiresAfterMinutes: 60 }, new Date('2026-05-04T12:59:59.999Z'))).toBe(false);
  expect(isPolicyExpired({ updatedAt, expiresAfterMinutes: 60 }, new Date('2026-05-04T13:00:00.000Z'))).toBe(true);
  expect(isPolicyExpired({ updatedAt, expiresAfterMinutes: null }, new Date('2126-05-04'))).toBe(false);
});

test('an expired policy allows no payment, before and after its expiry was carried out', () => {
  fc.assert(
    fc.property(facts, (given) => {
      if (given.policy !== null && isPolicyExpired(given.policy, given.at))
        expect(evaluateSpending(given).outcome).toBe('deny');
    }),
    { numRuns: 1_000 },
  );
});

describe('its process', () => {
  test('acts only after the expiry, never twice, and waits no longer than the remaining time', () => {
    fc.assert(
      fc.property(policy, fc.option(instant), instant, fc.boolean(), (of, expiredAt, at, isThere) => {
        const step = stepAt({ ...of, expiredAt }, at, isThere);
        if (step.kind === 'expire') {
          expect([isPolicyExpired(of, at), expiredAt, isThere]).toEqual([true, null, true]);
        }
        if (step.kind === 'final') expect(of.expiresAfterMinutes).toBeNull();
        if (step.kind === 'wait' && !isPolicyExpired(of, at)) {
          const leftMs = (expiryOf(of)?.getTime() ?? 0) - at.getTime();
          expect(step.waitMs).toBe(Math.min(leftMs, longestWaitMs));
        }
      }),
      { numRuns: 1_000 },
    );
  });

  test('waiting for the returned time leads to the expiry, from any instant', () => {
    fc.assert(
      fc.property(instant, fc.integer({ min: 1, max: 500 }), (updatedAt, expiresAfterMinutes) => {
        const of = { updatedAt, expiresAfterMinutes, expiredAt: null };
        let at = updatedAt;
        for (let looks = 0; looks < 100; looks++) {
          const step = stepAt(of, at);
          if (step.kind === 'expire') break;
          if (step.kind === 'wait') at = later(at, step.waitMs);
        }
        expect(at).toEqual(later(updatedAt, expiresAfterMinutes * minute));
      }),
    );
  });

  test('acts at the very instant of the expiry', () => {
    const at = new Date('2026-05-04T12:00:00.000Z');
    const of = { updatedAt: later(at, -minute), expiresAfterMinutes: 1, expiredAt: null };
    expect(stepAt(of, at)).toEqual({ kind: 'expire' });
    expect(stepAt(of, later(at, -1))).toEqual({ kind: 'wait', waitMs: 1 });
  });

  test('tells what lets the agent pay again', () => {
    expect(afterExpiry).toEqual({
      freeze: 'change the policy, then unfreeze the cards',
      close: 'change the policy, then issue a new card',
      notify: 'change the policy',
    });
  });

  test('ends without a policy; an agent that is being created is checked again later', () => {
    const at = new Date('2026-05-04T12:00:00.000Z');
    expect(stepAt(null, at)).toEqual({ kind: 'final' });
    const expired = { updatedAt: later(at, -2 * minute), expiresAfterMinutes: 1, expiredAt: null };
    expect(stepAt(expired, at, false)).toEqual({ kind: 'wait', waitMs: minute });
    expect(stepAt(expired, at)).toEqual({ kind: 'expire' });
    expect(stepAt({ ...expired, expiredAt: at }, at)).toEqual({ kind: 'expired' });
  });
});
