/**
 * Proof that a merchant holds the private half of an encryption key: a challenge that is encrypted for the key, whose
 * content the merchant returns. Nothing is stored: the content is sealed and says for whom and until when it is good.
 * @module
 */
import { CompactEncrypt, importJWK } from 'jose';
import * as z from 'zod';
import { DomainError } from '../../../kernel/errors.ts';
import { hour } from '../../../kernel/instant.ts';
import { type Vault, VaultError } from '../../../vault/vault.ts';
import type { EncryptionJwk } from './merchant-key.entity.ts';

const challengeLivesMs = hour;

const content = z.object({ thumbprint: z.string(), expiresAt: z.iso.datetime() });

type Challenged = { readonly merchantId: string; readonly thumbprint: string; readonly jwk: EncryptionJwk };

const sealContext = (merchantId: string): string => `merchant-key/${merchantId}`;

/** A compact JWE, with the algorithms of credentials: who decrypts it can decrypt credentials. */
export async function keyChallenge(
  vault: Pick<Vault, 'seal'>,
  { merchantId, thumbprint, jwk }: Challenged,
  now: Date,
): Promise<string> {
  const expiresAt = new Date(now.getTime() + challengeLivesMs).toISOString();
  const proof = await vault.seal(JSON.stringify({ thumbprint, expiresAt }), sealContext(merchantId));
  return new CompactEncrypt(new TextEncoder().encode(proof))
    .setProtectedHeader({ alg: jwk.alg, enc: 'A256GCM', kid: jwk.kid })
    .encrypt(await importJWK(jwk, jwk.alg));
}

/** The thumbprint of the key that the merchant holds. */
export async function provenThumbprint(
  vault: Pick<Vault, 'open'>,
  { merchantId, proof }: { readonly merchantId: string; readonly proof: string },
  now: Date,
): Promise<string> {
  const opened = await vault.open(proof, sealContext(merchantId)).catch((error: unknown) => {
    if (!(error instanceof VaultError)) throw error;
    throw new DomainError(
      'invalid_request',
      'body.proof: is not the decrypted content of a challenge of this merchant',
    );
  });
  const { thumbprint, expiresAt } = content.parse(JSON.parse(opened));
  if (Date.parse(expiresAt) > now.getTime()) return thumbprint;
  throw new DomainError('gone', `the challenge expired at ${expiresAt}; register the key again for another one`);
}
