/**
 * Creates the secrets of keys and tokens: 32 random base62 characters (190 bits) after a prefix that names their kind,
 * and the hint by which people recognise one. A secret is returned once and stored only as its hash.
 * @module
 */
import { randomInt } from 'node:crypto';
import { hashSecret, hintOf } from '../../../vault/secret-hash.ts';

export type MintedSecret = { readonly secret: string; readonly hash: string; readonly hint: string };

export function mintSecret(prefix: string): MintedSecret {
  const secret = prefix + Array.from({ length: randomCharacters }, () => base62[randomInt(base62.length)]).join('');
  return { secret, hash: hashSecret(secret), hint: hintOf(secret) };
}

const randomCharacters = 32;
const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
