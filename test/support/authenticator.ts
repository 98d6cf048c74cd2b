/**
 * A passkey in software, for tests that need no browser: its keys, authenticator data and client data as WebAuthn
 * writes them, attestation `none`. Every part of an answer can be made wrong on purpose.
 * @module
 */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** What is signed differs from what was asked, on purpose. */
export type Wrong = {
  readonly origin?: string;
  readonly rpId?: string;
  readonly challenge?: string;
  readonly crossOrigin?: boolean;
  readonly userVerified?: boolean;
  readonly userPresent?: boolean;
  /** Instead of the next count. */
  readonly counter?: number;
  readonly type?: string;
  readonly signature?: string;
};

type Options = { readonly challenge: string };
type Envelope = { readonly challengeId: string; readonly options: Options };

export type SoftPasskey = {
  readonly credentialId: string;
  /** The answer to `navigator.credentials.create`. */
  create(options: Options, wrong?: Wrong & { readonly fmt?: string }): object & { id: string };
  /** The answer to `navigator.credentials.get`. */
  get(options: Options, wrong?: Wrong): object & { id: string };
  /** `{challengeId, assertion}`, as operations take it. */
  answer(challenge: Envelope, wrong?: Wrong): { challengeId: string; assertion: never };
  counter: number;
};

export function softPasskey(publicUrl: string, kind: KeyKind = 'ES256'): SoftPasskey {
  const { origin, hostname } = new URL(publicUrl);
  const { privateKey, cose } = keyOf(kind);
  const credentialId = randomBytes(32);
  const id = credentialId.toString('base64url');
  const clientData = (type: string, { challenge }: Options, wrong: Wrong): Buffer =>
    Buffer.from(
      JSON.stringify({
        type: wrong.type ?? type,
        challenge: wrong.challenge ?? challenge,
        origin: wrong.origin ?? origin,
        crossOrigin: wrong.crossOrigin ?? false,
      }),
    );
  const authData = (wrong: Wrong, counter: number, attested?: Buffer): Buffer => {
    const flags =
      (wrong.userPresent === false ? 0 : 0x01) |
      (wrong.userVerified === false ? 0 : 0x04) |
      (attested === undefined ? 0 : 0x40);
    const count = Buffer.alloc(4);
    count.writeUInt32BE(wrong.counter ?? counter);
    const parts = [sha256(Buffer.from(wrong.rpId ?? hostname)), Buffer.from([flags]), count];
    return Buffer.concat(attested === undefined ? parts : [...parts, attested]);
  };
  const passkey: SoftPasskey = {
    credentialId: id,
    counter: 0,
    create: (options, wrong = {}) => {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(credentialId.length);
      const attested = Buffer.concat([Buffer.alloc(16), length, credentialId, cbor(cose)]);
      const authenticatorData = authData(wrong, passkey.counter, attested);
      const attestationObject = cbor({ fmt: wrong.fmt ?? 'none', attStmt: {}, authData: authenticatorData });
      return {
        ...plain(id),
        response: {
          clientDataJSON: clientData('webauthn.create', options, wrong).toString('base64url'),
          attestationObject: attestationObject.toString('base64url'),
          transports: ['internal'],
        },
      };
    },
    get: (options, wrong = {}) => {
      passkey.counter += 1;
      const authenticatorData = authData(wrong, passkey.counter);
      const clientDataJSON = clientData('webauthn.get', options, wrong);
      const signature = signed(kind, privateKey, Buffer.concat([authenticatorData, sha256(clientDataJSON)]));
      return {
        ...plain(id),
        response: {
          clientDataJSON: clientDataJSON.toString('base64url'),
          authenticatorData: authenticatorData.toString('base64url'),
          signature: wrong.signature ?? signature.toString('base64url'),
        },
      };
    },
    answer: ({ challengeId, options }, wrong) => ({ challengeId, assertion: passkey.get(options, wrong) as never }),
  };
  return passkey;
}

const plain = (id: string) => ({ id, rawId: id, type: 'public-key', clientExtensionResults: {} });
const sha256 = (data: Buffer): Buffer => createHash('sha256').update(data).digest();
const signed = (kind: KeyKind, key: KeyObject, data: Buffer): Buffer =>
  sign(kind === 'EdDSA' ? null : kind === 'ES384' ? 'sha384' : 'sha256', data, key);

/** The first three are taken, the last one is not. */
export type KeyKind = 'ES256' | 'EdDSA' | 'RS256' | 'ES384';

/** A key, and its public half as COSE numbers it. */
function keyOf(kind: KeyKind): { privateKey: KeyObject; cose: Map<number, number | Buffer> } {
  if (kind === 'EdDSA') {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    return {
      privateKey,
      cose: new Map<number, number | Buffer>([
        [1, 1],
        [3, -8],
        [-1, 6],
        [-2, part(publicKey, 'x')],
      ]),
    };
  }
  if (kind === 'RS256') {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const [n, e] = [part(publicKey, 'n'), part(publicKey, 'e')];
    return {
      privateKey,
      cose: new Map<number, number | Buffer>([
        [1, 3],
        [3, -257],
        [-1, n],
        [-2, e],
      ]),
    };
  }
  const [namedCurve, alg, curve] = kind === 'ES256' ? (['P-256', -7, 1] as const) : (['P-384', -35, 2] as const);
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve });
  const [x, y] = [part(publicKey, 'x'), part(publicKey, 'y')];
  return {
    privateKey,
    cose: new Map<number, number | Buffer>([
      [1, 2],
      [3, alg],
      [-1, curve],
      [-2, x],
      [-3, y],
    ]),
  };
}

const part = (key: KeyObject, name: string): Buffer =>
  Buffer.from(String(key.export({ format: 'jwk' })[name]), 'base64url');

/** As much CBOR as a ceremony needs: small integers, bytes, text, maps. */
function cbor(value: unknown): Buffer {
  if (typeof value === 'number') return value >= 0 ? head(0, value) : head(1, -1 - value);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  const entries = value instanceof Map ? [...value] : Object.entries(value as object);
  return Buffer.concat([head(5, entries.length), ...entries.flatMap(([name, part]) => [cbor(name), cbor(part)])]);
}

function head(major: number, length: number): Buffer {
  if (length < 24) return Buffer.from([(major << 5) | length]);
  if (length < 256) return Buffer.from([(major << 5) | 24, length]);
  return Buffer.from([(major << 5) | 25, length >> 8, length & 0xff]);
}
