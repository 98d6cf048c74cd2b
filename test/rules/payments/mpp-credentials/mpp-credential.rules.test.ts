/** What an MPP credential may become, how long it lives, and when its workflow acts. @module */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type CredentialCommand,
  credentialCommands,
  credentialExpiry,
  credentialFacts,
  credentialLivesMs,
  credentialStatusAsOf,
  credentialStatuses,
  isFinalCredential,
  isPastExpiry,
  moveCredential,
} from '../../../../src/domains/payments/mpp-credentials/mpp-credential.rules.ts';
import { minute } from '../../../../src/kernel/instant.ts';

const status = fc.constantFrom(...credentialStatuses);
const command = fc.constantFrom(...credentialCommands);
const now = new Date('2026-11-20T10:00:00.000Z');
const inMs = (ms: number) => new Date(now.getTime() + ms);
const instant = fc.integer({ min: -10 * minute, max: 10 * minute }).map(inMs);

describe('moves', () => {
  test('a final credential never moves', () => {
    fc.assert(
      fc.property(status, command, (from, kind) => {
        if (isFinalCredential(from)) expect(moveCredential(from, kind, false).outcome).toBe('refused');
      }),
    );
  });

  test('each status takes its own commands, each of which leads to one status', () => {
    const takes = (from: (typeof credentialStatuses)[number]) =>
      Object.fromEntries(
        credentialCommands.flatMap((kind) => {
          const move = moveCredential(from, kind, false);
          return move.outcome === 'moved' ? [[kind, move.next]] : [];
        }),
      );
    expect(takes('requested')).toEqual({ mint: 'minted', expire: 'expired', refuse: 'refused', revoke: 'revoked' });
    expect(takes('minted')).toEqual({
      ...{ consume: 'consumed', decline: 'declined', expire: 'expired', revoke: 'revoked' },
    });
    for (const from of ['consumed', 'expired', 'declined', 'refused', 'revoked'] as const)
      expect(takes(from)).toEqual({});
  });

  test('only one that is asked for or minted is not final', () => {
    expect(credentialStatuses.filter((one) => !isFinalCredential(one))).toEqual(['requested', 'minted']);
    for (const from of ['requested', 'minted'] as const)
      expect(moveCredential(from, 'revoke', false)).toEqual({ outcome: 'moved', next: 'revoked' });
    expect(moveCredential('consumed', 'revoke', false).outcome).toBe('refused');
  });

  test('nothing uses a credential that is not minted, and nothing mints it twice', () => {
    const uses: readonly CredentialCommand[] = ['consume', 'decline'];
    for (const from of credentialStatuses.filter((one) => one !== 'minted')) {
      for (const kind of uses) expect(moveCredential(from, kind, false).outcome).toBe('refused');
    }
    expect(moveCredential('minted', 'mint', false)).toEqual({
      outcome: 'refused',
      why: 'cannot mint a credential that is minted',
    });
  });

  test('of any sequence of causes at most one uses the credential', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 12 }), (kinds) => {
        let at: (typeof credentialStatuses)[number] = 'requested';
        let uses = 0;
        for (const kind of kinds) {
          const move = moveCredential(at, kind, false);
          if (move.outcome !== 'moved') continue;
          at = move.next;
          if (kind === 'consume' || kind === 'decline') uses += 1;
        }
        expect(uses).toBeLessThanOrEqual(1);
      }),
    );
  });

  test('the same cause moves a credential once', () => {
    fc.assert(
      fc.property(status, command, (from, kind) => {
        expect(moveCredential(from, kind, true)).toEqual({ outcome: 'already', next: from });
      }),
    );
  });
});

describe('expiry', () => {
  test.each<[string, string | undefined, Date]>([
    ['no expiry', undefined, inMs(credentialLivesMs)],
    ['a later expiry', '2030-01-01T00:00:00Z', inMs(credentialLivesMs)],
    ['an expiry that is no date', 'soon', inMs(300_000)],
    ['an earlier expiry', '2026-11-20T10:02:30Z', inMs(2.5 * minute)],
    ['an earlier expiry in another time zone', '2026-11-20T11:02:30+01:00', inMs(2.5 * minute)],
  ])('of a credential for a challenge with %s', (_what, expires, expected) => {
    expect(credentialExpiry(expires, now)).toEqual(expected);
  });

  test('a credential past its expiry is published as expired, unless it ended before', () => {
    fc.assert(
      fc.property(status, instant, (stored, expiresAt) => {
        const published = credentialStatusAsOf({ status: stored, expiresAt }, now);
        if (isFinalCredential(stored)) expect(published).toBe(stored);
        else expect(published).toBe(isPastExpiry({ expiresAt }, now) ? 'expired' : stored);
      }),
    );
  });

  test('a credential is expired at its very instant', () => {
    expect(isPastExpiry({ expiresAt: now }, now)).toBe(true);
    expect(isPastExpiry({ expiresAt: inMs(1) }, now)).toBe(false);
  });
});

describe('facts', () => {
  test('a credential waits for its expiry until it is final, and a final one reaches everything', () => {
    fc.assert(
      fc.property(status, instant, fc.constantFrom(null, 'mppp_1'), (stored, expiresAt, paymentId) => {
        const { final, reached, dueInMs } = credentialFacts({ status: stored, expiresAt, paymentId }, now);
        expect(final).toBe(isFinalCredential(stored));
        expect(reached.includes('ended')).toBe(final);
        expect(dueInMs).toEqual(final ? {} : { expiry: expiresAt.getTime() - now.getTime() });
        if (final) expect(reached).toEqual(['minted', 'ended']);
      }),
    );
  });

  test('the workflow of a credential mints it, except for a payment, which mints it itself', () => {
    const requested = { status: 'requested', expiresAt: inMs(minute) } as const;
    expect(credentialFacts({ ...requested, paymentId: null }, now).reached).toEqual([]);
    const minted = { ...requested, status: 'minted' } as const;
    expect(credentialFacts({ ...minted, paymentId: null }, now).reached).toEqual(['minted']);
    expect(credentialFacts({ ...requested, paymentId: 'mppp_1' }, now).reached).toEqual(['minted']);
  });
});
