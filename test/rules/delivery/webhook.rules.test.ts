/** Which subscriptions are accepted, and when a failing receiver is disabled. @module */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  healthAfter,
  healthy,
  hintOf,
  type Outcome,
  wantedEvents,
  whyDisabled,
  whyNotHttps,
  whyNotSet,
} from '../../../src/domains/delivery/webhooks/webhook.rules.ts';
import { hour, later } from '../../../src/kernel/instant.ts';

const isKnown = (name: string): boolean => ['intent.created', 'card.frozen', 'card.shipped'].includes(name);
const now = new Date('2026-11-20T10:00:00.000Z');

describe('wanted events', () => {
  test('names of the catalog and "*" alone are taken, each once, in order', () => {
    expect(wantedEvents(['*'], isKnown)).toEqual({ events: ['*'] });
    expect(wantedEvents(['*', '*'], isKnown)).toEqual({ events: ['*'] });
    expect(wantedEvents(['card.frozen', 'intent.created', 'card.frozen'], isKnown)).toEqual({
      events: ['card.frozen', 'intent.created'],
    });
    expect(wantedEvents(['card.shipped'], isKnown)).toEqual({ events: ['card.shipped'] });
  });

  test.each([
    [[], 'name at least one event, or "*" for all'],
    [['*', 'card.frozen'], '"*" already means every event; send it alone or leave it out'],
    [['card.frozen', '*'], '"*" already means every event; send it alone or leave it out'],
    [['card.melted'], 'unknown event "card.melted"; use names of the event catalog'],
    [['card.frozen', 'intent.*', 'x'], 'unknown event "intent.*", "x"; use names of the event catalog'],
    [['CARD.FROZEN'], 'unknown event "CARD.FROZEN"; use names of the event catalog'],
    [[''], 'unknown event ""; use names of the event catalog'],
  ])('%j is refused', (names, refused) => {
    expect(wantedEvents(names, isKnown)).toEqual({ refused });
  });

  test('a refusal names at most five unknown names, none in full length', () => {
    const wanted = wantedEvents(
      Array.from({ length: 50 }, (_, i) => `${i}${'x'.repeat(100)}`),
      isKnown,
    );
    const named = [0, 1, 2, 3, 4].map((i) => `"${i}${'x'.repeat(59)}"`).join(', ');
    expect(wanted).toEqual({ refused: `unknown event ${named}; use names of the event catalog` });
  });
});

test('a subscription is paused and made active, and a disabled one is not paused', () => {
  const statuses = ['active', 'paused', 'disabled'] as const;
  const refused = statuses.flatMap((from) =>
    [...statuses, undefined].flatMap((to) =>
      whyNotSet(from, to) === undefined ? [] : [[from, to, whyNotSet(from, to)]],
    ),
  );
  const why = 'it is disabled, and nothing is sent anyway; set active first';
  expect(refused).toEqual([['disabled', 'paused', why]]);
});

test('a deployment may allow https only', () => {
  const why = "the URL's scheme is http, and this deployment delivers over https only (BURSAR_WEBHOOKS_HTTPS_ONLY=on)";
  expect(whyNotHttps('http://receiver.example/https:', true)).toBe(why);
  expect(whyNotHttps('HTTPS://receiver.example/', true)).toBeUndefined();
  expect(whyNotHttps('http://receiver.example/', false)).toBeUndefined();
});

test('a hint contains only the last four characters of the secret', () => {
  expect(hintOf('whsec_MTIzNDU2Nzg5MGFiY2RlZg==')).toBe('whsec_…Zg==');
});

describe('health', () => {
  const outcomes = fc.array(fc.constantFrom<Outcome>('success', 'failure', 'timeout', 'unreachable', 'gone'), {
    maxLength: 60,
  });

  test('a success resets the counts', () => {
    fc.assert(
      fc.property(outcomes, outcomes, (before, after) => {
        const whole = healthAfter(healthy, [...before, 'success', ...after], now);
        expect(whole).toEqual(healthAfter(healthy, after, now));
      }),
    );
  });

  test('two batches have the same result as one', () => {
    fc.assert(
      fc.property(outcomes, outcomes, (first, second) => {
        expect(healthAfter(healthAfter(healthy, first, now), second, now)).toEqual(
          healthAfter(healthy, [...first, ...second], now),
        );
      }),
    );
  });

  test('attempts in a row without an answer end with any answer', () => {
    expect(healthAfter(healthy, ['timeout', 'unreachable'], now)).toMatchObject({
      unansweredInRow: 2,
      failuresInRow: 2,
    });
    expect(healthAfter(healthy, ['timeout', 'failure'], now)).toMatchObject({ unansweredInRow: 0, failuresInRow: 2 });
    expect(healthAfter(healthy, ['unreachable', 'gone'], now)).toMatchObject({ unansweredInRow: 0, failuresInRow: 2 });
  });

  test('the first failure after a success sets `failingSince`', () => {
    const failed = healthAfter(healthy, ['failure'], now);
    expect(healthAfter(failed, ['failure'], later(now, hour)).failingSince).toEqual(now);
    expect(healthAfter(failed, ['success', 'failure'], later(now, hour)).failingSince).toEqual(later(now, hour));
  });

  test('a receiver is disabled after both twenty failures and 72 hours', () => {
    const failing = (failuresInRow: number, hours: number) =>
      whyDisabled({ failuresInRow, unansweredInRow: 0, failingSince: later(now, -hours * hour) }, ['failure'], now);
    expect(failing(19, 500)).toBeUndefined();
    expect(failing(500, 71.9)).toBeUndefined();
    expect(failing(20, 72)).toBe('20 failures in a row and none delivered for 72 h');
    expect(failing(500, 100.5)).toBe('500 failures in a row and none delivered for 100 h');
    expect(whyDisabled(healthy, ['success'], now)).toBeUndefined();
  });

  test('410 disables at once', () => {
    expect(whyDisabled(healthy, ['failure', 'gone'], now)).toBe('the receiver answered 410 Gone');
  });
});
