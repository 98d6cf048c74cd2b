/**
 * Goal: all contracts check free text alike. Method: every string in every body and query of every published operation
 * gets the same hostile texts.
 * @module
 */
import { expect, test } from '@jest/globals';
import * as z from 'zod';
import type { Operation } from '../../../src/http/route.ts';
import { publishedAreas } from '../../../src/main/modules/index.ts';

type Field = { readonly at: string; readonly name: string; readonly schema: z.ZodType };

const fields: Field[] = publishedAreas.flatMap((area) =>
  Object.entries(area.operations).flatMap(([operation, { body, query }]: [string, Operation]) => [
    ...(body === undefined ? [] : fieldsOf(body, operation)),
    ...(query === undefined ? [] : fieldsOf(query, operation)),
  ]),
);

function fieldsOf(schema: z.ZodType, at: string, name = ''): Field[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault) {
    return fieldsOf(schema.unwrap() as z.ZodType, at, name);
  }
  if (schema instanceof z.ZodObject) {
    return Object.entries(schema.shape).flatMap(([key, inner]) => fieldsOf(inner as z.ZodType, `${at}.${key}`, key));
  }
  if (schema instanceof z.ZodArray) return fieldsOf(schema.element as z.ZodType, `${at}[]`, name);
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((one) => fieldsOf(one as z.ZodType, at, name));
  if (schema instanceof z.ZodPipe && schema.in instanceof z.ZodObject) return fieldsOf(schema.in, at, name);
  return [{ at, name, schema }];
}

const takes = ({ schema }: Field, value: string): boolean => schema.safeParse(value).success;
/** Accepted, and not cleaned of it. */
function keeps({ schema }: Field, value: string, part = value): boolean {
  const { data } = schema.safeParse(value);
  return typeof data === 'string' && data.includes(part);
}
/** Whatever has its own form (ids, codes, addresses) takes no such words. */
const free = fields.filter((field) => takes(field, 'Ärger mit Öl') || takes(field, 'oil'));
const isProse = ({ name }: Field): boolean => /^(purpose|memo|description|reason|evidence|note|comment)$/.test(name);
const of = (found: readonly Field[]): string[] => found.map(({ at }) => at);
const several = free.filter((field) => keeps(field, 'one\n\ttwo\r\nthree', '\n\t'));

test('purpose, memo, description and reason take line breaks and tabs', () => {
  expect(of(free.filter((field) => isProse(field) && !several.includes(field)))).toEqual([]);
  // One of each place: below an object, at the top, nullable, and in one form of several.
  expect(of(several)).toEqual(
    expect.arrayContaining([
      'createAgent.profile.description',
      'declareIntent.purpose',
      'updateTransaction.memo',
      'createCardRequest.reason',
    ]),
  );
});

test('a name or a label takes neither', () => {
  const oneLine = new Set(free.filter((field) => !several.includes(field)).map(({ name }) => name));
  expect([...oneLine]).toEqual(expect.arrayContaining(['name', 'displayName', 'label', 'merchant']));
  // A field has the same form in every operation, and a text of several lines has room for them.
  expect(of(several.filter(({ name }) => oneLine.has(name)))).toEqual([]);
  expect(of(several.filter((field) => !takes(field, 'o'.repeat(500))))).toEqual([]);
});

test.each(['\u202e', '\u2066', '\u200b', '\0', '\u0007', '\ud800'])('no free text takes %j', (bad) => {
  expect(free.length).toBeGreaterThan(30);
  expect(of(free.filter((field) => keeps(field, `a${bad}b`, bad)))).toEqual([]);
});

test.each(['\u2800', '\u200d', ' \u00ad '])('no free text is %j alone', (bad) => {
  expect(of(free.filter((field) => takes(field, bad)))).toEqual([]);
});
