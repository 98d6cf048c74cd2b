/**
 * The id of a challenge that Bursar issues: an HMAC over everything the challenge says, so that a credential with any
 * changed part does not verify (draft-httpauth-payment-01, section on binding). Reads no clock and stores nothing.
 * @module
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

export type BoundParts = {
  readonly realm: string;
  readonly method: string;
  readonly intent: string;
  /** base64url, as on the wire. */
  readonly request: string;
  readonly expires?: string | undefined;
  readonly digest?: string | undefined;
  readonly header?: string | undefined;
  /** base64url, as on the wire. */
  readonly opaque?: string | undefined;
};

const fewestSecretBytes = 32;

/** An absent part is an empty place, but `header` has no place when it is absent, so that older ids stay valid. */
export function challengeIdOf(secret: string, parts: BoundParts): string {
  if (Buffer.byteLength(secret) < fewestSecretBytes)
    throw new RangeError(`a challenge secret has at least ${fewestSecretBytes} bytes`);
  const { realm, method, intent, request, expires = '', digest = '', header, opaque = '' } = parts;
  const places = [realm, method, intent, request, expires, digest, ...(header === undefined ? [] : [header]), opaque];
  return createHmac('sha256', secret).update(places.join('|')).digest('base64url');
}

/** Compares in constant time. */
export function isChallengeIdOf(secret: string, parts: BoundParts, id: string): boolean {
  const [expected, given] = [Buffer.from(challengeIdOf(secret, parts)), Buffer.from(id)];
  return expected.length === given.length && timingSafeEqual(expected, given);
}
