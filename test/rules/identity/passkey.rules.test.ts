/** Goal: who may remove a passkey and when a new one may attest. Method: the rules themselves. @module */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  approvesFrom,
  removalDemand,
  silenceMs,
  whyNot,
  whySelfRevoke,
} from '../../../src/domains/identity/passkeys/passkey.rules.ts';
import { later } from '../../../src/kernel/instant.ts';

const at = new Date('2026-05-04T12:00:00.000Z');
const expected = { origin: 'http://localhost:8400', rpId: 'localhost' };

test('exactly one left needs no assertion, two or more need one by another', () => {
  expect([1, 2, 3, 50].map(removalDemand)).toEqual(['none', 'assertion', 'assertion', 'assertion']);
  expect(whySelfRevoke('psk_a', 'psk_b')).toBeUndefined();
  expect(whySelfRevoke('psk_a', 'psk_a')).toMatch(/psk_a made the assertion/);
});

test('a new passkey waits until 24 hours after the last one was removed, and never longer', () => {
  expect(approvesFrom(at, null)).toEqual(at);
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 3 * silenceMs }), (agoMs) => {
      const from = approvesFrom(at, later(at, -agoMs));
      expect(from).toEqual(agoMs < silenceMs ? later(at, silenceMs - agoMs) : at);
    }),
  );
});

test('the reason of a failed ceremony repeats no input', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 12 }), (word) => {
      expect(whyNot(`Unexpected thing "${word}", expected it`, expected)).not.toContain(word);
    }),
  );
  expect(whyNot('Unexpected authentication response origin "http://x"', expected)).toMatch(/http:\/\/localhost:8400/);
  expect(whyNot('Unexpected RP ID hash', expected)).toMatch(/relying party than localhost/);
  expect(whyNot('something else', expected)).toBe('its signature does not hold');
});
