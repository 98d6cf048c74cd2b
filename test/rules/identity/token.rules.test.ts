/** What Bursar's tokens claim, which of it everyone may read, and the words for a token that is refused. @module */
import { expect, test } from '@jest/globals';
import {
  headerTypes,
  paymentTokenClaims,
  publicClaims,
  reasonInWords,
  receiptClaims,
  refusedTokenReasons,
  tokenTypes,
  typeOfHeader,
} from '../../../src/domains/identity/well-known/token.rules.ts';
import { cents } from '../../../src/kernel/money.ts';

test('a token of one type is never taken for another', () => {
  expect(tokenTypes).toEqual(['receipt', 'payment_token']);
  expect(headerTypes).toEqual({ receipt: 'bursar-receipt+jwt', payment_token: 'bursar-payment-token+jwt' });
  for (const type of tokenTypes) expect(typeOfHeader(headerTypes[type])).toBe(type);
  for (const other of ['JWT', 'receipt', '', undefined, null]) expect(typeOfHeader(other)).toBeUndefined();
});

const receipt = {
  ...{ credentialId: 'crd_1', transactionId: 'txn_1', challengeId: 'ch_1', merchantId: 'mer_1' },
  ...{ amountCents: cents(499), settledAt: new Date('2026-11-22T10:00:00.000Z') },
};

test('a receipt says what was paid, in minor units and lower case', () => {
  expect(receiptClaims(receipt)).toStrictEqual({
    ...{ jti: 'crd_1', status: 'success', method: 'card', reference: 'txn_1', challengeId: 'ch_1' },
    ...{ timestamp: '2026-11-22T10:00:00.000Z', amount: '499', currency: 'eur', merchantId: 'mer_1' },
  });
});

test('a receipt names its credential before a transaction is known, and no merchant that is not registered', () => {
  const { reference, ...claims } = receiptClaims({ ...receipt, transactionId: null, merchantId: null });
  expect(reference).toBe('crd_1');
  expect(claims).not.toHaveProperty('merchantId');
});

const payment = { tokenId: 'ptk_1', agentId: 'ag_1', recipientWalletId: 'wal_1', amountCents: cents(1), nonce: 'n' };

test('a payment token names its parties, and a nonce where it was given', () => {
  const claims = { jti: 'ptk_1', sub: 'ag_1', aud: 'wal_1', amount: '1', currency: 'eur' };
  expect(paymentTokenClaims(payment)).toStrictEqual({ ...claims, nonce: 'n' });
  expect(paymentTokenClaims({ ...payment, nonce: null })).toStrictEqual(claims);
});

test('everyone may read a whole receipt, and of a payment token neither agent nor wallet nor nonce', () => {
  const hidden = (claims: object) =>
    Object.keys(claims).filter((name) => !(publicClaims as readonly string[]).includes(name));
  expect(hidden(receiptClaims(receipt))).toEqual([]);
  expect(hidden(paymentTokenClaims(payment))).toEqual(['sub', 'aud', 'nonce']);
  expect(publicClaims.slice(0, 3)).toEqual(['iss', 'iat', 'exp']);
});

test('each reason why a token is refused has its words', () => {
  expect(refusedTokenReasons.map((reason) => [reason, reasonInWords[reason]])).toEqual([
    ['malformed', 'This is no compact JWS with the claims of its type.'],
    ['unsupported_algorithm', 'The algorithm is not EdDSA.'],
    ['unknown_type', 'The header names no type of token that this service signs.'],
    ['unknown_key', 'No key of receipts and tokens of this service has this kid.'],
    ['revoked_key', 'The key was revoked, so nothing that it signed is valid.'],
    ['bad_signature', 'The signature is not of this content.'],
    ['expired', 'The token has expired.'],
    ['not_yet_valid', 'The token is not valid yet.'],
  ]);
});
