/**
 * The schemas of the document: every input and answer is a named component, unions are `anyOf`, and each field has an
 * example, its own or one that follows from its schema.
 * @module
 */
import * as z from 'zod';

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
    override: ({ jsonSchema }) => {
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
  if (schema.type === 'boolean') return false;
  if (schema.type === 'array') return listOf(exampleOf(schema.items as Json, components));
  return schema.properties === undefined ? undefined : exampleOfObject(schema, components);
}

const listOf = (item: unknown): unknown => (item === undefined ? undefined : [item]);

function exampleOfObject(schema: Json, components: Schemas): unknown {
  const properties = Object.entries(schema.properties as Record<string, Json>)
    .filter(([, property]) => property.deprecated !== true)
    .map(([name, property]) => [name, exampleOf(property, components)] as const);
  if (properties.some(([, value]) => value === undefined)) return undefined;
  return Object.fromEntries(properties);
}

const without = (schema: Json, key: string): Json => {
  const { [key]: _left, ...rest } = schema;
  return rest;
};

export const lastPart = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1);

/** Writes into each leaf field of the schemas the example that follows from it, so that readers of the document see it. */
export function fillExamples(schemas: Schemas): void {
  const visit = (schema: Json): void => {
    for (const property of Object.values((schema.properties ?? {}) as Record<string, Json>)) {
      const isLeaf = property.$ref === undefined && property.properties === undefined && property.type !== 'array';
      const example = exampleOf(property, schemas);
      if (isLeaf && property.examples === undefined && isScalar(example)) property.examples = [example];
      visit(property);
    }
    if (schema.items !== undefined) visit(schema.items as Json);
    for (const option of (schema.anyOf ?? []) as Json[]) visit(option);
  };
  for (const schema of Object.values(schemas)) visit(schema);
}

const isScalar = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value);
