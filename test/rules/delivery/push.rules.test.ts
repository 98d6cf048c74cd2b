/**
 * Goal: the answer of a push service decides the outcome of a message, and no message is sent after it has expired.
 * Method: properties over every answer, and examples of the retry times.
 * @module
 */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  disabledInWords,
  notificationOf,
  pushOutcome,
  retryAfterMsOf,
  topicOf,
  whyNotKeys,
} from '../../../src/domains/delivery/push-subscriptions/push.rules.ts';
import { hour, later, minute } from '../../../src/kernel/instant.ts';

const now = new Date('2026-11-22T12:00:00Z');
const message = (attempts: number, expiresAt = later(now, 24 * hour)) => ({ attempts, expiresAt });

test('every answer has one outcome, and a retry is due in the future and before the message expires', () => {
  const status = fc.option(fc.integer({ min: 100, max: 599 }));
  const header = fc.option(fc.oneof(fc.nat().map(String), fc.string()));
  const left = fc.integer({ min: 0, max: 24 * hour });
  fc.assert(
    fc.property(status, header, fc.integer({ min: 1, max: 50 }), left, (code, retryAfter, attempts, leftMs) => {
      const expiresAt = later(now, leftMs);
      const outcome = pushOutcome({ status: code, retryAfter }, { attempts, expiresAt }, now);
      const isTaken = code !== null && code >= 200 && code < 300;
      expect(outcome.kind === 'delivered').toBe(isTaken);
      expect(outcome.kind === 'gone').toBe(code === 404 || code === 410);
      if (outcome.kind !== 'retry') return;
      expect(+outcome.at).toBeGreaterThanOrEqual(+now + minute);
      expect(+outcome.at).toBeLessThan(+expiresAt);
      expect(code === null || code === 408 || code === 429 || code >= 500).toBe(true);
    }),
  );
});

test('only 404 and 410 end a subscription, and only a 2xx is a delivery', () => {
  const every = Array.from({ length: 500 }, (_, n) => 100 + n);
  const statusesOf = (kind: string) =>
    every.filter((status) => pushOutcome({ status, retryAfter: null }, message(1), now).kind === kind);
  expect(statusesOf('gone')).toEqual([404, 410]);
  expect(statusesOf('delivered')).toEqual(every.filter((status) => status >= 200 && status < 300));
  expect(statusesOf('retry')).toEqual(every.filter((status) => status === 408 || status === 429 || status >= 500));
});

test('the gaps grow from a minute to an hour, and a later time of the service counts', () => {
  const gaps = [1, 2, 3, 4, 9].map((attempts) => {
    const outcome = pushOutcome({ status: 503, retryAfter: null }, message(attempts), now);
    return outcome.kind === 'retry' ? (+outcome.at - +now) / minute : outcome.kind;
  });
  expect(gaps).toEqual([1, 5, 15, 60, 60]);
  const asked = pushOutcome({ status: 429, retryAfter: '7200' }, message(1), now);
  expect(asked).toEqual({ kind: 'retry', at: later(now, 2 * hour), deviceWaitsUntil: later(now, 2 * hour) });
  expect(pushOutcome({ status: 429, retryAfter: '10' }, message(1), now)).toEqual({
    kind: 'retry',
    at: later(now, minute),
    deviceWaitsUntil: later(now, 10_000),
  });
  expect(pushOutcome({ status: 413, retryAfter: null }, message(1), now)).toEqual({ kind: 'failed' });
});

test('a push service that does not answer, or asks for nothing, makes only its message wait, and not the device', () => {
  for (const status of [null, 503]) {
    expect(pushOutcome({ status, retryAfter: null }, message(1), now)).toEqual({
      ...{ kind: 'retry', at: later(now, minute), deviceWaitsUntil: null },
    });
  }
});

test('Retry-After is read as seconds and as a date', () => {
  expect(retryAfterMsOf('120', now)).toBe(120_000);
  expect(retryAfterMsOf('Sun, 22 Nov 2026 12:01:00 GMT', now)).toBe(60_000);
  for (const nothing of [null, '', '-1', 'soon', 'Sun, 22 Nov 2020 12:01:00 GMT']) {
    expect(retryAfterMsOf(nothing, now)).toBeNull();
  }
});

test('only keys that a browser makes are taken', () => {
  const p256dh = Buffer.concat([Buffer.of(4), Buffer.alloc(64, 1)]).toString('base64url');
  const auth = Buffer.alloc(16).toString('base64url');
  expect(whyNotKeys({ p256dh, auth })).toBeUndefined();
  expect(whyNotKeys({ p256dh: Buffer.alloc(65, 2).toString('base64url'), auth })).toMatch(/p256dh/);
  expect(whyNotKeys({ p256dh, auth: Buffer.alloc(15).toString('base64url') })).toMatch(/auth/);
});

test('a notification has amount and path, and never the origin of the link', () => {
  const asked = { kind: 'approval', subjectId: 'int_12345678', amountEuros: '80.00', detail: null } as const;
  const { url, body } = notificationOf(asked, 'https://pay.example.com/approve/0123');
  expect([url, body]).toEqual(['/approve/0123', 'A payment of 80.00 EUR waits for your decision.']);
  expect(notificationOf({ ...asked, amountEuros: null }, undefined)).toMatchObject({ url: null, tag: 'int_12345678' });
});

test('the notification about a disabled webhook names the host and the reason, and opens no page', () => {
  const detail = disabledInWords('hooks.example.com', 'the receiver answered 410 Gone');
  expect(notificationOf({ kind: 'webhook', subjectId: 'wh_12345678', amountEuros: null, detail }, undefined)).toEqual({
    title: 'Webhook disabled',
    body: 'Events are no longer sent to hooks.example.com: the receiver answered 410 Gone.',
    tag: 'wh_12345678',
    url: null,
  });
});

test('a retry is made before the message expires, and none at its expiry', () => {
  const outcome = (leftMs: number) =>
    pushOutcome({ status: 503, retryAfter: null }, message(1, later(now, leftMs)), now).kind;
  expect([outcome(minute), outcome(minute + 1)]).toEqual(['failed', 'retry']);
});

test('the time that a push service asks for is a number of at most seven digits, or a date', () => {
  expect(retryAfterMsOf('9999999', now)).toBe(9_999_999_000);
  for (const nothing of ['0', '10x', 'x10', '1.5', 'Sun, 22 Nov 2026 12:00:00 GMT'])
    expect([nothing, retryAfterMsOf(nothing, now)]).toEqual([nothing, null]);
});

test('keys of another length or form are refused with the length that they must have', () => {
  const p256dh = Buffer.concat([Buffer.of(4), Buffer.alloc(64, 1)]).toString('base64url');
  const auth = Buffer.alloc(16).toString('base64url');
  const point = 'keys.p256dh must be an uncompressed point of P-256 (65 bytes)';
  for (const length of [63, 65]) {
    const other = Buffer.concat([Buffer.of(4), Buffer.alloc(length, 1)]).toString('base64url');
    expect(whyNotKeys({ p256dh: other, auth })).toBe(point);
  }
  expect(whyNotKeys({ p256dh: Buffer.alloc(65, 2).toString('base64url'), auth })).toBe(point);
  expect(whyNotKeys({ p256dh, auth: Buffer.alloc(17).toString('base64url') })).toBe('keys.auth must be 16 bytes');
});

test('each kind of notification has its words', () => {
  const of = (kind: 'approval' | 'webhook' | 'risk' | 'test') => {
    const facts = { kind, subjectId: 'int_12345678', amountEuros: null, detail: null };
    const { title, body } = notificationOf(facts, undefined);
    return [title, body];
  };
  expect(of('approval')).toEqual(['Your approval is needed', 'A request waits for your decision.']);
  expect(of('webhook')).toEqual(['Webhook disabled', 'Nothing is sent to a receiver any more.']);
  expect(of('risk')).toEqual(['Risk alert', 'Bursar noticed something unusual about an agent or a payment.']);
  expect(of('test')).toEqual(['Bursar', 'Notifications reach this device.']);
});

test('a topic is 32 characters that push services take, another one for each subject and kind, and names neither', () => {
  const topics = [topicOf('approval', 'int_1'), topicOf('approval', 'int_2'), topicOf('risk', 'int_1')];
  expect(new Set(topics).size).toBe(3);
  for (const topic of topics) expect(topic).toMatch(/^[A-Za-z0-9_-]{32}$/);
  expect(topicOf('approval', 'int_1')).toBe(topics[0]);
});
