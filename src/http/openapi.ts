/** The OpenAPI 3.1 document of the mounted areas: canonical paths only, aliases beside them. @module */
import * as z from 'zod';
import type { Mode } from '../platform/mode.ts';
import { errorBody } from './errors.ts';
import { type Area, type AuthKind, type Operation, pathsOf } from './route.ts';

type Json = Record<string, unknown>;

export function openApiOf(areas: readonly Area[], options: { version: string; mode: Mode; serverUrl: string }): Json {
  const components: Json = {};
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
    tags: areas.map(({ tag, description }) => ({ name: tag, description })),
    paths,
    components: { schemas: components, securitySchemes },
  };
}

export const canonicalPath = (area: Area, operation: Operation): string =>
  `${area.base}${operation.path}`.replace(/(.)\/$/, '$1');

const securitySchemes = {
  key: { type: 'http', scheme: 'bearer', description: 'Owner API key: sk_sandbox_…, sk_test_…, sk_live_… or sk_…' },
  agent: { type: 'http', scheme: 'bearer', description: 'Agent token: at_test_…, at_live_… or at_dlg_…' },
  dashboard: { type: 'apiKey', in: 'header', name: 'X-Dashboard-Secret' },
  merchant: { type: 'apiKey', in: 'header', name: 'X-Merchant-Key' },
  network: { type: 'apiKey', in: 'header', name: 'X-Network-Signature' },
} satisfies Record<Exclude<AuthKind, 'public'>, Json>;

function describe(area: Area, operationId: string, operation: Operation, components: Json): Json {
  const canonical = canonicalPath(area, operation);
  return {
    operationId,
    tags: [area.tag],
    summary: operation.summary,
    ...(operation.description === undefined ? {} : { description: operation.description }),
    security: operation.auth.filter((kind) => kind !== 'public').map((kind) => ({ [kind]: [] })),
    parameters: [
      ...parameters('path', operation.params, components),
      ...parameters('query', operation.query, components),
      ...(operation.method === 'post' && !operation.auth.includes('public') && !operation.auth.includes('network')
        ? [idempotencyHeader(operation)]
        : []),
    ],
    ...(operation.body === undefined
      ? {}
      : {
          requestBody: {
            required: !accepts(operation.body),
            content: json(schemaOf(operation.body, 'input', components)),
          },
        }),
    responses: responses(operation, components),
    'x-aliases': pathsOf(area, operation).filter((path) => path !== canonical),
    ...(operation.scope === undefined ? {} : { 'x-scope': operation.scope }),
    ...(operation.fires === undefined ? {} : { 'x-events': operation.fires }),
  };
}

const accepts = (schema: z.ZodType): boolean => schema.safeParse({}).success;

function responses(operation: Operation, components: Json): Json {
  const { status, body, also = [] } = operation.success;
  const content = body === undefined ? {} : { content: json(schemaOf(body, 'output', components)) };
  const error = { content: json(schemaOf(errorBody, 'output', components)) };
  const authenticated = !operation.auth.includes('public');
  const takesInput = operation.params ?? operation.query ?? operation.body;
  const refusals = new Set([
    ...operation.refusals,
    ...(takesInput === undefined ? [] : [400]),
    ...(authenticated ? [401] : []),
    ...(operation.auth.includes('agent') || (authenticated && !operation.auth.includes('network')) ? [403] : []),
    ...(operation.method === 'post' && authenticated ? [409] : []),
    ...(operation.method === 'get' ? [] : [413]),
    429,
    503,
  ]);
  return {
    ...Object.fromEntries(
      [status, ...also].map((code) => [code, { description: meaning[code] ?? 'Done', ...content }]),
    ),
    ...Object.fromEntries(
      [...refusals].sort().map((code) => [code, { description: meaning[code] ?? 'Refused', ...error }]),
    ),
  };
}

const meaning: Record<number, string> = {
  200: 'Done',
  201: 'Created',
  202: 'Accepted',
  204: 'Done, nothing to say',
  400: 'Invalid input or wrong state; `error` says what to change',
  401: 'Missing or invalid credentials',
  403: 'Valid credentials that may not do this, or a rule refused it',
  404: 'Unknown id',
  409: 'The Idempotency-Key was used for another request, or its first request is still running',
  410: 'Used or expired',
  413: 'The body is too large',
  429: 'Rate limit exceeded; see `Retry-After` and `X-RateLimit-*`',
  503: 'Something that this needs is away; see `Retry-After`',
};

const json = (schema: Json): Json => ({ 'application/json': { schema } });

function idempotencyHeader({ idempotency }: Operation): Json {
  return {
    name: 'Idempotency-Key',
    in: 'header',
    required: idempotency === 'required',
    description: 'Repeat a request safely: the same key with the same body gives the same answer for 24 h.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  };
}

function parameters(place: 'path' | 'query', schema: z.ZodObject | undefined, components: Json): Json[] {
  if (schema === undefined) return [];
  const object = schemaOf(schema, 'input', components) as { properties?: Record<string, Json>; required?: string[] };
  return Object.entries(object.properties ?? {}).map(([name, property]) => ({
    name,
    in: place,
    required: place === 'path' || (object.required ?? []).includes(name),
    schema: property,
  }));
}

/** Schemas with an id go to `components`; the same id must mean the same shape in requests and answers. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output', components: Json): Json {
  const {
    $schema: _dialect,
    $defs,
    ...root
  } = z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    unrepresentable: 'any',
  }) as Json & { $defs?: Json };
  for (const [name, definition] of Object.entries($defs ?? {})) {
    const value = withRefs(definition as Json);
    const known = components[name];
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(value)) {
      throw new Error(`component ${name} differs between uses; give the two shapes two ids`);
    }
    components[name] = value;
  }
  return withRefs(root);
}

const withRefs = (value: Json): Json =>
  JSON.parse(JSON.stringify(value).replaceAll('"#/$defs/', '"#/components/schemas/')) as Json;
