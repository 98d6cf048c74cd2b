/** The types of tokens that Bursar signs, their claims, and which of the claims everyone may read. Pure. @module */
import type { Cents } from '../../../kernel/money.ts';

export const tokenTypes = ['receipt', 'payment_token'] as const;
export type TokenType = (typeof tokenTypes)[number];

/** The `typ` of the JWS header: a token of one type is never taken for another. */
export const headerTypes = {
  receipt: 'bursar-receipt+jwt',
  payment_token: 'bursar-payment-token+jwt',
} as const satisfies Record<TokenType, string>;

export const typeOfHeader = (typ: unknown): TokenType | undefined =>
  tokenTypes.find((type) => headerTypes[type] === typ);

export type ReceiptFacts = {
  readonly credentialId: string;
  /** The transaction that paid; null while only the merchant's verification is known. */
  readonly transactionId: string | null;
  readonly challengeId: string;
  /** Null for a merchant that is not registered. */
  readonly merchantId: string | null;
  readonly amountCents: Cents;
  readonly settledAt: Date;
};

/** Amounts are minor units in digits and currencies are in lower case, as in challenges. */
export const receiptClaims = (facts: ReceiptFacts) => ({
  jti: facts.credentialId,
  status: 'success',
  method: 'card',
  reference: facts.transactionId ?? facts.credentialId,
  challengeId: facts.challengeId,
  timestamp: facts.settledAt.toISOString(),
  amount: String(facts.amountCents),
  currency: 'eur',
  ...(facts.merchantId === null ? {} : { merchantId: facts.merchantId }),
});

export type PaymentTokenFacts = {
  readonly tokenId: string;
  readonly agentId: string;
  readonly recipientWalletId: string;
  readonly amountCents: Cents;
  readonly nonce: string | null;
};

export const paymentTokenClaims = (facts: PaymentTokenFacts) => ({
  jti: facts.tokenId,
  sub: facts.agentId,
  aud: facts.recipientWalletId,
  amount: String(facts.amountCents),
  currency: 'eur',
  ...(facts.nonce === null ? {} : { nonce: facts.nonce }),
});

/** What names an agent, a wallet or a nonce is for the parties of the payment only. */
export const publicClaims = [
  'iss',
  'iat',
  'exp',
  'jti',
  'status',
  'method',
  'reference',
  'challengeId',
  'timestamp',
  'amount',
  'currency',
  'merchantId',
] as const;

export const refusedTokenReasons = [
  'malformed',
  'unsupported_algorithm',
  'unknown_type',
  'unknown_key',
  'revoked_key',
  'bad_signature',
  'expired',
  'not_yet_valid',
] as const;
export type RefusedTokenReason = (typeof refusedTokenReasons)[number];

/** For people. A revoked key is named with its revocation by the one who looked it up. */
export const reasonInWords: Readonly<Record<RefusedTokenReason, string>> = {
  malformed: 'This is no compact JWS with the claims of its type.',
  unsupported_algorithm: 'The algorithm is not EdDSA.',
  unknown_type: 'The header names no type of token that this service signs.',
  unknown_key: 'No key of receipts and tokens of this service has this kid.',
  revoked_key: 'The key was revoked, so nothing that it signed is valid.',
  bad_signature: 'The signature is not of this content.',
  expired: 'The token has expired.',
  not_yet_valid: 'The token is not valid yet.',
};
