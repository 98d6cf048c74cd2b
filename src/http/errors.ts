/**
 * The edge's translator: every error code has a status, and anything that is not a DomainError is a bug that is
 * logged with its request id and answered without details. Bodies are exactly `{error}`.
 * @module
 */
import * as z from 'zod';
import { isDatabaseAway } from '../db/database.ts';
import { DomainError, type ErrorCode } from '../kernel/errors.ts';
import { redactText } from '../platform/redact.ts';
import { echoed } from './echo.ts';

export const statusOf = {
  invalid_request: 400,
  invalid_state: 400,
  insufficient_funds: 400,
  unauthenticated: 401,
  forbidden: 403,
  insufficient_scope: 403,
  agent_isolation: 403,
  plan_limit_exceeded: 403,
  policy_denied: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  idempotency_conflict: 409,
  gone: 410,
  too_large: 413,
  rate_limited: 429,
  unavailable: 503,
} as const satisfies Record<ErrorCode, number>;

/** The machine-readable label goes into `X-Service-Error-Code`; two are published under older names. */
const publishedLabel: Partial<Record<ErrorCode, string>> = {
  agent_isolation: 'E_AGENT_ISOLATION',
  plan_limit_exceeded: 'E_PLAN_LIMIT_EXCEEDED',
};

export const errorBody = z.object({ error: z.string() }).meta({ id: 'Error' });

export type Refusal = {
  readonly status: number;
  readonly label: string;
  readonly message: string;
  readonly retryAfterSeconds: number | undefined;
  /** Set when this is a bug of ours. */
  readonly bug: unknown;
};

export function refusalOf(error: unknown): Refusal {
  if (error instanceof DomainError) {
    return {
      status: statusOf[error.code],
      label: publishedLabel[error.code] ?? error.code,
      message: redactText(error.message), // It may repeat a caller's own words.
      retryAfterSeconds: error.retryAfterSeconds,
      bug: undefined,
    };
  }
  if (isDatabaseAway(error)) {
    const message = 'the database cannot be reached; this may have taken effect; repeat with the same Idempotency-Key';
    return { status: 503, label: 'unavailable', message, retryAfterSeconds: 5, bug: undefined };
  }
  return {
    status: 500,
    label: 'internal',
    message: 'something broke on our side',
    retryAfterSeconds: undefined,
    bug: error,
  };
}

/** `body.amountEuros: must be …`: the first few problems, each with where it is. */
export function invalid(where: string, error: z.ZodError): DomainError {
  const sentences = error.issues.slice(0, 5).map((issue) => {
    const place = [where, ...issue.path.map((part) => echoed(String(part)))].join('.');
    // Names of unknown fields are the caller's own words.
    const message = issue.code === 'unrecognized_keys' ? echoed(issue.message) : issue.message;
    return `${place}: ${message.charAt(0).toLowerCase()}${message.slice(1)}`;
  });
  return new DomainError('invalid_request', sentences.join('; '));
}
