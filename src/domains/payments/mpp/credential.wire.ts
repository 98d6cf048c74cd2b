/**
 * The wire forms around a payment: the credential that answers a challenge, the digest of a request body, and the
 * receipt of a merchant (draft-httpauth-payment-01). Knows no card and encrypts nothing.
 * @module
 */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import { type CardNetwork, type Challenge, jsonOf, type paymentAuthorization } from './challenge.wire.ts';

/** The `payload` of a card credential. Only the merchant's enabler can read `encryptedPayload`. */
export type CardPayload = {
  readonly encryptedPayload: string;
  readonly network: CardNetwork;
  readonly panLastFour: string;
  /** Two digits. */
  readonly panExpirationMonth: string;
  /** Four digits. */
  readonly panExpirationYear: string;
  readonly paymentAccountReference?: string;
};

/** Returns the one header that carries the credential. Its value is a secret, like a password. */
export function credentialHeader(
  challenge: Challenge,
  payload: CardPayload,
): { readonly name: 'Authorization' | typeof paymentAuthorization; readonly value: string } {
  const credential = Buffer.from(JSON.stringify({ challenge, payload })).toString('base64url');
  return { name: challenge.header ?? 'Authorization', value: `Payment ${credential}` };
}

/** `sha-256=:<base64>:` of RFC 9530. */
export const digestOf = (body: Uint8Array): string => `sha-256=:${sha256(body)}:`;

/**
 * Whether a challenge's digest is that of the body which was sent. Some merchants leave the colons out. A digest of
 * another algorithm is not compared: the body is sent again byte by byte whatever it is.
 */
export function digestFits(digest: string, body: Uint8Array): boolean {
  const sha = /(?:^|,)\s*sha-256=:?([A-Za-z0-9+/]+={0,2}):?\s*(?:,|$)/.exec(digest)?.[1];
  return sha === undefined ? !digest.includes('sha-256=') : sha === sha256(body);
}

const sha256 = (body: Uint8Array): string => createHash('sha256').update(body).digest('base64');

export type Receipt = {
  readonly method: string;
  readonly reference: string;
  readonly timestamp: string | null;
  readonly challengeId: string | null;
  readonly externalId: string | null;
};

const word = z.string().max(512);
const receiptForm = z.object({
  status: z.literal('success'),
  method: word,
  reference: word,
  timestamp: word.optional(),
  challengeId: word.optional(),
  externalId: word.optional(),
});

/** Longer receipts are neither decoded nor stored. */
export const longestReceiptBytes = 8_192;

export type ReceiptReading =
  | { readonly ok: true; readonly receipt: Receipt }
  | { readonly ok: false; readonly reason: string };

/** Reads a merchant's `Payment-Receipt`. A receipt that names another challenge proves nothing about this one. */
export function readReceipt(header: string, challengeId: string): ReceiptReading {
  if (header.length > longestReceiptBytes)
    return { ok: false, reason: `the receipt is longer than ${longestReceiptBytes} bytes` };
  const { success, data } = receiptForm.safeParse(jsonOf(header));
  if (!success) return { ok: false, reason: 'the receipt is not a receipt of the draft' };
  if (data.method !== 'card') return { ok: false, reason: `the receipt is for the method ${data.method.slice(0, 32)}` };
  if (data.challengeId !== undefined && data.challengeId !== challengeId)
    return { ok: false, reason: 'the receipt is for another challenge' };
  const { method, reference, timestamp = null, externalId = null } = data;
  return { ok: true, receipt: { method, reference, timestamp, challengeId: data.challengeId ?? null, externalId } };
}
