/** What a minted secret looks like. @module */
import { expect, test } from '@jest/globals';
import { mintSecret } from '../../../src/domains/identity/credentials/secret.ts';
import { redactText } from '../../../src/platform/redact.ts';
import { hashSecret, hintOf } from '../../../src/vault/secret-hash.ts';

test('32 base62 characters after the prefix, stored as a hash, with a hint of the last four', () => {
  const { secret, hash, hint } = mintSecret('sk_sandbox_');
  expect(secret).toMatch(/^sk_sandbox_[0-9A-Za-z]{32}$/);
  expect(hash).toBe(hashSecret(secret));
  expect(hint).toBe(`sk_sandbox_…${secret.slice(-4)}`);
});

test('all secrets differ, and every character occurs', () => {
  const secrets = Array.from({ length: 200 }, () => mintSecret('at_test_').secret);
  expect(new Set(secrets).size).toBe(200);
  expect(new Set(secrets.flatMap((secret) => [...secret.slice(8)])).size).toBe(62);
});

test('the log masks a secret and leaves its hint readable', () => {
  const { secret, hint } = mintSecret('at_live_');
  expect(redactText(`token ${secret}`)).not.toContain(secret.slice(8));
  expect(redactText(`token ${hint}`)).toContain(hint);
});

test('the hint of a key with a plain prefix shows four characters of it', () => {
  expect(hintOf(`sk_${'X'.repeat(40)}`)).toBe('sk_…XXXX');
});
