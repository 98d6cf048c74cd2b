/** The dashboard's secret: what configuration may name, who is let in, and how guessing is slowed. @module */
import { describe, expect, test } from '@jest/globals';
import {
  createDashboardSecret,
  readDashboardSecrets,
} from '../../../src/domains/identity/credentials/dashboard-secret.ts';

const right = 'a'.repeat(32);
const former = 'b'.repeat(32);
const client = '203.0.113.7';

describe('what configuration may name', () => {
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

describe('who is let in', () => {
  test('both values during a rotation, nothing else', () => {
    const isDashboard = createDashboardSecret(`${right},${former}`);
    expect(isDashboard(right, client)).toBe(true);
    expect(isDashboard(former, client)).toBe(true);
    for (const wrong of ['', right.slice(1), `${right}a`, `${right},${former}`, right.toUpperCase()]) {
      expect(isDashboard(wrong, client)).toBe(false);
    }
  });
  test('nobody while no value is configured, not even with an empty secret', () => {
    const isDashboard = createDashboardSecret(undefined);
    expect(isDashboard('', client)).toBe(false);
    expect(isDashboard(right, client)).toBe(false);
  });
});

describe('guessing', () => {
  test('the eleventh try within a minute is refused unread, and a minute later it is read again', () => {
    let now = 1_000_000;
    const isDashboard = createDashboardSecret(right, () => now);
    for (let i = 0; i < 10; i++) expect(isDashboard('wrong', client)).toBe(false);
    expect(() => isDashboard(right, client)).toThrow(
      expect.objectContaining({ code: 'rate_limited', retryAfterSeconds: 60 }),
    );
    now += 60_000;
    expect(isDashboard(right, client)).toBe(true);
  });
  test('right secrets cost nothing', () => {
    const isDashboard = createDashboardSecret(right);
    for (let i = 0; i < 50; i++) expect(isDashboard(right, client)).toBe(true);
  });
  test('one address does not lock out another; an IPv6 network counts as one', () => {
    const isDashboard = createDashboardSecret(right);
    for (let i = 0; i < 10; i++) isDashboard('wrong', `2001:db8:1:2::${i}`);
    expect(() => isDashboard(right, '2001:db8:1:2::ffff')).toThrow(expect.objectContaining({ code: 'rate_limited' }));
    expect(isDashboard(right, '2001:db8:1:3::1')).toBe(true);
    expect(isDashboard(right, client)).toBe(true);
    for (let i = 0; i < 10; i++) isDashboard('wrong', client);
    expect(() => isDashboard(right, `::ffff:${client}`)).toThrow(expect.objectContaining({ code: 'rate_limited' }));
  });
  test('a flood from very many addresses is forgotten, not kept', () => {
    const isDashboard = createDashboardSecret(right);
    for (let i = 0; i < 25_000; i++) isDashboard('wrong', `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`);
    expect(isDashboard(right, client)).toBe(true);
  });
});
