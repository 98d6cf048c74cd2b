/**
 * Secrets and signatures of deliveries: the service's own header, keyed by the whole secret as text, and the Standard
 * Webhooks header, keyed by the bytes that the secret encodes. Sends nothing.
 * @module
 */
import { createHmac, randomBytes } from 'node:crypto';
import { packageVersion } from '../../../platform/package-version.ts';

const prefix = 'whsec_';
const userAgent = `Bursar-Webhooks/${packageVersion.split('.').slice(0, 2).join('.')}`;

export const newWebhookSecret = (): string => prefix + randomBytes(32).toString('base64');

export type Signed = {
  /** One per attempt. */
  readonly attemptId: string;
  /** The same over all attempts. */
  readonly deliveryId: string;
  readonly unixSeconds: number;
  readonly body: string;
};

/** `sha256=<hex>` over `attemptId.timestamp.body`. */
export const serviceSignature = (secret: string, { attemptId, unixSeconds, body }: Signed): string =>
  `sha256=${createHmac('sha256', secret).update(`${attemptId}.${unixSeconds}.${body}`).digest('hex')}`;

/** `v1,<base64>` over `deliveryId.timestamp.body`. Node takes five times as long where the key is given as bytes. */
export const standardSignature = (secret: string, { deliveryId, unixSeconds, body }: Signed): string =>
  `v1,${createHmac('sha256', secret.slice(prefix.length), { encoding: 'base64' })
    .update(`${deliveryId}.${unixSeconds}.${body}`)
    .digest('base64')}`;

export type Occurrence = {
  readonly event: string;
  readonly createdAt: Date;
  readonly data: Record<string, unknown>;
  /** Sorts the events of one subject. In the body, so that it is signed; the header is for who routes by it. */
  readonly sequence: number;
};

/** The body as signed and sent; the same bytes at every attempt. */
export const bodyOf = ({ event, createdAt, data, sequence }: Occurrence): string =>
  JSON.stringify({ event, createdAt: createdAt.toISOString(), data, sequence });

export type SentEvent = {
  readonly event: string;
  /** Sorts the events of one subject. */
  readonly sequence: number;
  readonly requestId: string;
  readonly runId?: string | null;
};

export type Secrets = {
  readonly secret: string;
  /** The one before it, while both sign. */
  readonly previous?: string;
};

export function deliveryHeaders(
  { secret, previous }: Secrets,
  signed: Signed,
  { event, sequence, requestId, runId }: SentEvent,
): Record<string, string> {
  const headers: Record<string, string> = {
    'Content-Type': 'application/json',
    'user-agent': userAgent, // As the client writes its own, which this replaces.
    'X-Service-Event': event,
    'X-Service-Sequence': String(sequence),
    'X-Service-Timestamp': String(signed.unixSeconds),
    'X-Service-Delivery-Id': signed.attemptId,
    'X-Service-Signature': serviceSignature(secret, signed),
    'X-Request-Id': requestId,
    'webhook-id': signed.deliveryId,
    'webhook-timestamp': String(signed.unixSeconds),
    'webhook-signature': standardSignature(secret, signed),
  };
  if (runId != null) headers['X-Service-Run-Id'] = runId;
  if (previous !== undefined) {
    headers['X-Service-Signature-Previous'] = serviceSignature(previous, signed);
    headers['webhook-signature'] += ` ${standardSignature(previous, signed)}`;
  }
  return headers;
}
