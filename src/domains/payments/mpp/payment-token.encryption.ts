/**
 * Encrypts a payment token for a merchant's enabler: JWE compact, RSA-OAEP-256 and A256GCM (card method, draft-00).
 * Checks no key; `readEncryptionKey` did.
 * @module
 */
import { CompactEncrypt, importJWK } from 'jose';
import { type EncryptionJwk, keyAlgorithm } from './encryption-key.rules.ts';

export const dynamicDataTypes = [
  'CARD_APPLICATION_CRYPTOGRAM_SHORT_FORM',
  'CARD_APPLICATION_CRYPTOGRAM_LONG_FORM',
  'CARDHOLDER_AUTHENTICATION_CRYPTOGRAM',
  'NONE',
] as const;

/** A secret: it pays. */
export type PaymentToken = {
  readonly token: {
    readonly paymentToken: string;
    /** Two digits. */
    readonly tokenExpirationMonth: string;
    /** Four digits. */
    readonly tokenExpirationYear: string;
    readonly eci: string;
  };
  readonly dynamicData: {
    readonly dynamicDataValue: string;
    readonly dynamicDataType: (typeof dynamicDataTypes)[number];
    /** Seconds since 1970. */
    readonly dynamicDataExpiration: number;
  };
};

/** The header names algorithm, encryption and key only; the plaintext is minified JSON. */
export async function encryptPaymentToken({ token, dynamicData }: PaymentToken, jwk: EncryptionJwk): Promise<string> {
  const plaintext = new TextEncoder().encode(JSON.stringify({ token, dynamicData }));
  return new CompactEncrypt(plaintext)
    .setProtectedHeader({ alg: keyAlgorithm, enc: 'A256GCM', kid: jwk.kid })
    .encrypt(await importJWK(jwk, keyAlgorithm));
}
