/**
 * Goal: the page of a subscription shows every attempt of its period once, in the right part, and writes figures as people
 * do. Method: properties over random hours, and examples of the words.
 * @module
 */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { niceTop, plotOf } from '../../../src/domains/delivery/webhook-pages/attempt.plot.ts';
import {
  defaultLinkHours,
  type HourOfAttempts,
  hostOf,
  longestLinkHours,
  partsOf,
  periods,
  spanOf,
  sumOf,
} from '../../../src/domains/delivery/webhook-pages/webhook-page.rules.ts';
import { ageInWords, tookInWords } from '../../../src/domains/delivery/webhook-pages/webhook-page.words.ts';
import { day, hour } from '../../../src/kernel/instant.ts';

const instants = fc.date({ min: new Date('2020-01-01'), max: new Date('2040-01-01'), noInvalidDate: true });
const period = fc.constantFrom(...periods);

/** Hours on both sides of the present, some of them outside every period. */
const hoursAround = (now: Date): fc.Arbitrary<HourOfAttempts[]> =>
  fc.uniqueArray(
    fc
      .record({
        place: fc.integer({ min: -200, max: 2 }),
        attempts: fc.integer({ min: 1, max: 10_000 }),
        failures: fc.nat(10_000),
        answered: fc.nat(10_000),
        answerMs: fc.nat(1_000_000),
        slowestMs: fc.nat(30_000),
      })
      .map(({ place, ...one }) => ({
        ...one,
        failures: Math.min(one.failures, one.attempts),
        answered: Math.min(one.answered, one.attempts),
        hour: new Date((Math.floor(now.getTime() / hour) + place) * hour),
      })),
    { selector: ({ hour: at }) => at.getTime(), maxLength: 60 },
  );

describe('parts of a period', () => {
  test('they are equal, follow one another, end after the present and cover the length of the period', () => {
    fc.assert(
      fc.property(instants, period, (now, of) => {
        const span = spanOf(of, now);
        const parts = partsOf(span, []);
        expect(parts).toHaveLength(of === '24h' ? 24 : 28);
        expect(span.to.getTime() - span.from.getTime()).toBe(of === '24h' ? day : 7 * day);
        expect(parts[0]?.from).toEqual(span.from);
        expect(parts.at(-1)?.from.getTime()).toBeLessThanOrEqual(now.getTime());
        expect(span.to.getTime()).toBeGreaterThan(now.getTime());
        for (const { from } of parts) expect(from.getTime() % span.partMs).toBe(0);
      }),
    );
  });

  test('every attempt of the span is in exactly the part in which its hour is, and none of outside is', () => {
    fc.assert(
      fc.property(
        instants.chain((now) => fc.tuple(fc.constant(now), hoursAround(now))),
        period,
        ([now, hours], of) => {
          const span = spanOf(of, now);
          const within = hours.filter(({ hour: at }) => at >= span.from && at < span.to);
          const parts = partsOf(span, hours);
          for (const { from, attempts, failures } of parts) {
            const own = within.filter(({ hour: at }) => at >= from && at.getTime() < from.getTime() + span.partMs);
            expect(attempts).toBe(own.reduce((sum, one) => sum + one.attempts, 0));
            expect(failures).toBe(own.reduce((sum, one) => sum + one.failures, 0));
          }
          expect(parts.reduce((sum, one) => sum + one.attempts, 0)).toBe(sumOf(within).attempts);
        },
      ),
    );
  });

  test('mean and slowest count answers alone, and are unknown without one', () => {
    const at = new Date('2026-11-22T10:00:00Z');
    const silent = { hour: at, attempts: 3, failures: 3, answered: 0, answerMs: 0, slowestMs: 0 };
    expect(sumOf([silent])).toEqual({ attempts: 3, failures: 3, meanMs: null, slowestMs: null });
    const answered = { hour: at, attempts: 3, failures: 0, answered: 3, answerMs: 100, slowestMs: 70 };
    expect(sumOf([silent, answered])).toEqual({ attempts: 6, failures: 3, meanMs: 33, slowestMs: 70 });
  });
});

test('a link lasts for a week, and at most for thirty days', () => {
  expect([defaultLinkHours, longestLinkHours]).toEqual([168, 720]);
  expect(periods).toEqual(['24h', '7d']);
});

test('an hour that has just begun opens the last part', () => {
  const now = new Date('2026-11-22T12:00:00Z');
  expect(spanOf('24h', now)).toEqual({
    ...{ from: new Date('2026-11-21T13:00:00Z'), to: new Date('2026-11-22T13:00:00Z'), partMs: hour },
  });
  expect(spanOf('7d', now)).toEqual({
    ...{ from: new Date('2026-11-15T18:00:00Z'), to: new Date('2026-11-22T18:00:00Z'), partMs: 6 * hour },
  });
});

describe('words', () => {
  test.each([
    [1, 1],
    [2, 2],
    [3, 5],
    [10, 10],
    [11, 20],
    [99, 100],
    [5_001, 10_000],
  ])('the axis of %d ends at %d', (value, top) => {
    expect(niceTop(value)).toBe(top);
  });

  test('the axis ends at the value or above it, and at most at two and a half times the value', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000_000 }), (value) => {
        expect(niceTop(value)).toBeGreaterThanOrEqual(value);
        expect(niceTop(value)).toBeLessThanOrEqual(2.5 * value);
      }),
    );
  });

  test.each([
    [0, '0 ms'],
    [999, '999 ms'],
    [1_000, '1 s'],
    [1_250, '1.3 s'],
    [30_000, '30 s'],
  ])('%d ms is %s', (ms, words) => {
    expect(tookInWords(ms)).toBe(words);
  });

  test.each([
    ['2026-11-22T11:59:30Z', 'just now'],
    ['2026-11-22T11:50:00Z', '10 min ago'],
    ['2026-11-22T09:00:00Z', '3 h ago'],
    ['2026-11-21T12:00:00Z', '1 day ago'],
    ['2026-11-12T12:00:00Z', '10 days ago'],
    ['2026-11-22T12:00:05Z', 'just now'],
  ])('%s is %s', (iso, words) => {
    expect(ageInWords(iso, '2026-11-22T12:00:00Z')).toBe(words);
  });

  test.each([
    ['https://hooks.acme.com/in/s3cret?key=1', 'hooks.acme.com'],
    ['https://hooks.acme.com:8443/x', 'hooks.acme.com:8443'],
    ['no url', 'unknown host'],
  ])('of %s the page shows %s', (url, host) => {
    expect(hostOf(url)).toBe(host);
  });
});

test('a single failure among many attempts is visible, and a part without attempts has no bar', () => {
  const at = new Date('2026-11-22T10:00:00Z');
  const span = spanOf('24h', at);
  const hours = [{ hour: at, attempts: 100_000, failures: 1, answered: 100_000, answerMs: 5_000_000, slowestMs: 80 }];
  const parts = partsOf(span, hours).map(({ from, ...sum }) => ({ from: from.toISOString(), ...sum }));
  const { text } = plotOf({ parts, period: '24h', whole: sumOf(hours) });
  const heights = [...text.matchAll(/<rect class="(answered|failed)"[^>]* height="([\d.]+)"/g)].map(
    ([, kind, tall]) => [kind, Number(tall)],
  );
  expect(heights).toEqual([
    ['answered', expect.closeTo(200, 0)],
    ['failed', 4],
  ]);
  expect(text).not.toMatch(/NaN|Infinity/);
  expect(text).toContain('100,000 attempts, of which 1 failed');
});
