/** Tiers, gaps, what counts as delivered, and how a delivery ends. @module */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  afterAttempt,
  deliveryStatuses,
  evaluateAttempt,
  gapAfter,
  isFinalDelivery,
  lostStatus,
  plans,
  retryAfterMs,
  tierOf,
  whyNotRedelivered,
} from '../../../src/domains/delivery/webhooks/delivery.rules.ts';
import type { Outcome } from '../../../src/domains/delivery/webhooks/webhook.rules.ts';
import { day, hour, minute, second } from '../../../src/kernel/instant.ts';

const now = new Date('2026-11-20T10:00:00.000Z');
const plan = fc.constantFrom(...plans);
const attempt = fc.integer({ min: 1, max: 5 });
const outcome = fc.constantFrom<Outcome>('success', 'failure', 'timeout', 'gone');

describe('tiers', () => {
  test.each([
    ['free', 'basic', 1, false],
    ['starter', 'full', 1, false],
    ['business', 'full_retry', 5, false],
    ['enterprise', 'full_dlq', 5, true],
    ['constructor', 'basic', 1, false],
  ])('%s has %s', (name, tier, maxAttempts, hasDeadLetters) => {
    expect(tierOf(name)).toEqual({ name: tier, maxAttempts, hasDeadLetters });
  });
});

describe('gaps', () => {
  test('1 minute, 5 minutes, 15 minutes, 1 hour, 4 hours', () => {
    expect([1, 2, 3, 4, 5, 6].map((n) => gapAfter(n))).toEqual(
      [1, 5, 15, 60, 240, 240].map((minutes) => minutes * minute),
    );
  });

  test('a receiver may ask for a longer gap, never for a shorter one, and for a day at most', () => {
    fc.assert(
      fc.property(attempt, fc.nat(10 * day), (n, asked) => {
        const gap = gapAfter(n, asked);
        expect(gap).toBeGreaterThanOrEqual(gapAfter(n));
        expect(gap).toBeLessThanOrEqual(Math.max(gapAfter(n), day));
        if (asked <= day) expect(gap).toBeGreaterThanOrEqual(asked);
      }),
    );
  });

  test.each([
    ['120', 2 * minute],
    [' 5 ', 5 * second],
    ['0', 0],
    ['Fri, 20 Nov 2026 11:00:00 GMT', hour],
    ['Fri, 20 Nov 2026 09:00:00 GMT', 0],
    ['-5', 0],
    ['1.5', 0],
    ['soon', 0],
    ['Fri, nonsense', 0],
    ['20 Nov 2026 11:00:00 GMT', 0],
    ['in 5', 0],
    ['5 s', 0],
    ['99999999999999999999', day],
    ['', 0],
    [undefined, 0],
  ])('Retry-After %p is %p ms', (header, ms) => {
    expect(retryAfterMs(header, now)).toBe(ms);
  });
});

describe('evaluating an attempt', () => {
  // spec: limit:Webhook acknowledgement:2xx within 30 seconds
  test('exactly 2xx is delivered', () => {
    for (let status = 100; status < 600; status++) {
      const evaluated = evaluateAttempt({ status, timedOut: false, failure: null });
      expect(evaluated.outcome === 'success').toBe(status >= 200 && status < 300);
      expect(evaluated.error === null).toBe(evaluated.outcome === 'success');
    }
  });

  test('a 2xx whose body broke off or never ended is an acknowledgement', () => {
    expect(evaluateAttempt({ status: 204, timedOut: true, failure: 'late' }).outcome).toBe('success');
  });

  test('410 means gone, a redirect is named, and a missing answer has its reason', () => {
    expect(evaluateAttempt({ status: 410, timedOut: false, failure: null })).toEqual({
      outcome: 'gone',
      error: 'answered 410 Gone',
    });
    expect(evaluateAttempt({ status: 302, timedOut: false, failure: null }).error).toBe(
      'answered 302; redirects are not followed',
    );
    expect(evaluateAttempt({ status: null, timedOut: true, failure: 'too slow' })).toEqual({
      outcome: 'timeout',
      error: 'too slow',
    });
    expect(evaluateAttempt({ status: null, timedOut: false, failure: 'refused' })).toEqual({
      outcome: 'unreachable',
      error: 'refused',
    });
    expect(evaluateAttempt({ status: 500, timedOut: true, failure: 'late' }).outcome).toBe('timeout');
    const plain = (status: number | null, timedOut = false) => evaluateAttempt({ status, timedOut, failure: null });
    expect(plain(500)).toEqual({ outcome: 'failure', error: 'answered 500, not 2xx' });
    expect(plain(304)).toEqual({ outcome: 'failure', error: 'answered 304; redirects are not followed' });
    expect([plain(299).outcome, plain(300).error]).toEqual(['success', 'answered 300; redirects are not followed']);
    expect([plain(399).error, plain(400).error, plain(199).error]).toEqual([
      'answered 399; redirects are not followed',
      'answered 400, not 2xx',
      'answered 199, not 2xx',
    ]);
    expect(plain(null, true)).toEqual({ outcome: 'timeout', error: 'no answer in time' });
    expect(plain(null)).toEqual({ outcome: 'unreachable', error: 'no answer' });
  });
});

describe('after an attempt', () => {
  const standing = fc.record({ plan, attempt, outcome, retryAfterMs: fc.nat(2 * day), isOpen: fc.boolean() });

  test('a success is final, whatever the plan, the attempt and the subscription', () => {
    fc.assert(
      fc.property(standing, (given) => {
        expect(afterAttempt({ ...given, outcome: 'success' }, now)).toEqual({ status: 'succeeded' });
      }),
    );
  });

  test('never more attempts than the tier has, none after 410 or for a closed subscription', () => {
    fc.assert(
      fc.property(standing, (given) => {
        const after = afterAttempt(given, now);
        if (after.status !== 'pending') return;
        expect(given.attempt).toBeLessThan(tierOf(given.plan).maxAttempts);
        expect(given.outcome).not.toBe('gone');
        expect(given.isOpen).toBe(true);
        expect(after.nextAttemptAt.getTime() - now.getTime()).toBe(gapAfter(given.attempt, given.retryAfterMs));
      }),
    );
  });

  test('a failed delivery is a dead letter exactly where the plan has them', () => {
    fc.assert(
      fc.property(standing, (given) => {
        const after = afterAttempt(given, now);
        if (after.status === 'failed' || after.status === 'dead') expect(after.status).toBe(lostStatus(given.plan));
      }),
    );
    expect(plans.map(lostStatus)).toEqual(['failed', 'failed', 'failed', 'dead']);
    const last = { attempt: 5, outcome: 'failure', retryAfterMs: 0, isOpen: true } as const;
    expect(afterAttempt({ ...last, plan: 'enterprise' }, now)).toEqual({ status: 'dead' });
    expect(afterAttempt({ ...last, plan: 'business' }, now)).toEqual({ status: 'failed' });
  });

  // spec: limit:Webhook attempts:1 (basic full) 5 (full_retry full_dlq)
  test('a receiver that always fails is tried exactly as often as the tier says, over 1 h 21 min', () => {
    for (const name of plans) {
      let attempts = 0;
      let at = now;
      for (;;) {
        attempts++;
        const after = afterAttempt(
          { plan: name, attempt: attempts, outcome: 'failure', retryAfterMs: 0, isOpen: true },
          at,
        );
        if (after.status !== 'pending') break;
        at = after.nextAttemptAt;
      }
      expect(attempts).toBe(tierOf(name).maxAttempts);
      expect(at.getTime() - now.getTime()).toBe(attempts === 1 ? 0 : 81 * minute);
    }
  });

  test('pending and delivering are open, the others final', () => {
    expect(deliveryStatuses.filter((status) => !isFinalDelivery(status))).toEqual(['pending', 'delivering']);
  });
});

test('the gaps may be configured: the last one counts for all later attempts, and Retry-After makes one longer', () => {
  const gapsMs = [1_000, 2_000];
  expect([1, 2, 3, 9].map((attempt) => gapAfter(attempt, 0, gapsMs))).toEqual([1_000, 2_000, 2_000, 2_000]);
  expect(gapAfter(1, 1_500, gapsMs)).toBe(1_500);
  const failed = { plan: 'enterprise', attempt: 2, outcome: 'failure', retryAfterMs: 0, isOpen: true, gapsMs } as const;
  expect(afterAttempt(failed, now)).toEqual({ status: 'pending', nextAttemptAt: new Date(now.getTime() + 2_000) });
});

test.each([
  ['pending', 'active', false, 'it is still pending; wait until it is over'],
  ['delivering', 'active', false, 'it is still delivering; wait until it is over'],
  ['dead', 'active', true, 'its subscription was deleted'],
  ['failed', 'paused', false, 'its subscription is paused; make it active first'],
  ['succeeded', 'disabled', false, 'its subscription is disabled; make it active first'],
] as const)(
  'a delivery that is %s, of a subscription that is %s, is not made again',
  (state, status, isDeleted, why) => {
    expect(whyNotRedelivered(state, { status, isDeleted }, true)).toBe(why);
  },
);

test('every final delivery of an active subscription can be made again', () => {
  for (const state of ['succeeded', 'failed', 'dead'] as const) {
    expect(whyNotRedelivered(state, { status: 'active', isDeleted: false }, true)).toBeUndefined();
    expect(whyNotRedelivered(state, { status: 'active', isDeleted: false }, false)).toBe(
      'its event is not kept any more',
    );
  }
});
