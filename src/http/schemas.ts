/** Wire types that every area uses: ids, euros, instants, pages. Wire shapes only. @module */
import * as z from 'zod';
import { type Id, type IdKind, idPattern } from '../kernel/ids.ts';
import { type Cents, centsFromEuros, inWords } from '../kernel/money.ts';
import { decodeCursor, defaultPageSize, maximumPageSize, type PageQuery } from '../kernel/page.ts';

/** A record id; any well-formed one is accepted, an unknown one is a 404. */
export const id = <K extends IdKind>(kind: K) =>
  z
    .string()
    .regex(idPattern(kind), `must be a ${kind} id`)
    .meta({ description: `id of ${/^[aeiou]/.test(kind) ? 'an' : 'a'} ${kind}` })
    .transform((text) => text as Id<K>);

/** An id in an answer. */
export const idOut = (kind: IdKind) => z.string().meta({ examples: [idPattern(kind).source.slice(1, 5)] });

/** Euros in a request, at most two decimals; cents inside. */
export const euros = ({ minCents = 0, maxCents = 99_999_999_999 }: { minCents?: number; maxCents?: number } = {}) =>
  z
    .number()
    .meta({ multipleOf: 0.01, minimum: minCents / 100, maximum: maxCents / 100 })
    .transform((amount, context): Cents => {
      const amountCents = centsFromEuros(amount);
      if (amountCents !== undefined && amountCents >= minCents && amountCents <= maxCents) return amountCents;
      context.addIssue({
        code: 'custom',
        message:
          amountCents === undefined
            ? 'must be an amount in euros, not negative, with at most two decimals'
            : `must be from ${inWords(minCents)} to ${inWords(maxCents)} euros`,
      });
      return z.NEVER;
    });

/** Euros in an answer. */
export const eurosOut = z.number().meta({ description: 'euros, at most two decimals' });

export const mcc = z.string().regex(/^\d{4}$/, 'must be a merchant category code of four digits');

/** In any case; capitals inside. */
export const country = z
  .string()
  .regex(/^[A-Za-z]{2}$/, 'must be an ISO 3166-1 country code of two letters')
  .transform((code) => code.toUpperCase());

/** ISO 8601, UTC, milliseconds. */
export const instantOut = z.string().meta({ format: 'date-time' });

export const instant = z.iso.datetime({ offset: true }).transform((text) => new Date(text));

/** `cursor` and `limit` of a list; spread into a strict query object. */
export const pageQuery = {
  cursor: z
    .string()
    .max(200)
    .meta({ description: '`nextCursor` of the page before' })
    .transform((text, context) => {
      const cursor = decodeCursor(text);
      if (cursor !== undefined) return cursor;
      context.addIssue({ code: 'custom', message: 'must be a nextCursor of an earlier page' });
      return z.NEVER;
    })
    .optional(),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(maximumPageSize)
    .default(defaultPageSize)
    .meta({ minimum: 1, maximum: maximumPageSize, description: 'rows on a page' }),
};

export const pageOut = <Row extends z.ZodType>(row: Row) =>
  z.object({ data: z.array(row), hasMore: z.boolean(), nextCursor: z.string().nullable() });

/** What queries take. */
export const pageOfQuery = (query: { cursor?: PageQuery['after']; limit: number }): PageQuery => ({
  limit: query.limit,
  after: query.cursor,
});

// biome-ignore lint/suspicious/noControlCharactersInRegex: this is published, and \p{Cc} is foreign to many languages
const printable = /^[^\u0000-\u001f\u007f-\u009f]*$/;

/** Text a person wrote: trimmed, no control characters. */
export const text = (maximum: number, minimum = 1) =>
  z.string().trim().min(minimum).max(maximum).regex(printable, 'must not contain control characters');
