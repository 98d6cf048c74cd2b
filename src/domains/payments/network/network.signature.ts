/**
 * Identifies the network adapter that signed a message: HMAC-SHA256 over the timestamp, the request line and the raw
 * body, at most five minutes of real time old or ahead. Compares in constant time and never reports which part was
 * wrong.
 * @module
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** By adapter; each adapter has its own key. */
export type NetworkKeys = Readonly<Record<string, string>>;

const toleranceSeconds = 300;
const form = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/;

export type SignedRequest = {
  /** `X-Network-Signature`; undefined where it is missing or was sent twice. */
  readonly signature: string | undefined;
  /** Method and request target as sent, query included: `POST /network/clearings`. */
  readonly requestLine: string;
  readonly rawBody: Uint8Array;
};

export type Signer = {
  /** Undefined where the message is refused. */
  readonly adapter: string | undefined;
  /** Whose key signed it rightly where it is refused for its time alone. */
  readonly untimely?: Untimely;
};
/** `apartMs`: this clock minus the time of the message. */
export type Untimely = { readonly adapter: string; readonly apartMs: number };

/** `nowMs` is real time, whatever the business clock says. */
export function signerOf(
  { signature: header, requestLine, rawBody }: SignedRequest,
  keys: NetworkKeys,
  nowMs: number,
): Signer {
  const [, seconds, given] = form.exec(header ?? '') ?? [];
  if (seconds === undefined || given === undefined) return { adapter: undefined };
  const apartMs = nowMs - Number(seconds) * 1_000;
  const signature = Buffer.from(given, 'hex');
  const adapter = Object.keys(keys).find((one) => {
    const key = keys[one];
    if (key === undefined || key === '') return false;
    const expected = createHmac('sha256', key).update(`${seconds}.${requestLine}.`).update(rawBody).digest();
    return timingSafeEqual(expected, signature);
  });
  if (adapter === undefined || Math.abs(apartMs) <= toleranceSeconds * 1_000) return { adapter };
  return { adapter: undefined, untimely: { adapter, apartMs } };
}
