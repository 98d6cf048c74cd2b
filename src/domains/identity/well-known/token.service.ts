/**
 * Signs receipts and payment tokens, and verifies them: compact JWS, EdDSA, with a key of the service's key set. Times
 * are real, because every JOSE library compares them with its own clock.
 * @module
 */
import { decodeProtectedHeader, errors, importJWK, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import type { Tx } from '../../../db/tx.ts';
import { serviceJwk } from './signing-key.queries.ts';
import type { SigningKey } from './signing-key.service.ts';
import {
  headerTypes,
  type PaymentTokenFacts,
  paymentTokenClaims,
  type ReceiptFacts,
  type RefusedTokenReason,
  reasonInWords,
  receiptClaims,
  type TokenType,
  typeOfHeader,
} from './token.rules.ts';

const algorithm = 'EdDSA';

type Signing = { readonly signer: SigningKey; readonly issuer: string };

/** A receipt does not expire. */
export const signReceipt = (signing: Signing, facts: ReceiptFacts): Promise<string> =>
  signed('receipt', receiptClaims(facts), signing).sign(signing.signer.key);

export const signPaymentToken = (signing: Signing, facts: PaymentTokenFacts, expiresAt: Date): Promise<string> =>
  signed('payment_token', paymentTokenClaims(facts), signing).setExpirationTime(expiresAt).sign(signing.signer.key);

const signed = (type: TokenType, claims: JWTPayload, { signer, issuer }: Signing): SignJWT =>
  new SignJWT(claims)
    .setProtectedHeader({ alg: algorithm, typ: headerTypes[type], kid: signer.kid })
    .setIssuer(issuer)
    .setIssuedAt();

export type TokenReading =
  | { readonly ok: true; readonly type: TokenType; readonly claims: JWTPayload }
  /** `type` as the header claims it. */
  | {
      readonly ok: false;
      readonly type: TokenType | undefined;
      readonly reason: RefusedTokenReason;
      readonly detail: string;
    };

/** Signature, type and expiry; whether a token was used is not asked. `now` is real time. */
export async function readToken(tx: Tx, token: string, now: Date = new Date()): Promise<TokenReading> {
  const header = headerOf(token);
  const type = typeOfHeader(header?.typ);
  const no = (reason: RefusedTokenReason, detail = reasonInWords[reason]): TokenReading => ({
    ok: false,
    type,
    reason,
    detail,
  });
  if (header === undefined) return no('malformed');
  // Before the key is read: a token chooses neither its algorithm nor another set of keys.
  if (header.alg !== algorithm) return no('unsupported_algorithm');
  if (type === undefined) return no('unknown_type');
  const found = typeof header.kid === 'string' ? await serviceJwk(tx, header.kid) : undefined;
  if (found === undefined) return no('unknown_key');
  const { jwk, revokedAt } = found;
  if (revokedAt !== null) return no('revoked_key', revokedInWords(jwk.kid, revokedAt));
  try {
    const { payload } = await jwtVerify(token, await importJWK({ ...jwk }, algorithm), {
      algorithms: [algorithm],
      typ: headerTypes[type],
      currentDate: now,
      requiredClaims: type === 'payment_token' ? ['exp'] : [],
    });
    return { ok: true, type, claims: payload };
  } catch (error) {
    return no(reasonOf(error));
  }
}

const revokedInWords = (kid: string, at: Date): string =>
  `The key ${kid} was revoked at ${at.toISOString()}, so nothing that it signed is valid.`;

function headerOf(token: string): { alg?: unknown; typ?: unknown; kid?: unknown } | undefined {
  if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return undefined;
  try {
    return decodeProtectedHeader(token);
  } catch {
    return undefined;
  }
}

function reasonOf(error: unknown): RefusedTokenReason {
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'bad_signature';
  if (error instanceof errors.JWTExpired) return 'expired';
  if (error instanceof errors.JWTClaimValidationFailed) return error.claim === 'nbf' ? 'not_yet_valid' : 'malformed';
  if (error instanceof errors.JOSEError) return 'malformed';
  throw error;
}
