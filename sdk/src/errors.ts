/**
 * What can go wrong with a call, as classes: a refusal of the service, no answer, an answer in time. The class of each
 * error code is generated from the interface; a code that this version does not know is a plain `RefusedError`.
 * @module
 */

/** The parent of every error that this package throws, except that of an `AbortSignal`, which is thrown as it is. */
export class BursarError extends Error {
  override readonly name: string = 'BursarError';
  /** The key of the call. A repeat with this key finds what the first call did. */
  readonly idempotencyKey: string | undefined;
  /** How many requests were sent. */
  readonly attempts: number;

  constructor(message: string, about: { attempts: number; idempotencyKey?: string | undefined; cause?: unknown }) {
    super(message, about.cause === undefined ? undefined : { cause: about.cause });
    this.attempts = about.attempts;
    this.idempotencyKey = about.idempotencyKey;
  }
}

/** No answer: the service cannot be reached, or the connection ended. The request may have taken effect. */
export class ConnectionError extends BursarError {
  override readonly name: string = 'ConnectionError';
}

/** No answer within `timeoutMs`. The request may have taken effect. */
export class TimeoutError extends BursarError {
  override readonly name: string = 'TimeoutError';
}

export type Refusal = {
  readonly operation: string;
  readonly status: number;
  readonly code: string | undefined;
  readonly message: string;
  readonly body: unknown;
  readonly headers: Headers;
  readonly attempts: number;
  readonly idempotencyKey?: string | undefined;
};

export type RateLimit = {
  readonly limitPerMinute: number;
  readonly remaining: number;
  readonly resetSeconds: number;
};

/** The service answered, and refused. `message` is its own sentence; programs read `code`. */
export class RefusedError extends BursarError {
  override readonly name: string = 'RefusedError';
  /** The operation id, for example `declareIntent`. */
  readonly operation: string;
  readonly status: number;
  /** From `X-Service-Error-Code`; `unknown` where something before the service answered. */
  readonly code: string;
  /** Names the request in the service's records and logs. */
  readonly requestId: string | undefined;
  /** The parsed body, or its text where it is no JSON. */
  readonly body: unknown;
  /** What the service asks to wait before a repeat. */
  readonly retryAfterMs: number | undefined;
  /** The figures of the rate limit, where the answer has them. */
  readonly rateLimit: RateLimit | undefined;

  constructor(refusal: Refusal) {
    super(refusal.message, refusal);
    this.operation = refusal.operation;
    this.status = refusal.status;
    this.code = refusal.code ?? 'unknown';
    this.requestId = refusal.headers.get('X-Request-Id') ?? undefined;
    this.body = refusal.body;
    this.retryAfterMs = retryAfterMsOf(refusal.headers);
    this.rateLimit = rateLimitOf(refusal.headers);
  }
}

export type RefusedErrorClass = new (refusal: Refusal) => RefusedError;

/** `Retry-After` as seconds or as a date; `undefined` where it is absent or neither. */
function retryAfterMsOf(headers: Headers): number | undefined {
  const text = headers.get('Retry-After')?.trim();
  if (text === undefined || text === '') return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}

function rateLimitOf(headers: Headers): RateLimit | undefined {
  const [limitPerMinute, remaining, resetSeconds] = ['Limit', 'Remaining', 'Reset'].map((name) => {
    const text = headers.get(`X-RateLimit-${name}`);
    return text !== null && /^\d+$/.test(text) ? Number(text) : undefined;
  });
  if (limitPerMinute === undefined || remaining === undefined || resetSeconds === undefined) return undefined;
  return { limitPerMinute, remaining, resetSeconds };
}
