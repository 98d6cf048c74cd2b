/** Signs what the network sends: HMAC-SHA256 over the timestamp, the request line and the raw body, in real time. @module */
import { createHmac } from 'node:crypto';

/** `requestLine`: method and request target as they are sent, query included: `POST /network/clearings`. */
export type MessageToSign = { readonly requestLine: string; readonly rawBody: string; readonly unixSeconds: number };

export function networkSignature(key: string, { requestLine, rawBody, unixSeconds }: MessageToSign): string {
  const mac = createHmac('sha256', key).update(`${unixSeconds}.${requestLine}.${rawBody}`).digest('hex');
  return `t=${unixSeconds},v1=${mac}`;
}
