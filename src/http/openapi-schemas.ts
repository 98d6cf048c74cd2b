/**
 * The schemas of the document: every input and answer is a named component, unions are `anyOf`, and each field has an
 * example, its own or one that follows from its schema.
 * @module
 */
import * as z from 'zod';
import { wordsFor } from './field-words.ts';

export type Json = Record<string, unknown>;
export type Schemas = Record<string, Json>;

/**
 * Schemas with an id go to `components`, and so does the schema itself when it is given a `name`; the same name must
 * mean the same shape in requests and answers.
 */
export function schemaOf(schema: z.ZodType, io: 'input' | 'output', components: Schemas, name?: string): Json {
  const {
    $schema: _dialect,
    $defs,
    ...root
  } = z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      // Zod leaves out the examples of a schema that transforms its input; ours are of the input.
      const examples = z.globalRegistry.get(zodSchema)?.examples;
      if (Array.isArray(examples)) jsonSchema.examples ??= examples;
      // Zod means the parsed value; in OpenAPI it would forbid the field in requests.
      delete jsonSchema.readOnly;
      // The bounds of a double say nothing to a reader.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.oneOf === undefined) return;
      jsonSchema.anyOf = jsonSchema.oneOf;
      delete jsonSchema.oneOf;
    },
  }) as Json & { $defs?: Json };
  for (const [id, definition] of Object.entries($defs ?? {})) add(components, id, withRefs(definition as Json));
  const whole = withRefs(root);
  if (name === undefined || typeof whole.$ref === 'string') return whole;
  return add(components, name, whole);
}

function add(components: Schemas, name: string, { id: _id, ...definition }: Json): Json {
  explain(definition, name);
  const known = components[name];
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(definition)) {
    throw new Error(`component ${name} differs between uses; give the two shapes two ids`);
  }
  components[name] = definition;
  return { $ref: `#/components/schemas/${name}` };
}

const withRefs = (value: Json): Json =>
  JSON.parse(JSON.stringify(value).replaceAll('"#/$defs/', '"#/components/schemas/')) as Json;

/**
 * The first example of a schema: its own, or else one that follows from its parts. An object has its required fields
 * and every optional one that is not deprecated. Undefined where nothing says what a value looks like.
 */
export function exampleOf(schema: Json, components: Schemas): unknown {
  if (Array.isArray(schema.examples) && schema.examples.length > 0) return schema.examples[0];
  if ('const' in schema) return schema.const;
  if (typeof schema.$ref === 'string') return exampleOf(components[lastPart(schema.$ref)] ?? {}, components);
  if ('default' in schema) return schema.default;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const options = schema.anyOf as readonly Json[] | undefined;
  if (options !== undefined) {
    const shown = options.find(({ type }) => type !== 'null');
    return shown === undefined ? null : exampleOf({ ...shown, ...without(schema, 'anyOf') }, components);
  }
  if ([schema.type].flat().includes('boolean')) return false;
  if (schema.type === 'array') return listOf(exampleOf(schema.items as Json, components));
  return schema.properties === undefined ? undefined : exampleOfObject(schema, components);
}

const listOf = (item: unknown): unknown => (item === undefined ? undefined : [item]);

function exampleOfObject(schema: Json, components: Schemas): unknown {
  const required = (schema.required ?? []) as readonly string[];
  const properties = Object.entries(schema.properties as Record<string, Json>)
    .filter(([name, property]) => property.deprecated !== true || required.includes(name))
    .map(([name, property]) => [name, exampleOf(property, components)] as const);
  if (properties.some(([, value]) => value === undefined)) return undefined;
  return Object.fromEntries(properties);
}

const without = (schema: Json, key: string): Json => {
  const { [key]: _left, ...rest } = schema;
  return rest;
};

export const lastPart = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1);

/** Gives each field without a description or example that of its name, and each leaf the example that follows from it. */
function explain(schema: Json, path: string): void {
  for (const [name, property] of Object.entries((schema.properties ?? {}) as Record<string, Json>)) {
    const [description, example] = wordsFor(`${path}.${name}`) ?? [];
    property.description ??= takesNull(property) ? description : description?.replace(aboutNull, '');
    explain(property, `${path}.${name}`);
    if (property.examples === undefined && example !== undefined && !hasOwnValue(property, example)) {
      property.examples = [example];
    }
    const follows = property.$ref === undefined ? ownExample(property) : undefined;
    if (property.examples === undefined && isScalar(follows)) property.examples = [follows];
  }
  if (schema.items !== undefined) explain(schema.items as Json, `${path}[]`);
  for (const option of (schema.anyOf ?? []) as Json[]) explain(option, path);
}

/** Schemas share the sentences of `field-words.ts`; what null means is left out where a field does not take it. */
const aboutNull = /; null[^;.]*/;

const takesNull = ({ type, anyOf }: Json): boolean =>
  [type].flat().includes('null') || ((anyOf ?? []) as readonly Json[]).some(takesNull);

/** A value that the schema itself names goes before the example of a name that several schemas share. */
const hasOwnValue = (schema: Json, example: unknown): boolean =>
  Array.isArray(schema.enum) && !('default' in schema)
    ? !schema.enum.includes(example)
    : ownExample(schema) !== undefined;

/** Without other components: theirs are shown where they stand. */
const ownExample = (schema: Json): unknown => exampleOf(schema, {});

const isScalar = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value);
