/**
 * JSON schemas of tools, made from the OpenAPI document: the input of an operation as one flat object, its answer
 * without references. Keywords that clients drop or compute wrongly are left out; the edge validates again.
 * @module
 */
import { type Json, lastPart } from '../http/openapi-schemas.ts';
import type { Operation } from '../http/route.ts';

export type Place = 'path' | 'query' | 'body';

export type Field = {
  readonly place: Place;
  readonly name: string;
  readonly schema: Json;
  readonly isRequired: boolean;
};

export type Described = {
  readonly fields: readonly Field[];
  /** Undefined where the operation answers without a body. */
  readonly answer: Json | undefined;
};

type Parameter = {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Json;
  readonly example?: unknown;
};

/** `shape`: which of several shapes of the body, by its name in the document. */
export function describeOperation(
  openapi: Json,
  path: string,
  { method, success }: Operation,
  shape?: string,
): Described {
  const found = (openapi.paths as Record<string, Record<string, Json>>)[path]?.[method];
  if (found === undefined) throw new Error(`the document has no ${method} ${path}`);
  const components = (openapi.components as { schemas: Record<string, Json> }).schemas;
  const parameters = ((found.parameters ?? []) as Parameter[]).flatMap((one): Field[] => {
    if (one.in === 'header') return [];
    const description = one.description ?? one.schema.description;
    const schema = { ...inputOf(one.schema, components), ...(description === undefined ? {} : { description }) };
    return [{ place: one.in, name: one.name, isRequired: one.required, schema }];
  });
  const body = contentOf(found.requestBody as Json | undefined);
  const whole = shape === undefined ? body : { $ref: `#/components/schemas/${shape}` };
  const fields = whole === undefined ? [] : fieldsOf(inputOf(whole, components));
  const answer = contentOf((found.responses as Record<string, Json>)[String(success.status)]);
  return {
    fields: [...parameters, ...fields],
    answer: answer === undefined ? undefined : outputOf(answer, components),
  };
}

const contentOf = (part: Json | undefined): Json | undefined =>
  (part?.content as Record<string, { schema: Json }> | undefined)?.['application/json']?.schema;

function fieldsOf(body: Json): Field[] {
  const required = (body.required ?? []) as readonly string[];
  return Object.entries((body.properties ?? {}) as Record<string, Json>).flatMap(([name, schema]): Field[] =>
    schema.deprecated === true ? [] : [{ place: 'body', name, schema, isRequired: required.includes(name) }],
  );
}

/** Cents of a double fail `multipleOf`; the others are of the document, or of zod. */
const left = new Set(['multipleOf', 'id', 'if', 'then', 'else', 'minProperties', 'maxProperties', 'contentEncoding']);
/** A model reads the whole list of tools. Of an answer it needs what the fields are; the edge has checked their values. */
const leftInAnswers = new Set([
  ...left,
  ...[
    'examples',
    'additionalProperties',
    'default',
    'pattern',
    'description',
    'required',
    'propertyNames',
    'deprecated',
  ],
  ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
]);

const inputOf = (schema: Json, components: Record<string, Json>): Json => inlined(schema, components, left);
const outputOf = (schema: Json, components: Record<string, Json>): Json =>
  shorter(inlined(schema, components, leftInAnswers)) as Json;

/** A value or null in one type, where that says the same. */
function shorter(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shorter);
  if (!isSchema(value)) return value;
  const { anyOf, ...beside } = mapValues(value as Record<string, Json>, shorter);
  if (!Array.isArray(anyOf)) return beside;
  const [one, other, ...more] = anyOf as Json[];
  const isSimple = typeof one?.type === 'string' && !('enum' in one) && !('const' in one);
  return isSimple && other?.type === 'null' && more.length === 0
    ? { ...one, ...beside, type: [one.type, 'null'] }
    : { ...beside, anyOf };
}

function inlined(schema: Json, components: Record<string, Json>, without: ReadonlySet<string>): Json {
  if (typeof schema.$ref === 'string') {
    const { $ref, ...beside } = schema;
    return inlined({ ...components[lastPart(String($ref))], ...beside }, components, without);
  }
  const inner = (value: unknown): unknown =>
    isSchema(value) ? inlined(value, components, without) : Array.isArray(value) ? value.map(inner) : value;
  const parts = Object.entries(schema).flatMap(([keyword, value]): [string, unknown][] => {
    if (keyword.startsWith('x-')) return [];
    if (keyword === 'properties') return [[keyword, mapValues(withoutLink(value as Record<string, Json>), inner)]];
    if (keyword === 'required' && !without.has(keyword))
      return [[keyword, (value as string[]).filter((name) => name !== linkField)]];
    // Of a record it says what its values are.
    if (keyword === 'additionalProperties' && isSchema(value)) return [[keyword, inner(value)]];
    if (without.has(keyword)) return [];
    return [[keyword, ['items', 'anyOf', 'allOf'].includes(keyword) ? inner(value) : value]];
  });
  return Object.fromEntries(parts);
}

/** A person decides by it, and no program (answer.ts). */
export const linkField = 'approvalUrl';

const withoutLink = ({ [linkField]: _link, ...properties }: Record<string, Json>): Record<string, Json> => properties;

const isSchema = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const mapValues = (of: Record<string, Json>, map: (value: unknown) => unknown): Record<string, unknown> =>
  Object.fromEntries(Object.entries(of).map(([name, value]) => [name, map(value)]));

/** Fields of answers whose text Bursar writes itself. */
const ownTexts =
  /^(id|known|next|policyInWords|rule|currency|status|state|code|method|cadence)$|(Id|_id|At|_at|On|Cursor|Mcc|Country|Currency)$/;
const ownFormats: readonly unknown[] = ['date-time', 'date'];

/**
 * Where an answer has text that a merchant, a person or the caller wrote: `result.purpose`, `result.data[].merchant`.
 * Every text counts as such unless its name, its format or a closed list says otherwise.
 */
export function foreignTexts(schema: Json, path: string): string[] {
  const found = new Set<string>();
  collect(schema, path, found);
  return [...found];
}

function collect(schema: Json, path: string, found: Set<string>): void {
  const types = [schema.type].flat();
  const name = /[^.[\]]*(?=(?:\[\])*$)/.exec(path)?.[0] ?? '';
  if ('const' in schema || Array.isArray(schema.enum) || ownFormats.includes(schema.format)) return;
  if (types.includes('string') && !ownTexts.test(name)) found.add(path);
  for (const [key, property] of Object.entries((schema.properties ?? {}) as Record<string, Json>))
    collect(property, `${path}.${key}`, found);
  if (isSchema(schema.additionalProperties) && schema.properties === undefined) found.add(path);
  if (isSchema(schema.items)) collect(schema.items, `${path}[]`, found);
  for (const option of [...((schema.anyOf ?? []) as Json[]), ...((schema.allOf ?? []) as Json[])])
    collect(option, path, found);
}
