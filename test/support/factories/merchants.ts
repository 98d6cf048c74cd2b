/** Registered merchants: keys as a merchant makes them, the registration with its secret, and the proof of the key. @module */
import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { compactDecrypt } from 'jose';
import { merchantsArea } from '../../../src/domains/merchants/merchants/merchant.contract.ts';
import type { Sampler } from '../samples.ts';
import type { Owner } from '../world.ts';

/** A fresh RSA key: as a JWK for encryption, and the private half. */
export function aKeyPair(bits = 2_048) {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: bits });
  const { n, e } = publicKey.export({ format: 'jwk' });
  return { jwk: { kty: 'RSA', n, e, alg: 'RSA-OAEP-256', use: 'enc', kid: 'enc-1' }, privateKey };
}

export const anEncryptionKey = (bits?: number) => aKeyPair(bits).jwk;

export const aRegistration = (over: Readonly<Record<string, unknown>> = {}) => ({
  inviteCode: randomUUID(),
  name: 'Acme Books',
  encryptionJwk: anEncryptionKey(),
  ...over,
});

type Registering = Pick<Owner, 'client'>;

/** Its key is not proven yet. */
export const unprovenMerchant = (owner: Registering, over: Readonly<Record<string, unknown>> = {}) =>
  owner.client(merchantsArea).createMerchant({ body: aRegistration(over) });

/** What the holder of the private half reads in a challenge. */
export async function proofOf(keyChallenge: string, privateKey: KeyObject): Promise<string> {
  const { plaintext } = await compactDecrypt(keyChallenge, privateKey, {
    keyManagementAlgorithms: ['RSA-OAEP-256'],
    contentEncryptionAlgorithms: ['A256GCM'],
  });
  return new TextDecoder().decode(plaintext);
}

/** With a proven key. `privateKey` is that of `over.encryptionJwk`. */
export async function registeredMerchant(
  owner: Registering,
  over: Readonly<Record<string, unknown>> = {},
  privateKey?: KeyObject,
) {
  const made = aKeyPair();
  if ('encryptionJwk' in over && privateKey === undefined)
    throw new Error('pass the private key of encryptionJwk, or use unprovenMerchant');
  const merchant = await unprovenMerchant(owner, { encryptionJwk: made.jwk, ...over });
  const proof = await proofOf(merchant.key_challenge, privateKey ?? made.privateKey);
  await owner.client(merchantsArea).activateMerchantEncryptionKey({ params: { id: merchant.id }, body: { proof } });
  return merchant;
}

/** The merchant of a sampler's owner, with its secret key. */
export const theMerchant = (one: Sampler) => registeredMerchant(one.owner);
