/** What a subscription's retries do next, and what an operator's message to them means. @module */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { giveUp, parseEndpointTarget, retryNow } from '../../../src/domains/delivery/webhooks/endpoint.messages.ts';
import {
  type EndpointFacts,
  nextEndpointStep,
  waitForPlaceMs,
} from '../../../src/domains/delivery/webhooks/endpoint.rules.ts';
import { bounded } from '../../../src/kernel/bounded.ts';
import { day, later, longestWaitMs, minute, second } from '../../../src/kernel/instant.ts';

const now = new Date('2026-11-20T08:00:00Z');
const perReceiver = 100;
const idle: EndpointFacts = {
  isPaused: false,
  waiting: 0,
  nextAttemptAt: null,
  underWay: 0,
  orphaned: 0,
  leaseLeftMs: 0,
  openRequests: 0,
  unansweredInRow: 0,
};
const dueIn = (ms: number): EndpointFacts => ({ ...idle, waiting: 3, nextAttemptAt: later(now, ms) });
const next = (facts: EndpointFacts) => nextEndpointStep(facts, perReceiver, now);

describe('the next step', () => {
  test.each<[string, EndpointFacts, object]>([
    ['nothing waits', idle, { kind: 'final' }],
    ['due later', dueIn(minute), { kind: 'wait', waitMs: minute }],
    ['due now', dueIn(0), { kind: 'attempt' }],
    [
      'due, and some under way',
      { ...dueIn(-1), underWay: 4, openRequests: 4, leaseLeftMs: second },
      { kind: 'attempt' },
    ],
    ['due after the longest timer', dueIn(90 * day), { kind: 'wait', waitMs: longestWaitMs }],
    ['all under way', { ...idle, underWay: 2, openRequests: 2, leaseLeftMs: 9_000 }, { kind: 'wait', waitMs: 9_000 }],
    ['a holder died', { ...idle, orphaned: 1 }, { kind: 'attempt' }],
    ['paused', { ...dueIn(0), isPaused: true }, { kind: 'wait', waitMs: 5 * minute }],
    ['first attempts have all places but those for retries', { ...dueIn(0), openRequests: 100 }, { kind: 'attempt' }],
    [
      'retries have theirs',
      { ...dueIn(0), underWay: 5, openRequests: 100, leaseLeftMs: 7_000 },
      { kind: 'wait', waitMs: 7_000 },
    ],
    ['a first attempt probes', { ...dueIn(0), unansweredInRow: 5, openRequests: 1 }, { kind: 'full' }],
    [
      'own attempts have all places',
      { ...dueIn(0), underWay: 60, openRequests: 100, leaseLeftMs: 20_000 },
      { kind: 'wait', waitMs: 20_000 },
    ],
    ['probed and free', { ...dueIn(0), unansweredInRow: 5 }, { kind: 'attempt' }],
    [
      'probed and probing',
      { ...dueIn(0), unansweredInRow: 5, underWay: 1, openRequests: 1, leaseLeftMs: 30_000 },
      { kind: 'wait', waitMs: 30_000 },
    ],
  ])('%s', (_, facts, step) => {
    expect(next(facts)).toMatchObject(step);
  });

  const anyFacts: fc.Arbitrary<EndpointFacts> = fc
    .record({
      isPaused: fc.boolean(),
      waiting: fc.nat(5),
      dueInMs: fc.integer({ min: -day, max: 60 * day }),
      underWay: fc.nat(3),
      orphaned: fc.nat(2),
      leaseLeftMs: fc.integer({ min: 0, max: 45_000 }),
      others: fc.nat(120),
      unansweredInRow: fc.nat(8),
    })
    .map(({ dueInMs, others, ...rest }) => ({
      ...rest,
      nextAttemptAt: rest.waiting === 0 ? null : later(now, dueInMs),
      openRequests: rest.underWay + others,
    }));

  test('it ends exactly when no delivery waits, never attempts beyond the free places, and never waits past a due time', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const { kind, waitMs } = next(facts);
        expect(kind === 'final').toBe(facts.waiting + facts.underWay + facts.orphaned === 0);
        const places = facts.unansweredInRow >= 5 ? 1 : perReceiver;
        const areTheirsTaken = places === 1 || facts.underWay >= 5;
        if (kind === 'attempt' && areTheirsTaken) expect(facts.openRequests).toBeLessThan(places);
        if (kind !== 'wait') return;
        expect(waitMs).toBeGreaterThan(0);
        expect(waitMs).toBeLessThanOrEqual(longestWaitMs);
        const untilDueMs = facts.waiting > 0 ? (facts.nextAttemptAt?.getTime() ?? 0) - now.getTime() : longestWaitMs;
        if (untilDueMs > 0 && facts.orphaned === 0) expect(waitMs).toBeLessThanOrEqual(untilDueMs);
        if (facts.underWay > 0) expect(waitMs).toBeLessThanOrEqual(Math.max(second, facts.leaseLeftMs));
      }),
    );
  });

  test('polls without a result become rarer, down to once a minute', () => {
    expect([0, 1, 2, 3, 4, 5, 6, 60].map(waitForPlaceMs)).toEqual(
      [2, 4, 8, 16, 32, 60, 60, 60].map((seconds) => seconds * second),
    );
  });
});

describe("an operator's message", () => {
  test.each([
    [undefined, null],
    [null, null],
    ['all', null],
    [{ delivery: 'all' }, null],
    ['whd_01kaftm3w0e6r8t9y0b1c2d3e4', 'whd_01kaftm3w0e6r8t9y0b1c2d3e4'],
    [{ delivery: 'whd_01kaftm3w0e6r8t9y0b1c2d3e4', by: 'anna' }, 'whd_01kaftm3w0e6r8t9y0b1c2d3e4'],
  ])('%j is understood', (sent, deliveryId) => {
    expect(parseEndpointTarget(giveUp, sent)).toEqual({ deliveryId });
  });

  test.each([
    [{}],
    [{ delivrey: 'whd_01kaftm3w0e6r8t9y0b1c2d3e4' }],
    [{ unreadable: true }],
    [{ delivery: null }],
    [{ delivery: ['whd_01kaftm3w0e6r8t9y0b1c2d3e4'] }],
    [{ delivery: 'wh_01kaftm3w0e6r8t9y0b1c2d3e4' }],
    [''],
    ['ALL THE THINGS'],
    [`whd_${'x'.repeat(10_000)}`],
    [true],
    [7],
    [[]],
  ])('%j is ignored, and named', (sent) => {
    expect(parseEndpointTarget(retryNow, sent)).toEqual({
      ignored: expect.stringMatching(/^retry-now was ignored: send/),
    });
  });

  test('no input throws, and only an id or an empty input changes deliveries', () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withDate: true, withNullPrototype: true }), (sent) => {
        const parsed = parseEndpointTarget(giveUp, bounded(sent));
        expect(JSON.stringify(parsed).length).toBeLessThan(200);
        if ('deliveryId' in parsed && parsed.deliveryId !== null) expect(parsed.deliveryId).toMatch(/^whd_[0-9a-z]+$/);
      }),
    );
  });
});
