/**
 * Checks a part of a request by its schema: returns the parsed value, or a refusal that names each wrong field.
 * @module
 */
import * as z from 'zod';
import { invalid } from './invalid.ts';
import { queryOf } from './query.ts';
import { inOurWords } from './validation-words.ts';

export function validated<Schema extends z.ZodType>(schema: Schema, where: string, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value, { error: inOurWords });
  if (!parsed.success) throw invalid(where, parsed.error, schema, value);
  return parsed.data;
}

/** `url`: of the request, as received. Without a schema the operation takes no query. */
export const validatedQuery = (schema: z.ZodObject | undefined, url: string): Record<string, unknown> =>
  validated(schema ?? noFields, 'query', queryOf(url));

/** The query of an operation that takes none. */
export const noFields = z.strictObject({});
