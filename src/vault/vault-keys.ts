/**
 * Reads BURSAR_VAULT_KEY, and verifies at start that the database was sealed with it. A wrong key stops the process
 * with one error message; without this check each secret would fail separately.
 * @module
 */
import { createHash } from 'node:crypto';
import { keyBytes, type Vault, VaultError, type VaultKey } from './vault.ts';

/** One key or several with commas, newest first; each 32 bytes in base64, base64url or 64 hexadecimal digits. */
export function readVaultKeys(text: string): VaultKey[] {
  return text.split(',').map((part) => {
    const entry = part.trim();
    const key = Buffer.from(entry, /^[0-9a-f]{64}$/i.test(entry) ? 'hex' : 'base64');
    if (key.byteLength !== keyBytes) {
      throw new VaultError(
        `BURSAR_VAULT_KEY must be ${keyBytes} bytes in base64 or hexadecimal, not ${key.byteLength}; make one with: openssl rand -base64 32`,
      );
    }
    return { kid: kidOf(key), key: new Uint8Array(key) };
  });
}

export const vaultCheck = {
  /** Kept in the database from the first start on. */
  create: (vault: Vault): Promise<string> => vault.seal(checkText, checkContext),

  /** Throws the sentence to stop with when this vault cannot open what the database's vault sealed. */
  async verify(vault: Vault, check: string): Promise<void> {
    const text = await vault.open(check, checkContext).catch((error: unknown) => {
      if (error instanceof VaultError) return undefined;
      throw error;
    });
    if (text !== checkText) {
      throw new VaultError(
        'BURSAR_VAULT_KEY is not the key that sealed the secrets of this database; give the former key, alone or after a comma behind the new one',
      );
    }
  },
};

const checkText = 'bursar';
const checkContext = 'vault-check';

/** Says which key without saying anything about it: 48 bits of a hash of 256 random bits. */
const kidOf = (key: Uint8Array): string =>
  createHash('sha256').update('bursar-vault-kid').update(key).digest('hex').slice(0, 12);
