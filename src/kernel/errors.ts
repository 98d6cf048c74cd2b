/**
 * The codes of every refusal, as one closed union. Exactly two places translate them: http/errors.ts into a status,
 * activities/lib/refusals.ts into a workflow failure. Any other exception is a bug: 500.
 * @module
 */
export const errorCodes = [
  'invalid_request',
  'invalid_state',
  'insufficient_funds',
  'unauthenticated',
  'forbidden',
  'insufficient_scope',
  'agent_isolation',
  'plan_limit_exceeded',
  'policy_denied',
  'not_found',
  'method_not_allowed',
  'conflict',
  'idempotency_conflict',
  'gone',
  'too_large',
  'unsupported_encoding',
  'rate_limited',
  'unavailable',
] as const;
export type ErrorCode = (typeof errorCodes)[number];

/** The rule that refused, by its code, and its figures as callers see them; for protocols with structured refusals. */
export type RefusedBy = {
  readonly rule: string;
  readonly figures?: Readonly<Record<string, string | number | boolean | null>>;
};

export class DomainError extends Error {
  override readonly name = 'DomainError';
  readonly code: ErrorCode;
  /** Seconds after which repeating makes sense; sent as `Retry-After`. */
  readonly retryAfterSeconds: number | undefined;
  /** A person's proof that failed, such as a passkey's: traced like a 401, whatever its status. */
  readonly isFailedVerification: boolean;
  /** Further headers of the answer. */
  readonly headers: Readonly<Record<string, string>>;
  readonly refusedBy: RefusedBy | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      retryAfterSeconds?: number;
      isFailedVerification?: boolean;
      headers?: Readonly<Record<string, string>>;
      refusedBy?: RefusedBy | undefined;
      cause?: unknown;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.isFailedVerification = options.isFailedVerification ?? false;
    this.headers = options.headers ?? {};
    this.refusedBy = options.refusedBy;
  }
}

/** The standard 503: the caller repeats with the same key and finds the same records. */
export const unavailable = (what: string, cause?: unknown): DomainError =>
  new DomainError('unavailable', `${what}; repeat with the same Idempotency-Key`, { retryAfterSeconds: 5, cause });

/** Unknown ids and other owners' ids read alike, so that ids do not leak. */
export const notFound = (noun: string, id: string): DomainError => new DomainError('not_found', `no ${noun} ${id}`);
