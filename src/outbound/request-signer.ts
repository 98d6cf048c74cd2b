/**
 * Signs outbound requests with an agent's key. Each call makes a new signature with its own nonce and time, because a
 * merchant may refuse one that it has seen. The key signs here and goes nowhere else.
 * @module
 */
import { createHash, randomBytes } from 'node:crypto';
import {
  contentDigestOf,
  nonceBytes,
  type RequestPurpose,
  type SignatureProfile,
  signatureHeaders,
  unsignedSignature,
} from './message-signature.rules.ts';

export type OutboundToSign = {
  readonly method: string;
  readonly url: URL;
  readonly body: string | Uint8Array | undefined;
  readonly purpose: RequestPurpose;
};

/** The header fields to add to exactly this request, which is sent once. */
export type RequestSigner = (request: OutboundToSign) => Promise<Readonly<Record<string, string>>>;

export type SignerOptions = {
  readonly profiles: readonly SignatureProfile[];
  /** The key set in which merchants find the public key. */
  readonly keySetUrl: string;
  readonly keyid: string;
  /** An Ed25519 signature of these bytes. */
  readonly sign: (bytes: Uint8Array) => Promise<Uint8Array>;
  /** Real time, replaced in tests. */
  readonly now?: () => Date;
};

export const createRequestSigner =
  ({ profiles, keySetUrl, keyid, sign, now = () => new Date() }: SignerOptions): RequestSigner =>
  async ({ body, ...request }) => {
    const contentDigest = body === undefined ? undefined : contentDigestOf(createHash('sha256').update(body).digest());
    const toSign = { ...request, contentDigest };
    const created = now();
    const signed = await Promise.all(
      profiles.map(async (profile) => {
        const nonce = randomBytes(nonceBytes).toString('base64url');
        const unsigned = unsignedSignature(profile, toSign, keySetUrl, { created, keyid, nonce });
        return { ...unsigned, signature: await sign(new TextEncoder().encode(unsigned.base)) };
      }),
    );
    return signatureHeaders(signed, keySetUrl, contentDigest);
  };
