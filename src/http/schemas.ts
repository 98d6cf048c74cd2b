/** Wire types that every area uses: ids, euros, instants, pages. Wire shapes only. @module */
import * as z from 'zod';
import { exampleId, type Id, type IdKind, idPattern, idPrefixes } from '../kernel/ids.ts';
import { day } from '../kernel/instant.ts';
import { type Cents, cents, centsFromEuros, type Euros, eurosFromCents, inWords } from '../kernel/money.ts';
import { nounOf, withArticle } from '../kernel/nouns.ts';
import { decodeCursor, defaultPageSize, encodeCursor, maximumPageSize, type PageQuery } from '../kernel/page.ts';
import { isLegible, isReadable, manyLines, oneLine, withoutCrowds, withoutHidden } from '../kernel/text.ts';
import { amountInCents } from './cents-names.ts';
import { idOfKind } from './reaches.ts';

/** A record id; any well-formed one is accepted, an unknown one is a 404. `elsewhere`: the edge does not look it up. */
export const id = <K extends IdKind>(kind: K, reach?: { readonly elsewhere: string }) =>
  z
    .string()
    .regex(idPattern(kind), `must be ${withArticle(nounOf(kind))} id, ${idPrefixes[kind]}_…`)
    .meta({ description: `Id of ${withArticle(nounOf(kind))}.`, examples: [exampleId(kind)] })
    .transform(idOfKind(reach === undefined ? kind : undefined, (text: string) => text as Id<K>));

const cursorAt = (id: string): string => encodeCursor({ createdAt: '2026-11-20T12:00:00.000Z', id });
const exampleCursor = cursorAt(exampleId('request'));

/** An id in an answer. */
export const idOut = (kind: IdKind) =>
  z.string().meta({ description: `Id of ${withArticle(nounOf(kind))}.`, examples: [exampleId(kind)] });

/** Euros in a request, at most two decimals. The handler gets `amountEuros` as `amountCents` (cents-names.ts). */
export const euros = ({ minCents = 0, maxCents = 99_999_999_999 }: { minCents?: number; maxCents?: number } = {}) =>
  z
    .number()
    .meta({
      multipleOf: 0.01,
      minimum: eurosFromCents(cents(minCents)),
      maximum: eurosFromCents(cents(maxCents)),
      description: 'Euros, with at most two decimals.',
      examples: [12.5],
    })
    .transform(
      amountInCents((amount: number, context: z.RefinementCtx): Cents => {
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
      }),
    );

/** Euros in an answer. */
export const eurosOut = z
  .custom<Euros>((value) => typeof value === 'number' && Number.isFinite(value), 'must be a number')
  .meta({ type: 'number', description: 'Euros, with at most two decimals.', examples: [12.5] });

export const mcc = z
  .string()
  .regex(/^\d{4}$/, 'must be a merchant category code of four digits')
  .meta({ description: 'Merchant category code (ISO 18245).', examples: ['5734'] });

/** Lower or upper case; stored in upper case. */
export const country = z
  .string()
  .regex(/^[A-Za-z]{2}$/, 'must be an ISO 3166-1 country code of two letters')
  .meta({ description: 'Country (ISO 3166-1 alpha-2), in either case.', examples: ['DE'] })
  .transform((code) => code.toUpperCase());

/** ISO 8601, UTC, milliseconds. */
export const instantOut = z.string().meta({ format: 'date-time', examples: ['2026-11-20T12:00:00.000Z'] });

export const instant = z.iso
  .datetime({ offset: true })
  .meta({ examples: ['2026-11-20T12:00:00Z'] })
  .transform((text) => new Date(text));

/**
 * `cursor` and `limit` of a list; spread into a strict query object. `last` is what the list's cursors end with: the
 * kind of record it lists, or the form of what stands for an id there, with an example. A cursor of another list is
 * refused.
 */
export const pageQuery = (...[last, lastId]: [IdKind] | [RegExp, string]) => ({
  cursor: z
    .string()
    .max(200)
    .meta({
      description: 'The `nextCursor` of the page before; absent: the first page.',
      examples: [cursorAt(typeof last === 'string' ? exampleId(last) : lastId)],
    })
    .transform((text, context) => {
      const cursor = decodeCursor(text, typeof last === 'string' ? idPattern(last) : last);
      if (cursor !== undefined) return cursor;
      context.addIssue({ code: 'custom', message: 'must be a nextCursor of an earlier page of this list' });
      return z.NEVER;
    })
    .optional(),
  limit: z
    .custom<number | string>((value) => /^\d{1,9}$/.test(String(value)), 'must be a number in decimal digits')
    .meta({
      type: 'integer',
      minimum: 1,
      maximum: maximumPageSize,
      description: `Records on a page, in decimal digits; absent: ${defaultPageSize}.`,
      examples: [defaultPageSize],
    })
    .transform(Number)
    .refine((limit) => limit >= 1 && limit <= maximumPageSize, `must be from 1 to ${maximumPageSize}`)
    .default(defaultPageSize),
});

/** `from` and `to` of a list; spread into a strict query object. A date is a whole UTC day. */
export const period = {
  from: instantOrDate(0)
    .meta({
      description: 'Only records created at or after this instant, or from the start of this UTC day.',
      examples: ['2026-11-01'],
    })
    .optional(),
  to: instantOrDate(day)
    .meta({
      description: 'Only records created before this instant, or to the end of this UTC day.',
      examples: ['2026-11-30'],
    })
    .optional(),
};

/** `lengthMs`: how long after the start of a day the moment is that its date stands for. */
export function instantOrDate(lengthMs: number) {
  return z
    .string()
    .meta({
      anyOf: [
        { type: 'string', format: 'date-time' },
        { type: 'string', format: 'date' },
      ],
    })
    .transform((text, context): Date => {
      const start = dateForm.safeParse(text).data;
      const at = start === undefined ? instant.safeParse(text).data : new Date(Date.parse(start) + lengthMs);
      if (at !== undefined && at.getUTCFullYear() > 0) return at;
      context.addIssue({ code: 'custom', message: 'must be an instant (2026-11-20T12:00:00Z) or a date (2026-11-20)' });
      return z.NEVER;
    });
}

const dateForm = z.iso.date();

export const pageOut = <Row extends z.ZodType>(row: Row) =>
  z
    .strictObject({
      data: z.array(row).meta({ description: 'The records of this page.' }),
      hasMore: z.boolean().meta({ description: 'True when another page follows.' }),
      nextCursor: z
        .string()
        .nullable()
        .meta({ description: '`cursor` of the next page; null on the last one.', examples: [exampleCursor] }),
    })
    .meta({ id: `${row.meta()?.id}Page`, description: 'One page of a list.' });

/** For `.refine(...)` of the body of a change. */
export const atLeastOneField = [
  (body: object): boolean => Object.keys(body).length > 0,
  'give at least one field to change',
] as const;

/** What queries take. */
export const pageOfQuery = (query: { cursor?: PageQuery['after']; limit: number }): PageQuery => ({
  limit: query.limit,
  after: query.cursor,
});

/** A name or label: one line, trimmed. kernel/text.ts defines the characters that are refused. */
export const text = (maximum: number, minimum = 1, given: z.ZodString = z.string()) =>
  given
    .trim()
    .min(minimum)
    .max(maximum)
    .regex(oneLine, `must be one line, ${withoutOthers}`)
    .refine(isReadable, unreadable)
    .refine(isLegible, crowded);

/** As `text`, from a sender that cannot be asked to write it otherwise: what `text` refuses is taken out. */
export const cleanText = (maximum: number) =>
  z
    .string()
    .overwrite((value) => withoutCrowds(withoutHidden(value)).trim())
    .min(1)
    .max(maximum)
    .refine(isReadable, unreadable);

/** Free text of one or more lines, trimmed; a line break of any system becomes `\n`. */
export const prose = (maximum: number, minimum = 1) =>
  z
    .string()
    .overwrite((value) => value.replace(/\r\n?/g, '\n').trim())
    .min(minimum)
    .max(maximum)
    .regex(manyLines, `may hold line breaks and tabs, but must be ${withoutOthers}`)
    .refine(isReadable, unreadable)
    .refine(isLegible, crowded);

const withoutOthers = 'without other control characters, bidirectional overrides or isolates, and zero-width spaces';
const unreadable = 'must hold something visible, in well-formed Unicode';
const crowded = 'must not hold three invisible characters or nine combining marks in a row';
