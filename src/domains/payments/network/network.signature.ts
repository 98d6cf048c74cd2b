/**
 * Identifies the network adapter that signed a message: HMAC-SHA256 over the timestamp, the request line and the raw
 * body (v1) or its digest (v2), at most five minutes of real time old or ahead. Compares in constant time and never
 * reports which part was wrong.
 * @module
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** By adapter; each adapter has its own key. */
export type NetworkKeys = Readonly<Record<string, string>>;

const toleranceSeconds = 300;
const form = /^t=(\d{1,12}),(v[12])=([0-9a-f]{64})$/;
/** RFC 9530, with the one digest that is accepted. */
const digestForm = /^sha-256=:[0-9A-Za-z+/]{43}=:$/;

export type SignedHead = {
  /** `X-Network-Signature`; undefined where it is missing or was sent twice. */
  readonly signature: string | undefined;
  /** `Content-Digest`, which v2 signs in place of the body. */
  readonly contentDigest: string | undefined;
  /** Method and request target as sent, query included: `POST /network/clearings`. */
  readonly requestLine: string;
};
export type SignedRequest = SignedHead & { readonly rawBody: Uint8Array };

export type Signer = {
  /** Undefined where the message is refused. */
  readonly adapter: string | undefined;
  /** Whose key signed it rightly where it is refused for its time alone. */
  readonly untimely?: Untimely;
};
/** `apartMs`: this clock minus the time of the message. */
export type Untimely = { readonly adapter: string; readonly apartMs: number };

/** `nowMs` is real time, whatever the business clock says. */
export function signerOf({ rawBody, ...head }: SignedRequest, keys: NetworkKeys, nowMs: number): Signer {
  const given = readHead(head);
  if (given === undefined) return { adapter: undefined };
  if (given.digest === undefined) return signerBy(given, keys, nowMs, rawBody);
  const digest = `sha-256=:${createHash('sha256').update(rawBody).digest('base64')}:`;
  return digest === given.digest ? signerBy(given, keys, nowMs) : { adapter: undefined };
}

/** Before the body is there. `by body`: the signature is over the body itself, and its form is right. */
export function signerOfHead(head: SignedHead, keys: NetworkKeys, nowMs: number): Signer | 'by body' {
  const given = readHead(head);
  if (given === undefined) return { adapter: undefined };
  return given.digest === undefined ? 'by body' : signerBy(given, keys, nowMs);
}

/** `signed`: what the signature is over, up to the body. */
type GivenSignature = {
  readonly seconds: string;
  readonly signed: string;
  readonly signature: Buffer;
  /** Of v2. */
  readonly digest: string | undefined;
};

function readHead({ signature: header, contentDigest, requestLine }: SignedHead): GivenSignature | undefined {
  const [, seconds, version, hex] = form.exec(header ?? '') ?? [];
  if (seconds === undefined || hex === undefined) return undefined;
  const signature = Buffer.from(hex, 'hex');
  if (version === 'v1') return { seconds, signature, signed: `${seconds}.${requestLine}.`, digest: undefined };
  if (contentDigest === undefined || !digestForm.test(contentDigest)) return undefined;
  // With its version, so that no body of a v1 message can be read as a digest.
  return { seconds, signature, signed: `v2.${seconds}.${requestLine}.${contentDigest}`, digest: contentDigest };
}

function signerBy(
  { seconds, signed, signature }: GivenSignature,
  keys: NetworkKeys,
  nowMs: number,
  rawBody: Uint8Array | '' = '',
): Signer {
  const apartMs = nowMs - Number(seconds) * 1_000;
  const adapter = Object.keys(keys).find((one) => {
    const key = keys[one];
    if (key === undefined || key === '') return false;
    const expected = createHmac('sha256', key).update(signed).update(rawBody).digest();
    return timingSafeEqual(expected, signature);
  });
  if (adapter === undefined || Math.abs(apartMs) <= toleranceSeconds * 1_000) return { adapter };
  return { adapter: undefined, untimely: { adapter, apartMs } };
}
