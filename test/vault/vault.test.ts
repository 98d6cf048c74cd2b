/** Sealed texts open with the right key at the right place only, and the key check stops a wrong key. @module */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { decodeProtectedHeader } from 'jose';
import { hashSecret, sameSecret } from '../../src/vault/secret-hash.ts';
import { createVault, type VaultKey } from '../../src/vault/vault.ts';
import { readVaultKeys, vaultCheck } from '../../src/vault/vault-keys.ts';

const keyOf = (kid: string, fill: number): VaultKey => ({ kid, key: new Uint8Array(32).fill(fill) });
const vault = createVault({ keys: [keyOf('new', 2), keyOf('old', 1)] });

test('every sealed text can be opened', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), async (text, context) => {
      expect(await vault.open(await vault.seal(text, context), context)).toBe(text);
    }),
    { numRuns: 50 },
  );
});

test('a sealed text is a compact JWE, A256GCM, with the first key, and differs each time', async () => {
  const sealed = await vault.seal('whsec_abc', 'webhook/wh_1');
  expect(sealed.split('.')).toHaveLength(5);
  expect(decodeProtectedHeader(sealed)).toEqual({ alg: 'dir', enc: 'A256GCM', kid: 'new', ctx: 'webhook/wh_1' });
  expect(await vault.seal('whsec_abc', 'webhook/wh_1')).not.toBe(sealed);
});

test('a sealed text does not open at another place', async () => {
  const sealed = await vault.seal('secret', 'webhook/wh_1');
  await expect(vault.open(sealed, 'webhook/wh_2')).rejects.toThrow('not sealed for webhook/wh_2');
});

test('a context written over in the header is found out', async () => {
  const [, ...rest] = (await vault.seal('secret', 'webhook/wh_1')).split('.');
  const header = Buffer.from(JSON.stringify({ alg: 'dir', enc: 'A256GCM', kid: 'new', ctx: 'webhook/wh_2' }));
  const forged = [header.toString('base64url'), ...rest].join('.');
  await expect(vault.open(forged, 'webhook/wh_2')).rejects.toThrow(/changed or the key is wrong/);
});

test('every changed character is detected', async () => {
  const sealed = await vault.seal('a secret of some length', 'x');
  await fc.assert(
    fc.asyncProperty(fc.nat(sealed.length - 1), fc.constantFrom(...'AZaz09_-.'), async (at, character) => {
      fc.pre(sealed[at] !== character);
      const changed = sealed.slice(0, at) + character + sealed.slice(at + 1);
      const opened = await vault.open(changed, 'x').catch((error: Error) => error.name);
      // The last character of a base64url part has bits that mean nothing, so the same text may come out.
      expect(['VaultError', 'a secret of some length']).toContain(opened);
    }),
    { numRuns: 200 },
  );
});

test('a text sealed with an older key opens after a rotation, and only with that key', async () => {
  const sealed = await createVault({ keys: [keyOf('old', 1)] }).seal('secret', 'x');
  expect(await vault.open(sealed, 'x')).toBe('secret');
  await expect(createVault({ keys: [keyOf('new', 2)] }).open(sealed, 'x')).rejects.toThrow(/key that this vault/);
  await expect(createVault({ keys: [keyOf('old', 9)] }).open(sealed, 'x')).rejects.toThrow(/key is wrong/);
});

test('other algorithms and other texts are refused', async () => {
  for (const header of [
    { alg: 'none', kid: 'new', ctx: 'x' },
    { alg: 'A256KW', enc: 'A256GCM', kid: 'new', ctx: 'x' },
  ]) {
    const text = `${Buffer.from(JSON.stringify(header)).toString('base64url')}.AAAA.AAAA.AAAA.AAAA`;
    await expect(vault.open(text, 'x')).rejects.toThrow(/changed or the key is wrong/);
  }
  for (const text of ['', 'plain', 'a.b.c.d.e', '....']) await expect(vault.open(text, 'x')).rejects.toThrow(/sealed/);
});

test('a vault refuses no keys, twins and short keys', () => {
  expect(() => createVault({ keys: [] })).toThrow('no key');
  expect(() => createVault({ keys: [keyOf('a', 1), keyOf('a', 2)] })).toThrow('same kid');
  expect(() => createVault({ keys: [{ kid: 'a', key: new Uint8Array(16) }] })).toThrow('not 32 bytes');
});

test('keys are read in three spellings, several with commas, each with its own stable kid', () => {
  const bytes = Buffer.from(Array.from({ length: 32 }, (_, i) => i * 7 + 250));
  const spellings = [bytes.toString('base64'), bytes.toString('base64url'), bytes.toString('hex')];
  const read = spellings.map((text) => readVaultKeys(text)[0]);
  for (const entry of read) expect(entry).toEqual(read[0]);
  const two = readVaultKeys(`${spellings[0]}, ${Buffer.alloc(32, 7).toString('base64')}`);
  expect(two).toHaveLength(2);
  expect(two[0]?.kid).not.toBe(two[1]?.kid);
});

test('a key of another length is refused in one sentence that does not show it', () => {
  for (const text of ['', 'hunter2', Buffer.alloc(31, 5).toString('base64'), 'x'.repeat(64)]) {
    expect(() => readVaultKeys(text)).toThrow(
      /^BURSAR_VAULT_KEY must be 32 bytes in base64 or hexadecimal, not \d+; make/,
    );
    expect(() => readVaultKeys(text)).not.toThrow(/hunter2|xxxx|BQUF/);
  }
});

test('the key check passes for the sealing key and after a rotation, and stops a wrong one', async () => {
  const check = await vaultCheck.create(createVault({ keys: [keyOf('old', 1)] }));
  await vaultCheck.verify(vault, check);
  for (const wrong of [createVault({ keys: [keyOf('old', 9)] }), createVault({ keys: [keyOf('new', 2)] })]) {
    await expect(vaultCheck.verify(wrong, check)).rejects.toThrow(/^BURSAR_VAULT_KEY is not the key that sealed/);
  }
  await expect(vaultCheck.verify(vault, await vault.seal('other', 'vault-check'))).rejects.toThrow(/BURSAR_VAULT_KEY/);
});

test('secrets are hashed as plain SHA-256 and compared whole', () => {
  expect(hashSecret('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  fc.assert(
    fc.property(fc.string(), fc.string(), (a, b) => {
      expect(sameSecret(a, b)).toBe(a === b);
      expect(sameSecret(a, a)).toBe(true);
    }),
  );
});
