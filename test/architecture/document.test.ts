/**
 * Goal: a reader of the document finds a description and a valid example everywhere. Method: each operation, parameter,
 * body, answer, schema and field is visited; each example of a request and an answer is parsed by its contract.
 * @module
 */
import { expect, test } from '@jest/globals';
import type * as z from 'zod';
import { openApiDocument } from '../../src/dev/documents.ts';
import { exampleOf, type Json, lastPart, type Schemas } from '../../src/http/openapi-schemas.ts';
import { publishedOperations } from '../support/published-operations.ts';

type Content = { content?: Record<string, { schema: Json; example?: unknown }>; description?: string; $ref?: string };
type Parameter = { name: string; in: string; description?: string; example?: unknown; schema: Json };
type Described = {
  operationId: string;
  description?: string;
  summary?: string;
  parameters: Parameter[];
  requestBody?: Content;
  responses: Record<string, Content>;
};
const document = JSON.parse(JSON.stringify(openApiDocument())) as {
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Schemas; headers: Record<string, { description?: string; example?: unknown }> };
};
const { schemas } = document.components;
const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
const jsonOf = (content: Content | undefined) => content?.content?.['application/json'];

/** The example of a file that is streamed is one line of it. */
const lineOf = (content: Content | undefined): unknown =>
  JSON.parse(String(content?.content?.['application/x-ndjson']?.example));

/** Every field at any depth, as `Intent.policyCheck.reason`, with what its description may stand on. */
function fieldsOf(schema: Json, path: string): { path: string; field: Json }[] {
  const own = Object.entries((schema.properties ?? {}) as Record<string, Json>).flatMap(([name, field]) => [
    { path: `${path}.${name}`, field },
    ...fieldsOf(field, `${path}.${name}`),
  ]);
  const inside = [schema.items as Json | undefined, ...((schema.anyOf ?? []) as Json[])];
  return [...own, ...inside.flatMap((one) => (one === undefined ? [] : fieldsOf(one, path)))];
}
const fields = Object.entries(schemas).flatMap(([name, schema]) => fieldsOf(schema, name));

const isDescribed = ({ description, $ref }: Json): boolean =>
  typeof description === 'string' ? description.length > 3 : $ref !== undefined && isDescribed(named($ref));
const named = ($ref: unknown): Json => schemas[lastPart(String($ref))] ?? {};

test('each schema and each field has a description', () => {
  expect(fields.length).toBeGreaterThan(500);
  expect(Object.keys(schemas).filter((name) => !isDescribed(schemas[name] ?? {}))).toEqual([]);
  expect(fields.filter(({ field }) => !isDescribed(field)).map(({ path }) => path)).toEqual([]);
});

test('a description tells what null means only where the field takes null', () => {
  const takesNull = ({ type, anyOf, $ref, ...schema }: Json): boolean =>
    $ref === undefined
      ? [type].flat().includes('null') ||
        ((anyOf ?? []) as Json[]).some(takesNull) ||
        (type === undefined && anyOf === undefined && !('const' in schema))
      : takesNull(named($ref));
  const wrong = fields.filter(({ field }) => /\bnull\b/.test(String(field.description)) && !takesNull(field));
  expect(wrong.map(({ path }) => path)).toEqual([]);
});

/** `IntentApproved` reads like the name of an event. */
test('the name of a schema ends with a noun', () => {
  expect(Object.keys(schemas).filter((name) => /ed(?:Input)?$/.test(name))).toEqual([]);
});

test('each field has an example, its own or one that follows from its schema', () => {
  expect(fields.filter(({ field }) => exampleOf(field, schemas) === undefined).map(({ path }) => path)).toEqual([]);
});

test('each operation, parameter, body and answer has a description, and an example where it carries data', () => {
  const missing = operations.flatMap(({ operationId, summary, description, parameters, requestBody, responses }) => [
    ...(summary && description ? [] : [operationId]),
    ...parameters.filter((one) => !one.description || !('example' in one)).map(({ name }) => `${operationId} ${name}`),
    ...[['body', requestBody] as const, ...Object.entries(responses)]
      .filter(([, content]) => content !== undefined && content.$ref === undefined)
      .filter(([, content]) => !content?.description || (jsonOf(content) && !('example' in (jsonOf(content) ?? {}))))
      .map(([place]) => `${operationId} ${place}`),
  ]);
  expect(missing).toEqual([]);
  const headers = Object.entries(document.components.headers);
  expect(headers.filter(([, { description, example }]) => !description || example === undefined)).toEqual([]);
});

test('bodies are named schemas, and unions are anyOf of named schemas', () => {
  const inline = operations.flatMap(({ operationId, requestBody, responses }) => {
    const answers = Object.values(responses).filter(({ $ref }) => $ref === undefined);
    return [requestBody, ...answers]
      .map((content) => jsonOf(content)?.schema)
      .filter((schema) => schema !== undefined && (schema.type === 'array' ? schema.items : schema))
      .filter((schema) => ((schema?.type === 'array' ? schema.items : schema) as Json).$ref === undefined)
      .map(() => operationId);
  });
  expect(inline).toEqual([]);
  const all = [...Object.entries(schemas).map(([path, field]) => ({ path, field })), ...fields];
  expect(JSON.stringify(document)).not.toContain('"oneOf"');
  const unions = all.filter(({ field }) => {
    const shapes = ((field.anyOf ?? []) as Json[]).filter(({ properties }) => properties !== undefined);
    return shapes.length > 1;
  });
  expect(unions.map(({ path }) => path)).toEqual([]);
});

const parts = publishedOperations.flatMap(({ name, operation }) => {
  const documented = operations.find(({ operationId }) => operationId === name);
  const answered = documented?.responses[String(operation.success.status)];
  const answer = operation.streams === undefined ? jsonOf(answered)?.example : lineOf(answered);
  const ofPlace = (place: string) =>
    Object.fromEntries(
      (documented?.parameters ?? []).filter((one) => one.in === place).map((one) => [one.name, one.example]),
    );
  const body = jsonOf(documented?.requestBody)?.example;
  const checks: readonly (readonly [string, z.ZodType | undefined, unknown])[] = [
    [`${name}: body`, operation.body, body],
    [`${name}: path`, operation.params, ofPlace('path')],
    [`${name}: query`, operation.query, ofPlace('query')],
    [`${name}: answer`, operation.success.body, answer],
  ];
  return checks.flatMap(([place, schema, example]) =>
    schema === undefined ? [] : [[place, schema, example] as const],
  );
});

test.each(parts)('%s: the example is valid', (_, schema, example) => {
  const parsed = schema.safeParse(example);
  expect(parsed.error?.issues ?? []).toEqual([]);
});
