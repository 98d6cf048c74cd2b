/**
 * The configuration of Schemathesis beyond the document: credentials by security scheme, and ids that exist. The kind
 * of an id follows from its pattern in the document.
 * @module
 */
type Json = { readonly [key: string]: Json } | readonly Json[] | string | number | boolean | null;
export type Document = { readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>> };
export type DescribedOperation = {
  readonly operationId: string;
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly { name: string; in: string; schema: Json }[];
  readonly requestBody?: { content: Readonly<Record<string, { schema: Json }>> };
};

/** By field name or id prefix; `<operationId>-<noun>` are those of one operation. */
export type KnownValues = Readonly<Record<string, readonly (string | number)[]>>;

/** How often a known value is taken; otherwise Schemathesis makes one up. */
const probability = 0.75;

export function configurationOf(document: Document, known: KnownValues): string {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const bound = operations.flatMap((operation) => [
    '[[operations]]',
    `include-operation-id = "${operation.operationId}"`,
    '[operations.parameters]',
    ...bindings(operation, known),
    '',
  ]);
  return [
    '[auth.openapi]',
    `key = { bearer = "${fromEnvironment('OWNER_KEY')}" }`,
    'network = { api_key = "to be signed" }',
    `dashboard = { api_key = "${fromEnvironment('DASHBOARD_SECRET')}" }`,
    '',
    ...Object.entries(known).flatMap(([noun, values]) => [
      `[dictionaries.${noun}]`,
      `values = ${JSON.stringify(values)}`,
      '',
    ]),
    ...bound,
  ].join('\n');
}

const fromEnvironment = (name: string): string => `\${${name}}`;

function bindings({ operationId, parameters = [], requestBody }: DescribedOperation, known: KnownValues): string[] {
  const body = requestBody?.content['application/json']?.schema;
  const places = [
    ...parameters.map(({ name, in: where, schema }) => ({ place: `${where}.${name}`, name, schema })),
    ...Object.entries(propertiesOf(body)).map(([name, schema]) => {
      const list = JSON.stringify(schema).includes('"type":"array"') ? '[*]' : '';
      return { place: `body.${name}${list}`, name, schema };
    }),
  ];
  return places.flatMap(({ place, name, schema }) => {
    const nouns = [name, prefixOf(schema)].filter((noun) => noun !== undefined);
    const noun = nouns.flatMap((one) => [`${operationId}-${one}`, one]).find((one) => one in known);
    return noun === undefined ? [] : [`"${place}" = { dictionary = "${noun}", probability = ${probability} }`];
  });
}

const propertiesOf = (schema: Json | undefined): Readonly<Record<string, Json>> => {
  const properties = typeof schema === 'object' && schema !== null && 'properties' in schema ? schema.properties : {};
  return (properties ?? {}) as Readonly<Record<string, Json>>;
};

const prefixOf = (schema: Json): string | undefined => /"pattern":"\^([a-z]+)_\[/.exec(JSON.stringify(schema))?.[1];
