/** The dashboard's secret: what configuration may name, who is let in, and how guessing is slowed. @module */
import { describe, expect, test } from '@jest/globals';
import {
  createDashboardSecret,
  readDashboardSecrets,
} from '../../../src/domains/identity/credentials/dashboard-secret.ts';

const right = 'a'.repeat(32);
const former = 'b'.repeat(32);
const client = '203.0.113.7';

describe('valid configuration', () => {
  test('none, one, or two during a rotation', () => {
    expect(readDashboardSecrets(undefined)).toEqual([]);
    expect(readDashboardSecrets('')).toEqual([]);
    expect(readDashboardSecrets(right)).toEqual([right]);
    expect(readDashboardSecrets(`${right}, ${former}`)).toEqual([right, former]);
  });
  test('not three, and none under 32 bytes', () => {
    expect(() => readDashboardSecrets([right, former, right].join(','))).toThrow(/two values/);
    expect(() => readDashboardSecrets('a'.repeat(31))).toThrow(/32 bytes/);
    expect(() => readDashboardSecrets(`${right},short`)).toThrow(/32 bytes/);
  });
});

describe('accepted secrets', () => {
  test('both values during a rotation, and no other', () => {
    const isDashboard = createDashboardSecret(`${right},${former}`);
    expect(isDashboard(right, client)).toBe(true);
    expect(isDashboard(former, client)).toBe(true);
    for (const wrong of ['', right.slice(1), `${right}a`, `${right},${former}`, right.toUpperCase()]) {
      expect(isDashboard(wrong, client)).toBe(false);
    }
  });
  test('no secret is accepted while no value is configured, not even an empty one', () => {
    const isDashboard = createDashboardSecret(undefined);
    expect(isDashboard('', client)).toBe(false);
    expect(isDashboard(right, client)).toBe(false);
  });
});

describe('guessing', () => {
  const tooMany = expect.objectContaining({ code: 'rate_limited', retryAfterSeconds: 60 });
  test('after ten wrong ones in a minute a further wrong one is too many; the right one is accepted all the while', () => {
    let now = 1_000_000;
    const isDashboard = createDashboardSecret(`${right},${former}`, () => now);
    for (let i = 0; i < 10; i++)
      expect([isDashboard('wrong', client), isDashboard(right, client)]).toEqual([false, true]);
    for (let i = 0; i < 1_000; i++) {
      expect(() => isDashboard('wrong', client)).toThrow(tooMany);
      expect([isDashboard(right, client), isDashboard(former, client)]).toEqual([true, true]);
    }
    now += 60_000;
    expect(isDashboard('wrong', client)).toBe(false);
  });
  test('right secrets do not count against the limit', () => {
    const isDashboard = createDashboardSecret(right);
    for (let i = 0; i < 50; i++) expect(isDashboard(right, client)).toBe(true);
  });
  test('one address does not slow another; an IPv6 network counts as one', () => {
    const isDashboard = createDashboardSecret(right);
    for (let i = 0; i < 10; i++) isDashboard('wrong', `2001:db8:1:2::${i}`);
    expect(() => isDashboard('wrong', '2001:db8:1:2::ffff')).toThrow(expect.objectContaining({ code: 'rate_limited' }));
    expect(isDashboard('wrong', '2001:db8:1:3::1')).toBe(false);
    expect(isDashboard('wrong', client)).toBe(false);
    for (let i = 0; i < 9; i++) isDashboard('wrong', client);
    expect(() => isDashboard('wrong', `::ffff:${client}`)).toThrow(expect.objectContaining({ code: 'rate_limited' }));
  });
  test('failures from very many addresses are dropped, not stored', () => {
    const isDashboard = createDashboardSecret(right);
    for (let i = 0; i < 25_000; i++) isDashboard('wrong', `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`);
    expect(isDashboard(right, client)).toBe(true);
  });
});
