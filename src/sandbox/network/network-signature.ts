/** Signs what the network sends: HMAC-SHA256 over the timestamp and the raw body, in real time. @module */
import { createHmac } from 'node:crypto';

export function networkSignature(key: string, rawBody: string, unixSeconds: number): string {
  const mac = createHmac('sha256', key).update(`${unixSeconds}.${rawBody}`).digest('hex');
  return `t=${unixSeconds},v1=${mac}`;
}
