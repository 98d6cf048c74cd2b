/**
 * Decides whether a merchant's public key may receive a payment token, and whether `jwksUri` belongs to the realm of
 * its challenge (card method, draft-00). Fetches nothing.
 * @module
 */

export type EncryptionJwk = {
  readonly kty: 'RSA';
  readonly n: string;
  readonly e: string;
  readonly alg: typeof keyAlgorithm;
  readonly use: 'enc';
  readonly kid: string;
};

export const keyAlgorithm = 'RSA-OAEP-256';

export type KeyReading =
  | { readonly ok: true; readonly jwk: EncryptionJwk }
  | { readonly ok: false; readonly reason: string };

const fewestBits = 2_048;
/** A longer key costs more than a payment should; no merchant needs it. */
const mostBits = 8_192;
/** Members of a private key. A merchant that publishes one has lost its secret. */
const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

export function readEncryptionKey(jwk: Readonly<Record<string, unknown>>): KeyReading {
  const no = (reason: string): KeyReading => ({ ok: false, reason });
  if (jwk.kty !== 'RSA') return no('the encryption key is not an RSA key');
  if (privateMembers.some((member) => member in jwk)) return no('the encryption key contains private members');
  if (jwk.alg !== keyAlgorithm) return no(`the algorithm of the encryption key is not ${keyAlgorithm}`);
  if (jwk.use !== 'enc') return no('the encryption key is not for encryption');
  if (typeof jwk.kid !== 'string' || jwk.kid === '' || jwk.kid.length > 256) return no('the encryption key has no kid');
  if (typeof jwk.n !== 'string' || typeof jwk.e !== 'string') return no('the encryption key has no n or e');
  const modulus = unsignedOf(jwk.n, mostBits);
  if (modulus === undefined) return no(`n of the encryption key is not base64url of at most ${mostBits} bits`);
  const bits = modulus.toString(2).length;
  if (bits < fewestBits) return no(`the encryption key has ${bits} bits; ${fewestBits} are required`);
  if (modulus % 2n === 0n) return no('n of the encryption key is even');
  const exponent = unsignedOf(jwk.e, 64);
  if (exponent === undefined || exponent < 3n || exponent % 2n === 0n)
    return no('e of the encryption key is not an odd number of at least 3');
  const { n, e, kid } = jwk;
  return { ok: true, jwk: { kty: 'RSA', n, e, alg: keyAlgorithm, use: 'enc', kid } };
}

/** Finds the key of a JWK Set. Two keys with one `kid` are no key: which of them is meant is unknown. */
export function keyInSet(set: unknown, kid: string): KeyReading {
  const keys = typeof set === 'object' && set !== null && 'keys' in set ? set.keys : undefined;
  if (!Array.isArray(keys)) return { ok: false, reason: 'jwksUri answers no JWK Set' };
  const found = keys.filter((key): key is Record<string, unknown> => isObject(key) && key.kid === kid);
  if (found.length !== 1)
    return { ok: false, reason: `jwksUri has ${found.length} keys with the kid of the challenge` };
  return readEncryptionKey(found[0] as Record<string, unknown>);
}

/** The keys of a challenge come from its realm, over https. */
export function refusalOfJwksUri(uri: string, realm: string): string | undefined {
  const [url, expected] = [URL.parse(uri), URL.parse(`https://${realm}`)];
  if (url === null || url.protocol !== 'https:') return 'jwksUri is not an https address';
  if (url.username !== '' || url.password !== '') return 'jwksUri contains credentials';
  if (expected === null || expected.host.toLowerCase() !== realm.toLowerCase())
    return 'jwksUri cannot be compared with the realm: the realm is not a host';
  return url.origin === expected.origin ? undefined : 'jwksUri has another origin than the realm';
}

function unsignedOf(encoded: string, mostBitsOfIt: number): bigint | undefined {
  if (!/^[A-Za-z0-9_-]+$/.test(encoded) || encoded.length > Math.ceil(mostBitsOfIt / 6) + 4) return undefined;
  const number = BigInt(`0x${Buffer.from(encoded, 'base64url').toString('hex') || '0'}`);
  return number.toString(2).length > mostBitsOfIt ? undefined : number;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
