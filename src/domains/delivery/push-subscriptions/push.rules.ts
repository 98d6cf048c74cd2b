/**
 * What a device may subscribe to, and what the answer of its push service means for a message. Pure: answers and real
 * times are arguments.
 * @module
 */
import { createHash } from 'node:crypto';
import { hour, later, minute } from '../../../kernel/instant.ts';

export const pushKinds = ['approval', 'risk'] as const;
export type PushKind = (typeof pushKinds)[number];

/** `webhook` goes to the owner's devices that get risk alerts. */
export const messageKinds = [...pushKinds, 'webhook', 'test'] as const;
export type MessageKind = (typeof messageKinds)[number];

/** Undefined for keys that a browser makes: an uncompressed point of P-256, and 16 bytes that are shared with it. */
export function whyNotKeys({ p256dh, auth }: { readonly p256dh: string; readonly auth: string }): string | undefined {
  const point = Buffer.from(p256dh, 'base64url');
  if (point.length !== 65 || point[0] !== 4) return 'keys.p256dh must be an uncompressed point of P-256 (65 bytes)';
  return Buffer.from(auth, 'base64url').length === 16 ? undefined : 'keys.auth must be 16 bytes';
}

/** `status` null: the service gave no answer. `retryAfter`: the header. */
type Answer = { readonly status: number | null; readonly retryAfter: string | null };

export type PushOutcome =
  | { readonly kind: 'delivered' }
  /** The device is gone for good: RFC 8030 has 404, push services also send 410. */
  | { readonly kind: 'gone' }
  /** `deviceWaitsUntil`: the service asked to hold back what it gets for the device. */
  | { readonly kind: 'retry'; readonly at: Date; readonly deviceWaitsUntil: Date | null }
  /** A person has decided, or the time to decide is over. */
  | { readonly kind: 'obsolete' }
  | { readonly kind: 'failed' };

const gapsMs = [minute, 5 * minute, 15 * minute, hour];

/** `attempts` counts this one. A message is never sent after its end, because a person has acted otherwise by then. */
export function pushOutcome(
  { status, retryAfter }: Answer,
  { attempts, expiresAt }: { readonly attempts: number; readonly expiresAt: Date },
  realNow: Date,
): PushOutcome {
  if (status !== null && status >= 200 && status < 300) return { kind: 'delivered' };
  if (status === 404 || status === 410) return { kind: 'gone' };
  const mayPass = status === null || status === 408 || status === 429 || status >= 500;
  if (!mayPass) return { kind: 'failed' };
  const gap = gapsMs[Math.min(attempts, gapsMs.length) - 1] ?? minute;
  const askedMs = retryAfterMsOf(retryAfter, realNow);
  const at = later(realNow, Math.max(gap, askedMs ?? 0));
  const deviceWaitsUntil = askedMs === null ? null : later(realNow, askedMs);
  return at < expiresAt ? { kind: 'retry', at, deviceWaitsUntil } : { kind: 'failed' };
}

/** Seconds or a date, as HTTP has it; null for anything else. */
export function retryAfterMsOf(header: string | null, realNow: Date): number | null {
  if (header === null) return null;
  const ms = /^\d{1,7}$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - realNow.getTime();
  return Number.isFinite(ms) && ms > 0 ? ms : null;
}

/** Of the receiver its host alone: path and query of its URL may be a secret. */
export const disabledInWords = (host: string, why: string): string => `Events are no longer sent to ${host}: ${why}.`;

/** Without what it is about, which push services may read. */
export const topicOf = (kind: string, subjectId: string): string =>
  createHash('sha256').update(`${kind}/${subjectId}`).digest('base64url').slice(0, 32);

export type Announced = {
  readonly kind: MessageKind;
  readonly subjectId: string;
  /** Null where the event has none. */
  readonly amountEuros: string | null;
  /** Of a webhook that was disabled: its host, and why. */
  readonly detail: string | null;
};

/** What the device shows. Only the device can read it; names, purposes and accounts are left to the page. */
export function notificationOf({ kind, subjectId, amountEuros, detail }: Announced, link: string | undefined) {
  const [title, body] = texts[kind]({ amountEuros, detail });
  return { title, body, tag: subjectId, url: link === undefined ? null : new URL(link).pathname };
}

type Facts = Pick<Announced, 'amountEuros' | 'detail'>;

const texts: Readonly<Record<MessageKind, (facts: Facts) => readonly [string, string]>> = {
  approval: ({ amountEuros: amount }) => [
    'Your approval is needed',
    amount === null ? 'A request waits for your decision.' : `A payment of ${amount} EUR waits for your decision.`,
  ],
  webhook: ({ detail }) => ['Webhook disabled', detail ?? 'Nothing is sent to a receiver any more.'],
  risk: () => ['Risk alert', 'Bursar noticed something unusual about an agent or a payment.'],
  test: () => ['Bursar', 'Notifications reach this device.'],
};
