/**
 * The meaning of each error code for a caller: its status, its name in `X-Service-Error-Code`, and one sentence.
 * docs/errors.md explains each with its remedy.
 * @module
 */
import type { ErrorCode } from '../kernel/errors.ts';

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
  unsupported_encoding: 415,
  rate_limited: 429,
  unavailable: 503,
} as const satisfies Record<ErrorCode, number>;

/** The code of a 500, which is a bug and therefore no `ErrorCode`. */
export const bugLabel = 'internal';

/** Two codes are published under older names. */
const publishedLabel: Partial<Record<ErrorCode, string>> = {
  agent_isolation: 'E_AGENT_ISOLATION',
  plan_limit_exceeded: 'E_PLAN_LIMIT_EXCEEDED',
};

/** The value of `X-Service-Error-Code`. */
export const labelOf = (code: ErrorCode): string => publishedLabel[code] ?? code;

export const meaningOf: Readonly<Record<ErrorCode, string>> = {
  invalid_request: 'The request is malformed, or a field has a value that is not accepted.',
  invalid_state: 'The request is valid, but the state of a record or a limit forbids it.',
  insufficient_funds: 'The wallet or budget has too little available money.',
  unauthenticated: 'The credential is missing, unknown, expired or revoked.',
  forbidden: 'The credential is valid, but its kind may not do this.',
  insufficient_scope: 'The agent token lacks the scope of the operation.',
  agent_isolation: 'The record belongs to another agent of the same owner.',
  plan_limit_exceeded: 'The plan of the owner allows no more records of this kind.',
  policy_denied: 'A rule of the policy, or a freeze, forbids the payment.',
  not_found: 'No record with this id is visible to the caller.',
  method_not_allowed: 'The path exists, but not with this method.',
  conflict: 'The request contradicts a record that exists already.',
  idempotency_conflict: 'The Idempotency-Key belongs to another request, or to one that is still running.',
  gone: 'The link or code was used or has expired, or the events behind the position are not kept any more.',
  too_large: 'The body is larger than the operation accepts.',
  unsupported_encoding: 'The body has a Content-Encoding; only `identity` is accepted.',
  rate_limited: 'Too many requests in this minute.',
  unavailable: 'A service that the operation needs cannot be reached; the request may have taken effect.',
};
