/**
 * Goal: what an operation takes and answers is exactly what its contract says: no further field, amounts in euros, valid
 * examples, and lists in pages. Method: each schema of each contract is visited, at every depth.
 * @module
 */
import { expect, test } from '@jest/globals';
import * as z from 'zod';
import { isAmount, unwrapped } from '../../src/http/cents-names.ts';
import type { Operation } from '../../src/http/route.ts';
import { eurosOut } from '../../src/http/schemas.ts';
import { maximumPageSize } from '../../src/kernel/page.ts';
import { publishedOperations } from '../support/published-operations.ts';

type Visited = { readonly place: string; readonly schema: z.ZodType };

function within(place: string, whole: z.ZodType, io: 'input' | 'output'): Visited[] {
  const found: Visited[] = [];
  z.toJSONSchema(whole, {
    io,
    unrepresentable: 'any',
    override: ({ zodSchema, path }) => {
      const inner = path.filter((step) => step !== 'properties').join('.');
      if (zodSchema instanceof z.ZodType) found.push({ place: `${place} ${inner}`.trim(), schema: zodSchema });
    },
  });
  return found;
}

const inputsOf = (name: string, { params, query, body }: Operation): Visited[] =>
  Object.entries({ params, query, body }).flatMap(([part, schema]) =>
    schema === undefined ? [] : within(`${name} ${part}`, schema, 'input'),
  );

const answerOf = (name: string, { success }: Operation): Visited[] =>
  success.body === undefined ? [] : within(`${name} answer`, success.body, 'output');

const ofNetwork = ({ operation }: { operation: Operation }) => operation.auth.includes('network');
const visited = publishedOperations.flatMap(({ name, operation }) => [
  ...inputsOf(name, operation),
  ...answerOf(name, operation),
]);

const objects = visited.flatMap(({ place, schema }) => (schema instanceof z.ZodObject ? [{ place, schema }] : []));

test('no object drops or passes on a field that it does not name, unless it says so; the network may add fields', () => {
  const messages = publishedOperations.filter(ofNetwork).flatMap(({ name, operation }) => inputsOf(name, operation));
  const open = new Set(messages.map(({ schema }) => schema));
  const silent = objects.filter(({ schema }) => schema.def.catchall === undefined && !open.has(schema));
  expect(objects.length).toBeGreaterThan(200);
  expect(silent.map(({ place }) => place)).toEqual([]);
});

test('each example of each schema is valid', () => {
  const examples = visited.flatMap(({ place, schema }) =>
    ((z.globalRegistry.get(schema)?.examples ?? []) as unknown[]).map((example) => ({ place, schema, example })),
  );
  expect(examples.length).toBeGreaterThan(200);
  const wrong = examples.filter(({ schema, example }) => !schema.safeParse(example).success);
  expect(wrong.map(({ place, example }) => [place, example])).toEqual([]);
});

const fields = objects.flatMap(({ place, schema }) =>
  Object.entries(schema.shape as Record<string, z.ZodType>).map(([name, field]) => ({
    name,
    place: `${place} ${name}`,
    schema: bare(field),
  })),
);

function bare(schema: z.ZodType): z.ZodType {
  const inner = unwrapped(schema);
  return inner === schema ? schema : bare(inner);
}

const isEuros = (schema: z.ZodType): boolean =>
  isAmount(schema) || (schema instanceof z.ZodCustom && schema.def.fn === eurosOut.def.fn);

test('an amount is in euros of one type, under a name that always means euros; only the network and signed tokens have cents', () => {
  const named = new Set(fields.filter(({ schema }) => isEuros(schema)).map(({ name }) => name));
  const network = publishedOperations.filter(ofNetwork).map(({ name }) => name);
  // The claims of a token are as its signer wrote them, in minor units as in challenges.
  const isElsewhere = (place: string) =>
    network.some((name) => place.startsWith(`${name} `)) || place.startsWith('verifyToken answer payload ');
  const ofOwners = fields.filter(({ place }) => !isElsewhere(place));
  expect(named.size).toBeGreaterThan(30);
  const wrong = ofOwners.filter(
    ({ name, schema }) => /Cents$/.test(name) || ((/Euros$/.test(name) || named.has(name)) && !isEuros(schema)),
  );
  expect(wrong.map(({ place }) => place)).toEqual([]);
});

test('any other number is an integer, or its name says the unit', () => {
  const isFraction = (schema: z.ZodType) => schema instanceof z.ZodNumber && schema.format !== 'safeint';
  const unnamed = fields.filter(
    ({ name, schema }) => isFraction(schema) && !/percent$|Percent$|^merchantAmount$/.test(name),
  );
  expect(unnamed.map(({ place }) => place)).toEqual([]);
});

const queryOf = ({ query }: Operation): Record<string, { minimum?: number; maximum?: number } | undefined> =>
  query === undefined
    ? {}
    : (z.toJSONSchema(query, { io: 'input', unrepresentable: 'any' }).properties as object as never);

test('a list answers pages of a bounded size, or says why it has none', () => {
  const wrong = publishedOperations.flatMap(({ name, operation }) => {
    const { limit, cursor } = queryOf(operation);
    const { body } = operation.success;
    const isPage = body instanceof z.ZodObject && 'nextCursor' in body.shape;
    const isPaged = isPage && cursor !== undefined && limit?.minimum === 1 && limit.maximum === maximumPageSize;
    const isList = name.startsWith('list');
    if (!isList && !isPage) return operation.unpaged === undefined ? [] : [name];
    return isPaged === (operation.unpaged === undefined) ? [] : [name];
  });
  expect(wrong).toEqual([]);
});
