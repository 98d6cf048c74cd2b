/**
 * Goal: an invitation enrols a passkey only while it is open, and only with the consent of a passkey that is enrolled.
 * Method: properties over every state of an invitation.
 * @module
 */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type InvitationState,
  invitationStatus,
  whyNotEnrol,
  whyNotRevoke,
} from '../../../src/domains/identity/passkey-invitations/invitation.rules.ts';

const instant = fc.integer({ min: 0, max: 10 }).map((ms) => new Date(ms));
const passkeyId = fc.constantFrom('psk_a', 'psk_b');
/** Every second one is neither revoked nor used, because only those that are open enrol. */
const invitation: fc.Arbitrary<InvitationState> = fc.record({
  expiresAt: instant,
  revokedAt: fc.option(instant, { freq: 1 }),
  passkeyId: fc.option(passkeyId, { freq: 1 }),
  vouchedBy: fc.option(passkeyId),
});
const enrolled = fc.subarray(['psk_a', 'psk_b', 'psk_c']).map((ids) => ids.map((id) => ({ id })));

test('it enrols exactly while it is neither used, revoked nor expired, and no passkey is enrolled or its own one is', () => {
  fc.assert(
    fc.property(invitation, enrolled, instant, (of, passkeys, now) => {
      const isOpen = of.passkeyId === null && of.revokedAt === null && now < of.expiresAt;
      const isConfirmed = passkeys.length === 0 || passkeys.some(({ id }) => id === of.vouchedBy);
      expect(whyNotEnrol(of, passkeys, now) === undefined).toBe(isOpen && isConfirmed);
      expect(invitationStatus(of, now) === 'open').toBe(isOpen);
    }),
  );
});

test('an open one that a passkey confirmed enrols nothing once that passkey is gone and another one is enrolled', () => {
  const open = { expiresAt: new Date(10), revokedAt: null, passkeyId: null, vouchedBy: 'psk_a' };
  const now = new Date(5);
  expect(whyNotEnrol(open, [{ id: 'psk_a' }, { id: 'psk_b' }], now)).toBeUndefined();
  expect(whyNotEnrol(open, [{ id: 'psk_b' }], now)).toMatch(/no passkey that is enrolled now has confirmed/);
  expect(whyNotEnrol({ ...open, vouchedBy: null }, [{ id: 'psk_b' }], now)).toMatch(/has confirmed/);
  expect(whyNotEnrol({ ...open, vouchedBy: null }, [], now)).toBeUndefined();
});

test('what has enrolled a passkey stays that, and is not revoked', () => {
  fc.assert(
    fc.property(invitation, instant, (of, now) => {
      if (of.passkeyId !== null) expect(invitationStatus(of, now)).toBe('enrolled');
      expect(whyNotRevoke('pki_1', of.passkeyId) === undefined).toBe(of.passkeyId === null);
    }),
  );
});

test('what ended it first is what the invited person reads', () => {
  const open: InvitationState = { expiresAt: new Date(10), revokedAt: null, passkeyId: null, vouchedBy: null };
  const ended: [InvitationState, string, string][] = [
    [
      { ...open, passkeyId: 'psk_a', revokedAt: new Date(1) },
      'enrolled',
      'a passkey was enrolled with this invitation, and each is good for one; ask for a new one',
    ],
    [{ ...open, revokedAt: new Date(1) }, 'revoked', 'this invitation was revoked; ask for a new one'],
    [open, 'expired', 'this invitation expired at 1970-01-01T00:00:00.010Z; ask for a new one'],
  ];
  for (const [of, status, why] of ended)
    expect([invitationStatus(of, new Date(10)), whyNotEnrol(of, [], new Date(10))]).toEqual([status, why]);
});

test('a used one names the passkey that is to be removed instead', () => {
  expect(whyNotRevoke('pki_1', 'psk_a')).toBe(
    'passkey psk_a was enrolled with invitation pki_1; remove the passkey instead',
  );
  expect(whyNotRevoke('pki_1', null)).toBeUndefined();
});
