/** Goal: every name has a slug, and two merchants never share one. Method: examples and random names. @module */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createInviteCodes } from '../../../src/domains/merchants/merchants/invite-codes.ts';
import {
  distinctSlug,
  isUsableKey,
  slugOf,
  statusOfKey,
} from '../../../src/domains/merchants/merchants/merchant.rules.ts';

const slugForm = /^[a-z0-9]+(-[a-z0-9]+)*$/;

test.each([
  ['Acme Books', 'acme-books'],
  ['Café & Bücher GmbH', 'cafe-bucher-gmbh'],
  ['  --A--  ', 'a'],
  ['書店', 'merchant'],
  ['x'.repeat(120), 'x'.repeat(48)],
])('the slug of %j is %s', (name, slug) => {
  expect(slugOf(name)).toBe(slug);
});

test('each slug has the form that the table demands, also a distinct one', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 120 }), (name) => {
      const slug = slugOf(name);
      expect(slug).toMatch(slugForm);
      const other = distinctSlug(slug, 'mer_01kc1v9m3se7ttw5v1x0h2q8ab');
      expect(other).toMatch(slugForm);
      expect(other.length).toBeLessThanOrEqual(63);
    }),
  );
});

test('live accepts configured codes only, and limits wrong ones by address', () => {
  const assertInvited = createInviteCodes({ codes: ['invite-one', 'invite-two'], mode: 'live' }, () => 0);
  assertInvited('invite-two', '192.0.2.1');
  for (let i = 0; i < 10; i++)
    expect(() => assertInvited('invite-three', '192.0.2.1')).toThrow(
      expect.objectContaining({ code: 'invalid_request' }),
    );
  expect(() => assertInvited('invite-three', '192.0.2.1')).toThrow(expect.objectContaining({ code: 'rate_limited' }));
  assertInvited('invite-one', '192.0.2.1');
  expect(() => assertInvited('invite-three', '192.0.2.2')).toThrow(
    expect.objectContaining({ code: 'invalid_request' }),
  );
});

test('without configured codes live accepts none and a sandbox all', () => {
  expect(() => createInviteCodes({ codes: [], mode: 'live' })('invite-one', 'a')).toThrow('not an invite code');
  createInviteCodes({ codes: [], mode: 'sandbox' })('invite-one', 'a');
  expect(() => createInviteCodes({ codes: ['invite-two'], mode: 'sandbox' })('invite-one', 'a')).toThrow();
});

test('a slug that is cut ends with no hyphen, and a distinct one ends with the id of its merchant', () => {
  expect(slugOf(`${'x'.repeat(47)} y`)).toBe('x'.repeat(47));
  expect(slugOf(`${'x'.repeat(46)} yz`)).toBe(`${'x'.repeat(46)}-y`);
  expect(distinctSlug('acme', 'mer_01kc1v9m3se7ttw5v1x0h2q8ab')).toBe('acme-w5v1x0h2q8ab');
});

test('an encryption key counts from its proof on until it has been replaced for long enough', () => {
  const now = new Date('2026-05-04T12:00:00.000Z');
  const at = (ms: number) => new Date(now.getTime() + ms);
  const status = (provenAt: Date | null, validUntil: Date | null) => {
    const key = { provenAt, validUntil };
    return [statusOfKey(key, now), isUsableKey(key, now)];
  };
  expect(status(null, null)).toEqual(['unproven', false]);
  expect(status(null, at(1))).toEqual(['unproven', false]);
  expect(status(at(-1), null)).toEqual(['active', true]);
  expect(status(at(-1), at(1))).toEqual(['replaced', true]);
  expect(status(at(-1), now)).toEqual(['ended', false]);
});
