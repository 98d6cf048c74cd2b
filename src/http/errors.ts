/**
 * The edge's translator: every error code has a status, and anything that is not a DomainError is a bug that is
 * logged with its request id and answered without details. Bodies are exactly `{error}`, or problem details of RFC 9457.
 * @module
 */
import { STATUS_CODES } from 'node:http';
import * as z from 'zod';
import { isDatabaseAway } from '../db/database.ts';
import { DomainError } from '../kernel/errors.ts';
import { redactText } from '../platform/redact.ts';
import { bugLabel, labelOf, statusOf } from './error-codes.ts';

export const errorBody = z
  .strictObject({
    error: z.string().meta({
      description:
        'What is wrong and what to change, as one sentence for people. Programs read `X-Service-Error-Code`.',
      examples: ['body.amountEuros: is missing'],
    }),
  })
  .meta({ id: 'ApiError', description: 'The body of every refusal.' });

export const problemType = 'application/problem+json';

export const problemBody = z
  .object({
    type: z.string().meta({
      description: 'The kind of problem: `urn:bursar:problem:` and the value of `X-Service-Error-Code`.',
      examples: ['urn:bursar:problem:conflict'],
    }),
    title: z.string().meta({ description: 'The name of the status.', examples: ['Conflict'] }),
    status: z.int().meta({ description: 'The status of the answer.', examples: [409] }),
    detail: z.string().meta({
      description: 'What is wrong and what to change, as one sentence for people.',
      examples: ['the credential was used before'],
    }),
    error: z.string().meta({ description: 'The same sentence.', examples: ['the credential was used before'] }),
  })
  .meta({ id: 'Problem', description: 'A refusal as problem details (RFC 9457).' });

export const problemOf = ({
  label,
  status,
  message,
}: Pick<Refusal, 'label' | 'status' | 'message'>): z.infer<typeof problemBody> => ({
  type: `urn:bursar:problem:${label}`,
  title: STATUS_CODES[status] ?? 'Refused',
  status,
  detail: message,
  error: message,
});

export type Refusal = {
  readonly status: number;
  readonly label: string;
  readonly message: string;
  readonly retryAfterSeconds: number | undefined;
  readonly headers?: Readonly<Record<string, string>>;
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
      headers: error.headers,
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
