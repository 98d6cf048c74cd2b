/**
 * Seals secrets that must be read again: compact JWE, A256GCM, with the key named by `kid` and the secret's place as
 * bound context. A sealed text does not open in another row. Keys never leave this module.
 * @module
 */
import { CompactEncrypt, compactDecrypt, decodeProtectedHeader, errors } from 'jose';

export type VaultKey = { readonly kid: string; readonly key: Uint8Array };
export type Vault = {
  /** `context` names the place, such as `webhook/wh_…`; it is readable in the sealed text, so it must be no secret. */
  seal(plaintext: string, context: string): Promise<string>;
  open(sealed: string, context: string): Promise<string>;
};

export class VaultError extends Error {
  override readonly name = 'VaultError';
}

/** The first key seals; the others only open what they sealed before a rotation. */
export function createVault({ keys }: { keys: readonly VaultKey[] }): Vault {
  const [current] = keys;
  if (current === undefined) throw new VaultError('the vault has no key');
  if (new Set(keys.map(({ kid }) => kid)).size < keys.length) throw new VaultError('two vault keys have the same kid');
  if (keys.some(({ key }) => key.byteLength !== keyBytes)) throw new VaultError(`a vault key is not ${keyBytes} bytes`);
  const keyOf = new Map(keys.map(({ kid, key }) => [kid, key]));

  return {
    seal: (plaintext, context) =>
      new CompactEncrypt(new TextEncoder().encode(plaintext))
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid: current.kid, ctx: context })
        .encrypt(current.key),

    async open(sealed, context) {
      const { kid, ctx } = headerOf(sealed);
      const key = typeof kid === 'string' ? keyOf.get(kid) : undefined;
      if (key === undefined) throw new VaultError('sealed with a key that this vault does not have');
      if (ctx !== context) throw new VaultError(`not sealed for ${context}`);
      try {
        const { plaintext } = await compactDecrypt(sealed, key, {
          keyManagementAlgorithms: ['dir'],
          contentEncryptionAlgorithms: ['A256GCM'],
        });
        return new TextDecoder().decode(plaintext);
      } catch (error) {
        if (error instanceof errors.JOSEError) throw new VaultError('the sealed text was changed or the key is wrong');
        throw error;
      }
    },
  };
}

export const keyBytes = 32;

function headerOf(sealed: string): Record<string, unknown> {
  try {
    return decodeProtectedHeader(sealed);
  } catch (cause) {
    throw new VaultError('not a sealed text', { cause });
  }
}
