/**
 * When a passkey may be removed, when a new one may attest, and the error messages of failed ceremonies. Pure: time and
 * rows are arguments.
 * @module
 */
import { hour, later, minute } from '../../../kernel/instant.ts';

export const challengePurposes = [
  'register',
  'enroll',
  'revoke_passkey',
  'intent',
  'approval',
  'generic',
  'invite',
  'push',
] as const;
export type ChallengePurpose = (typeof challengePurposes)[number];

/** How long a challenge may be answered, in real time. */
export const challengeMs = 5 * minute;

/** How long nothing new may attest after the last passkey has gone: time for the owner to hear of it. */
export const silenceMs = 24 * hour;

/** From when a passkey enrolled at `at` may attest. `lastGoneAt`: when the owner's last one was removed, if ever. */
export function approvesFrom(at: Date, lastGoneAt: Date | null): Date {
  const end = lastGoneAt === null ? at : later(lastGoneAt, silenceMs);
  return end > at ? end : at;
}

/** One that never had to wait may attest whatever the clocks of two processes say. */
export const mayAttest = (passkey: { approvesFrom: Date; createdAt: Date }, at: Date): boolean =>
  passkey.approvesFrom <= at || passkey.approvesFrom.getTime() === passkey.createdAt.getTime();

/**
 * Undefined when another passkey may be enrolled beside these. A stranger who enrolled a passkey with a stolen key must
 * not bind the
 * owner by a second one: while it waits it stays the only one, which goes without an assertion.
 */
export function whyNoFurther(
  enrolled: readonly { readonly id: string; readonly approvesFrom: Date; readonly createdAt: Date }[],
  at: Date,
): string | undefined {
  const [first] = enrolled;
  if (first === undefined || enrolled.some((passkey) => mayAttest(passkey, at))) return undefined;
  return `passkey ${first.id} approves nothing before ${first.approvesFrom.toISOString()}; until then no second one is enrolled`;
}

/** Whether a passkey may go without an assertion, needs one, or must not be removed by the one that asks. */
export type RemovalDemand = 'none' | 'assertion';
export const removalDemand = (enrolled: number): RemovalDemand => (enrolled >= 2 ? 'assertion' : 'none');

/** Undefined when `asserting` may remove `removed`. */
export const whySelfRevoke = (removed: string, asserting: string): string | undefined =>
  removed === asserting
    ? `passkey ${removed} made the assertion, and none removes itself while another one is enrolled; use another one`
    : undefined;

/** Why a WebAuthn check failed. The library's messages repeat what the caller sent, so these replace them. */
export function whyNot(objection: string, expected: { origin: string; rpId: string }): string {
  return reasons.find(([seen]) => seen.test(objection))?.[1](expected) ?? 'its signature does not hold';
}

type Reason = readonly [RegExp, (expected: { origin: string; rpId: string }) => string];
const reasons: readonly Reason[] = [
  [/challenge/i, () => 'it answers another challenge'],
  [/cross-origin|top ?origin/i, () => 'it was made inside a page of another origin'],
  [/origin/i, ({ origin }) => `it was made for another origin than ${origin}`],
  [/RP ID/i, ({ rpId }) => `it was made for another relying party than ${rpId}`],
  [/counter/i, () => 'the counter of the passkey did not increase; the passkey may have been copied'],
  [/could not be verified/i, () => 'the authenticator did not verify its user; unlock it with a PIN or biometrics'],
  [/user (was )?not present/i, () => 'the authenticator did not report that a user was present'],
  [/AAGUID/i, () => 'it does not name the kind of its authenticator'],
  [/response type/i, () => 'it is an answer of the other kind of ceremony'],
  [/alg\b/i, () => 'its key is of none of the kinds ES256, EdDSA, RS256'],
  [/attestation format/i, () => 'it carries an attestation of the maker, and none was asked for'],
];
