/**
 * Hashes, compares and recognises keys and tokens. Plain SHA-256 is right only for secrets of at least 128 random bits;
 * never hash a secret that a person chose here.
 * @module
 */
import { createHash, hash, timingSafeEqual } from 'node:crypto';

export const hashSecret = (secret: string): string => hash('sha256', secret);

/** `sk_sandbox_…x7Qz`: the prefix up to its last underscore, and four characters. */
export const hintOf = (secret: string): string => `${/^(?:[a-z]+_)*/.exec(secret)?.[0] ?? ''}…${secret.slice(-4)}`;

/** Takes the same time wherever the two differ, and whatever their lengths. */
export const sameSecret = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
