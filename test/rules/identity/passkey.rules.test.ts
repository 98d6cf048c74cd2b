/** Goal: who may remove a passkey and when a new one may attest. Method: the rules themselves. @module */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  approvesFrom,
  mayAttest,
  removalDemand,
  silenceMs,
  whyNoFurther,
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

const waiting = { id: 'psk_a', createdAt: at, approvesFrom: later(at, silenceMs) };
const atOnce = { id: 'psk_b', createdAt: at, approvesFrom: at };

test('a passkey attests from its time on, and one that never waited at any time', () => {
  expect([-1, 0, 1].map((ms) => mayAttest(waiting, later(at, silenceMs + ms)))).toEqual([false, true, true]);
  expect(mayAttest(atOnce, later(at, -1))).toBe(true);
});

test('no second passkey is enrolled while the only ones wait', () => {
  const why = 'passkey psk_a approves nothing before 2026-05-05T12:00:00.000Z; until then no second one is enrolled';
  expect(whyNoFurther([waiting], at)).toBe(why);
  expect(whyNoFurther([waiting, { ...waiting, id: 'psk_c' }], at)).toBe(why);
  expect(whyNoFurther([waiting, atOnce], at)).toBeUndefined();
  expect(whyNoFurther([waiting], later(at, silenceMs))).toBeUndefined();
  expect(whyNoFurther([], at)).toBeUndefined();
});

/** As `@simplewebauthn/server` words them. */
test.each([
  ['Unexpected authentication response challenge "x", expected "y"', 'it answers another challenge'],
  [
    'Unexpected cross-origin authentication response top origin of "x", expected: y',
    'it was made inside a page of another origin',
  ],
  [
    'Unexpected top origin of "x" within a non-cross-origin authentication response.',
    'it was made inside a page of another origin',
  ],
  [
    'Unexpected registration response origin "x", expected "y"',
    'it was made for another origin than http://localhost:8400',
  ],
  [
    'Response counter value 3 was lower than expected 5',
    'the counter of the passkey did not increase; the passkey may have been copied',
  ],
  [
    'User verification was required, but user could not be verified',
    'the authenticator did not verify its user; unlock it with a PIN or biometrics',
  ],
  ['User not present during authentication', 'the authenticator did not report that a user was present'],
  ['Unexpected registration response type: webauthn.get', 'it is an answer of the other kind of ceremony'],
  ['Unexpected public key alg "-8", expected one of "-7"', 'its key is of none of the kinds ES256, EdDSA, RS256'],
  ['Unsupported Attestation Format: packed', 'it carries an attestation of the maker, and none was asked for'],
])('%s: %s', (objection, why) => {
  expect(whyNot(objection, expected)).toBe(why);
});
