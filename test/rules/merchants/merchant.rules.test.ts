/** Goal: every name has a slug, and two merchants never share one. Method: examples and random names. @module */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createInviteCodes } from '../../../src/domains/merchants/merchants/invite-codes.ts';
import { distinctSlug, slugOf } from '../../../src/domains/merchants/merchants/merchant.rules.ts';

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
