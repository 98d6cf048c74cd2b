/** The OpenAPI 3.1 document of the mounted areas: canonical paths only, aliases beside them. @module */
import * as z from 'zod';
import { exampleId, idPattern } from '../kernel/ids.ts';
import type { Mode } from '../platform/mode.ts';
import { errorBody, problemBody } from './errors.ts';
import { wordsFor } from './field-words.ts';
import { headerShapes, onEveryAnswer, refusalResponses } from './openapi-refusals.ts';
import { exampleOf, type Json, lastPart, type Schemas, schemaOf } from './openapi-schemas.ts';
import { type Area, type AuthKind, type Operation, pathsOf } from './route.ts';
import type { StreamedType } from './streamed.ts';

type Components = { readonly schemas: Schemas; readonly responses: Record<string, Json> };

export function openApiOf(areas: readonly Area[], options: { version: string; mode: Mode; serverUrl: string }): Json {
  const components: Components = { schemas: {}, responses: {} };
  schemaOf(errorBody, 'output', components.schemas);
  schemaOf(problemBody, 'output', components.schemas);
  const paths: Record<string, Json> = {};
  for (const area of areas) {
    for (const [operationId, operation] of Object.entries(area.operations)) {
      if (operation.sandboxOnly === true && options.mode === 'live') continue;
      const path = canonicalPath(area, operation);
      paths[path] = { ...paths[path], [operation.method]: describe(area, operationId, operation, components) };
    }
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Bursar',
      version: options.version,
      description:
        'Payments for software agents: rules, intents, cards, a ledger and signed events. EUR only, in the EU.',
    },
    servers: [{ url: options.serverUrl }],
    tags: tagsOf(areas),
    paths,
    components: { ...components, headers: headerShapes, securitySchemes },
  };
}

/** Several areas may share a tag: its description is theirs together. */
const tagsOf = (areas: readonly Area[]): { readonly name: string; readonly description: string }[] =>
  [...Map.groupBy(areas, ({ tag }) => tag)].map(([name, sharing]) => ({
    name,
    description: sharing.map(({ description }) => description).join('\n\n'),
  }));

export const canonicalPath = (area: Area, operation: Operation): string =>
  `${area.base}${operation.path}`.replace(/(.)\/$/, '$1');

const securitySchemes = {
  key: { type: 'http', scheme: 'bearer', description: 'Owner API key: sk_sandbox_…, sk_test_…, sk_live_… or sk_…' },
  agent: { type: 'http', scheme: 'bearer', description: 'Agent token: at_test_…, at_live_… or at_dlg_…' },
  dashboard: { type: 'apiKey', in: 'header', name: 'X-Dashboard-Secret' },
  clock: { type: 'apiKey', in: 'header', name: 'X-Clock-Key' },
  merchant: { type: 'apiKey', in: 'header', name: 'X-Merchant-Key' },
  network: { type: 'apiKey', in: 'header', name: 'X-Network-Signature' },
} satisfies Record<Exclude<AuthKind, 'public'>, Json>;

const credentialInWords: Record<Exclude<AuthKind, 'agent'>, string> = {
  key: 'an owner key',
  dashboard: 'the dashboard secret',
  clock: 'the clock key',
  merchant: 'a merchant key',
  network: "the card network's signature",
  public: 'no credentials',
};

const whoMayCall = ({ auth, scope }: Operation): string =>
  `Called with ${auth
    .map((kind) => (kind === 'agent' ? `an agent token with scope \`${scope}\`` : credentialInWords[kind]))
    .join(' or ')}.`;

function describe(area: Area, operationId: string, operation: Operation, components: Components): Json {
  const canonical = canonicalPath(area, operation);
  return {
    operationId,
    tags: [area.tag],
    summary: operation.summary,
    description: [operation.description, whoMayCall(operation)].filter((part) => part !== undefined).join('\n\n'),
    security: operation.auth.filter((kind) => kind !== 'public').map((kind) => ({ [kind]: [] })),
    parameters: [
      ...parameters('path', operation.params, components),
      ...parameters('query', operation.query, components),
      ...(operation.method === 'post' && !operation.auth.includes('public') && !operation.auth.includes('network')
        ? [idempotencyHeader(operation)]
        : []),
      // The clock is the deployment's, and no owner's.
      ...(operation.auth.includes('dashboard') && area.tag !== 'Sandbox' ? [ownerHeader] : []),
    ],
    ...(operation.takes === undefined ? {} : { requestBody: fileBody(operation.takes) }),
    ...(operation.body === undefined
      ? {}
      : { requestBody: requestBody(operationId, { ...operation, body: operation.body }, components) }),
    responses: responses(operation, components),
    'x-aliases': pathsOf(area, operation).filter((path) => path !== canonical),
    ...(operation.scope === undefined ? {} : { 'x-scope': operation.scope }),
    ...(operation.fires === undefined ? {} : { 'x-events': operation.fires }),
    ...(operation.networkCalls === undefined ? {} : { 'x-network-calls': operation.networkCalls }),
  };
}

const fileBody = (type: string): Json => ({
  required: true,
  description: 'The file, as it is.',
  content: { [type]: { schema: { type: 'string' }, example: '<?xml version="1.0" encoding="UTF-8"?><Document/>' } },
});

const accepts = (schema: z.ZodType): boolean => schema.safeParse({}).success;

type Described = { readonly body: z.ZodType; readonly summary: string };

/** `CreateAgentInput`, unless the contract gives the schema a name. A body without fields is the same everywhere. */
function requestBody(operationId: string, { body, summary }: Described, { schemas }: Components): Json {
  const isEmpty = body instanceof z.ZodObject && Object.keys(body.shape).length === 0;
  const name = isEmpty ? 'EmptyInput' : `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}Input`;
  const schema = schemaOf(isEmpty ? emptyInput : body, 'input', schemas, name);
  const named = schemas[lastPart(String(schema.$ref))];
  if (named !== undefined) named.description ??= `Input of \`${operationId}\`: ${summary}.`;
  return { required: !accepts(body), ...contentOf(schema, schemas) };
}

const emptyInput = z.strictObject({}).meta({ description: 'No fields; the body may be left out.', examples: [{}] });

function responses(operation: Operation, { schemas, responses: refusals }: Components): Json {
  const { status, body, also = [] } = operation.success;
  const page = operation.page === true ? { 'text/html': { schema: { type: 'string' } } } : {};
  const schema = body === undefined ? undefined : schemaOf(body, 'output', schemas);
  const answered = schema === undefined ? undefined : contentOf(schema, schemas);
  const content =
    operation.streams === undefined
      ? answered === undefined
        ? {}
        : { content: { ...answered.content, ...page } }
      : { content: Object.fromEntries(operation.streams.map((type) => [type, fileContent(type, schema, schemas)])) };
  const refused = refusalResponses(operation, refusals);
  const successes = [status, ...also].map((code) => {
    const described = [meaning[code] ?? 'Done.', answered?.description].filter((part) => part !== undefined).join(' ');
    return [code, { description: described, headers: onEveryAnswer, ...content }] as const;
  });
  return { ...refused, ...Object.fromEntries(successes) };
}

/** OpenAPI 3.1 has no keyword for the lines of a file; those of NDJSON are named by an extension. */
function fileContent(type: StreamedType, line: Json | undefined, schemas: Schemas): Json {
  const schema = { type: 'string' };
  if (type !== 'application/x-ndjson' || line === undefined) return { schema };
  return { schema, 'x-line-schema': line, example: `${JSON.stringify(exampleOf(line, schemas))}\n` };
}

const meaning: Readonly<Record<number, string>> = {
  200: 'Done.',
  201: 'Created.',
  202: 'Accepted.',
  204: 'Done; the answer has no body.',
  503: 'PostgreSQL cannot be reached.',
};

/** The content of a body with its description, and an example where one follows from the schema. */
function contentOf(schema: Json, schemas: Schemas): { description?: string; content: Json } {
  const described = typeof schema.$ref === 'string' ? schemas[lastPart(schema.$ref)] : schema;
  const example = exampleOf(schema, schemas);
  return {
    ...(typeof described?.description === 'string' ? { description: described.description } : {}),
    content: { 'application/json': { schema, ...(example === undefined ? {} : { example }) } },
  };
}

function idempotencyHeader({ idempotency }: Operation): Json {
  return {
    name: 'Idempotency-Key',
    in: 'header',
    required: idempotency === 'required',
    description: 'Repeat a request safely: the same key with the same body gives the same answer for 24 h.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
    example: 'order-4711',
  };
}

const ownerHeader: Json = {
  name: 'X-Owner-Id',
  in: 'header',
  required: false,
  description: 'With the dashboard secret: the owner for whom the call acts. Ignored with any other credential.',
  schema: { type: 'string', pattern: idPattern('owner').source },
  example: exampleId('owner'),
};

function parameters(place: 'path' | 'query', schema: z.ZodObject | undefined, components: Components): Json[] {
  if (schema === undefined) return [];
  const object = schemaOf(schema, 'input', components.schemas) as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(object.properties ?? {}).map(([name, property]) => ({
    name,
    in: place,
    required: place === 'path' || (object.required ?? []).includes(name),
    description: property.description ?? wordsFor(name)?.[0],
    schema: property,
    example: exampleOf(property, components.schemas) ?? wordsFor(name)?.[1],
  }));
}
