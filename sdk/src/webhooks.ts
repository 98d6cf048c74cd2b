/**
 * Verifies a delivery: that it was signed with the subscription's secret, over these bytes, a short time ago. Compares in
 * constant time by WebCrypto, so it runs on Node, Deno, Bun and workers alike.
 * @module
 */
import type { EventData } from './generated/events.ts';

export type EventName = keyof EventData;

type Occurrence = {
  readonly [Name in EventName]: {
    readonly event: Name;
    readonly data: EventData[Name];
  };
}[EventName];

/** A verified delivery. Events that are newer than this package arrive too: keep a `default` branch. */
export type Delivery = Occurrence & {
  /** Business time, ISO 8601. */
  readonly createdAt: string;
  /** The same at every attempt: handle each once. */
  readonly id: string;
  /** Sorts the events of one record; of the signed body. */
  readonly sequence: number | undefined;
};

export type DeliveryHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

export type Verification = {
  /** The body as it arrived, before anything parsed it. */
  readonly body: string | Uint8Array;
  readonly headers: DeliveryHeaders;
  /** `whsec_…`; several while a secret is exchanged. */
  readonly secret: string | readonly string[];
  /** How far the time of the signature may be from now; 300. */
  readonly toleranceSeconds?: number;
  /** The present, in milliseconds. */
  readonly now?: () => number;
};

export type VerificationFault = 'missing_header' | 'malformed' | 'outside_tolerance' | 'wrong_signature';

/** The delivery is not to be believed; answer 400 and do nothing. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
  readonly fault: VerificationFault;
  constructor(fault: VerificationFault, message: string) {
    super(message);
    this.fault = fault;
  }
}

/** Every signature that is present must be right, and at least one must be present. */
export async function verify(verification: Verification): Promise<Delivery> {
  const { headers, toleranceSeconds = 300, now = Date.now } = verification;
  const secrets = typeof verification.secret === 'string' ? [verification.secret] : verification.secret;
  if (secrets.length === 0 || !secrets.every(isSecret)) throw new TypeError('a webhook secret begins with whsec_');
  const body = bytesOf(verification.body);
  const nowSeconds = Math.floor(now() / 1_000);
  const header = (name: string): string => required(headers, name);

  const standard = headerOf(headers, 'webhook-signature');
  const own = ['x-service-signature', 'x-service-signature-previous'].flatMap((name) => headerOf(headers, name) ?? []);
  if (standard === undefined && own.length === 0) throw missing('webhook-signature');
  if (standard !== undefined) {
    const at = fresh(header('webhook-timestamp'), nowSeconds, toleranceSeconds);
    const message = joined(`${header('webhook-id')}.${at}.`, body);
    const given = standard.split(' ').flatMap((one) => (one.startsWith('v1,') ? (base64(one.slice(3)) ?? []) : []));
    await assertSigned(secrets.map(decodedKey), message, given);
  }
  if (own.length > 0) {
    const at = fresh(header('x-service-timestamp'), nowSeconds, toleranceSeconds);
    const message = joined(`${header('x-service-delivery-id')}.${at}.`, body);
    const given = own.flatMap((one) => (one.startsWith('sha256=') ? (hex(one.slice(7)) ?? []) : []));
    await assertSigned(secrets.map(bytesOf), message, given);
  }

  const { event, createdAt, data, sequence } = parsed(body);
  const id = standard === undefined ? header('x-service-delivery-id').replace(/\.\d+$/, '') : header('webhook-id');
  return { event, createdAt, data, id, sequence } as Delivery;
}

const isSecret = (secret: string): boolean => /^whsec_[A-Za-z0-9+/]{32,}={0,2}$/.test(secret);

const missing = (name: string): WebhookVerificationError =>
  new WebhookVerificationError('missing_header', `the header ${name} is missing`);

function required(headers: DeliveryHeaders, name: string): string {
  const value = headerOf(headers, name);
  if (value === undefined || value === '') throw missing(name);
  return value;
}

/** Of the headers of `fetch` or of Node; a header that came twice is malformed. */
function headerOf(headers: DeliveryHeaders, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const values = Object.entries(headers)
    .filter(([one, value]) => one.toLowerCase() === name && value !== undefined)
    .flatMap(([, value]) => value as string | readonly string[]);
  if (values.length > 1) throw new WebhookVerificationError('malformed', `the header ${name} came more than once`);
  return values[0];
}

function fresh(timestamp: string, nowSeconds: number, toleranceSeconds: number): string {
  if (!/^\d{1,12}$/.test(timestamp)) {
    throw new WebhookVerificationError('malformed', 'the timestamp is no number of seconds');
  }
  if (!(Math.abs(nowSeconds - Number(timestamp)) <= toleranceSeconds)) {
    throw new WebhookVerificationError('outside_tolerance', `the signature is not of the last ${toleranceSeconds} s`);
  }
  return timestamp;
}

async function assertSigned(
  keys: readonly Uint8Array[],
  message: Uint8Array,
  given: readonly Uint8Array[],
): Promise<void> {
  for (const key of keys) {
    const hmac = await crypto.subtle.importKey('raw', plain(key), { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
    for (const signature of given) {
      if (await crypto.subtle.verify('HMAC', hmac, plain(signature), plain(message))) return;
    }
  }
  throw new WebhookVerificationError('wrong_signature', 'no signature was made with this secret over this body');
}

/** WebCrypto takes bytes over an ArrayBuffer only. */
const plain = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => new Uint8Array(bytes);

const bytesOf = (text: string | Uint8Array): Uint8Array =>
  typeof text === 'string' ? new TextEncoder().encode(text) : text;

/** Standard Webhooks: the key is what the part behind the prefix encodes. */
function decodedKey(secret: string): Uint8Array {
  const key = base64(secret.slice('whsec_'.length));
  if (key === undefined) throw new TypeError('a webhook secret is whsec_ and base64');
  return key;
}

function joined(start: string, body: Uint8Array): Uint8Array {
  const head = bytesOf(start);
  const whole = new Uint8Array(head.length + body.length);
  whole.set(head);
  whole.set(body, head.length);
  return whole;
}

function base64(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
  } catch {
    return undefined; // No signature has this form.
  }
}

function hex(text: string): Uint8Array | undefined {
  if (!/^(?:[0-9a-f]{2})+$/.test(text)) return undefined;
  return Uint8Array.from(text.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}

type Body = { event: string; createdAt: string; data: unknown; sequence: number | undefined };

function parsed(body: Uint8Array): Body {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw new WebhookVerificationError('malformed', 'the body is no JSON');
  }
  const { event, createdAt, data, sequence } = (value ?? {}) as Record<string, unknown>;
  if (typeof event !== 'string' || typeof createdAt !== 'string' || typeof data !== 'object' || data === null) {
    throw new WebhookVerificationError('malformed', 'the body is no event');
  }
  return { event, createdAt, data, sequence: Number.isSafeInteger(sequence) ? Number(sequence) : undefined };
}
