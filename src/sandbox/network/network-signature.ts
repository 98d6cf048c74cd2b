/**
 * Signs what the network and the bank send: HMAC-SHA256 over the timestamp, the request line and the raw body, of a file
 * over its digest, in real time.
 * @module
 */
import { createHash, createHmac } from 'node:crypto';

/** `requestLine`: method and request target as they are sent, query included: `POST /network/clearings`. */
export type MessageToSign = { readonly requestLine: string; readonly rawBody: string; readonly unixSeconds: number };

export function networkSignature(key: string, { requestLine, rawBody, unixSeconds }: MessageToSign): string {
  const mac = createHmac('sha256', key).update(`${unixSeconds}.${requestLine}.${rawBody}`).digest('hex');
  return `t=${unixSeconds},v1=${mac}`;
}

/** So that a large file is known as the bank's before its body is read. */
export function fileSignature(key: string, { requestLine, rawBody, unixSeconds }: MessageToSign) {
  const digest = `sha-256=:${createHash('sha256').update(rawBody).digest('base64')}:`;
  const mac = createHmac('sha256', key).update(`v2.${unixSeconds}.${requestLine}.${digest}`).digest('hex');
  return { 'Content-Digest': digest, 'X-Network-Signature': `t=${unixSeconds},v2=${mac}` };
}
