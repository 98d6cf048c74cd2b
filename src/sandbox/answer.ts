/** Refusals of the sandbox: a status and a message, thrown by any part of it and answered in one place. @module */
import type { z } from 'zod';

export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** What the schema makes of it; otherwise 400 naming every field that is wrong. */
export function parsed<S extends z.ZodType>(schema: S, value: unknown): z.infer<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const problems = result.error.issues.map((issue) => `${issue.path.join('.') || 'body'}: ${issue.message}`);
  throw new Refusal(400, problems.join('; '));
}

const keyForm = /^[\x21-\x7e]{1,255}$/;

/** The Idempotency-Key header; 400 where it is missing or malformed. */
export function idempotencyKey(header: string | undefined): string {
  const key = optionalKey(header);
  if (key === undefined) throw new Refusal(400, 'Idempotency-Key header is missing: send the same one when repeating');
  return key;
}

export function optionalKey(header: string | undefined): string | undefined {
  if (header !== undefined && !keyForm.test(header)) {
    throw new Refusal(400, 'Idempotency-Key must be 1 to 255 visible ASCII characters');
  }
  return header;
}
