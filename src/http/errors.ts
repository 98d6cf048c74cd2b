/**
 * The edge's translator: every error code has a status, and anything that is not a DomainError is a bug that is
 * logged with its request id and answered without details. Bodies are exactly `{error}`.
 * @module
 */
import * as z from 'zod';
import { isDatabaseAway } from '../db/database.ts';
import { DomainError } from '../kernel/errors.ts';
import { redactText } from '../platform/redact.ts';
import { bugLabel, labelOf, statusOf } from './error-codes.ts';
import { nearName } from './near-name.ts';
import { sanitizeForError } from './sanitize-for-error.ts';

export const errorBody = z
  .object({
    error: z.string().meta({
      description:
        'What is wrong and what to change, as one sentence for people. Programs read `X-Service-Error-Code`.',
      examples: ['body.amountEuros: is missing'],
    }),
  })
  .meta({ id: 'ApiError', description: 'The body of every refusal.' });

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
      label: labelOf(error.code),
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
    label: bugLabel,
    message: 'something broke on our side',
    retryAfterSeconds: undefined,
    bug: error,
  };
}

/**
 * `body.amountEuros: must be …`: the first few problems, each with where it is. With the `schema` that the error is of,
 * an unknown name is answered with a known one that is near it.
 */
export function invalid(where: string, error: z.ZodError, schema?: z.ZodType): DomainError {
  const sentences = error.issues.slice(0, 5).map((issue) => {
    const place = [where, ...issue.path.map((part) => sanitizeForError(String(part)))].join('.');
    const message =
      issue.code === 'unrecognized_keys'
        ? unknownNames(where, issue.keys, schema === undefined ? [] : namesAt(schema, issue.path))
        : issue.message;
    return `${place}: ${message.charAt(0).toLowerCase()}${message.slice(1)}`;
  });
  return new DomainError('invalid_request', sentences.join('; '));
}

/** The unknown names are the caller's own words. */
function unknownNames(where: string, unknown: readonly string[], known: readonly string[]): string {
  const kind = where === 'query' ? 'parameter' : 'field';
  const sentences = unknown.slice(0, 5).map((name) => {
    const near = nearName(name, known);
    return `unknown ${kind} ${sanitizeForError(name)}${near === undefined ? '' : `; did you mean ${near}?`}`;
  });
  return sentences.join(', ');
}

/** The names that the object at `path` may have; none where no single object stands there. */
function namesAt(schema: z.ZodType, [step, ...rest]: readonly PropertyKey[]): string[] {
  const inner = unwrapped(schema);
  if (inner instanceof z.ZodArray) return step === undefined ? [] : namesAt(inner.element as z.ZodType, rest);
  if (!(inner instanceof z.ZodObject)) return [];
  if (step === undefined) return Object.keys(inner.shape);
  const next = inner.shape[String(step)] as z.ZodType | undefined;
  return next === undefined ? [] : namesAt(next, rest);
}

function unwrapped(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodPipe) return unwrapped(schema.in as z.ZodType);
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault) {
    return unwrapped(schema.unwrap() as z.ZodType);
  }
  return schema;
}
