/** The OpenAPI 3.1 document of the mounted areas: canonical paths only, aliases beside them. @module */
import * as z from 'zod';
import { idPattern } from '../kernel/ids.ts';
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
    components: { schemas: components, responses: refusals(paths, components), headers: headerShapes, securitySchemes },
  };
}

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

function describe(area: Area, operationId: string, operation: Operation, components: Json): Json {
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
  const page = operation.page === true ? { 'text/html': { schema: { type: 'string' } } } : {};
  const content = body === undefined ? {} : { content: { ...json(schemaOf(body, 'output', components)), ...page } };
  const refused = new Set([...operation.refusals, ...refusalsOfTheEdge(operation)]);
  return {
    ...Object.fromEntries(
      [...refused].sort().map((code) => [code, { $ref: `#/components/responses/${nameOf(code)}` }]),
    ),
    ...Object.fromEntries(
      [status, ...also].map((code) => [
        code,
        { description: meaning[code] ?? 'Done', headers: onEveryAnswer, ...content },
      ]),
    ),
  };
}

/** What follows from an operation's other declarations, so that no contract repeats it. */
export function refusalsOfTheEdge(operation: Operation): number[] {
  const authenticated = !operation.auth.includes('public');
  const takesInput = operation.params ?? operation.query ?? operation.body;
  return [
    ...(takesInput === undefined ? [] : [400]),
    ...(authenticated ? [401] : []),
    ...(operation.auth.includes('agent') || (authenticated && !operation.auth.includes('network')) ? [403] : []),
    ...(operation.method === 'post' && authenticated ? [409] : []),
    ...(operation.method === 'get' ? [] : [413, 415]),
    ...(operation.unlimited === true && !authenticated ? [] : [429]),
    503,
  ];
}

const nameOf = (status: number | string): string => `Refused${status}`;

/** The body of a refusal is the same everywhere, so each status is described once. */
function refusals(paths: Json, components: Json): Json {
  const used = JSON.stringify(paths);
  const error = { content: json(schemaOf(errorBody, 'output', components)) };
  return Object.fromEntries(
    Object.entries(meaning)
      .filter(([status]) => used.includes(`/responses/${nameOf(status)}"`))
      .map(([status, description]) => {
        const headers = { ...onEveryAnswer, ...headersOf(Number(status)) };
        return [nameOf(status), { description, headers, ...error }];
      }),
  );
}

const headerShapes = {
  'X-Data-Residency': {
    description: 'Where the data is kept',
    required: true,
    schema: { type: 'string', const: 'EU' },
  },
  'X-Request-Id': { description: 'Names this request in records and logs', required: true, schema: { type: 'string' } },
  'Accept-Encoding': {
    description: 'Encodings that a body may have: `identity` alone',
    schema: { type: 'string', const: 'identity' },
  },
  'Retry-After': {
    description: 'Seconds after which repeating makes sense',
    schema: { type: 'integer', minimum: 1 },
  },
  'X-RateLimit-Limit': { description: 'Requests per minute', schema: { type: 'integer', minimum: 1 } },
  'X-RateLimit-Remaining': { description: 'Requests left in this minute', schema: { type: 'integer', minimum: 0 } },
  'X-RateLimit-Reset': { description: 'Seconds until the minute is over', schema: { type: 'integer', minimum: 1 } },
} satisfies Json;

const headersNamed = (...names: (keyof typeof headerShapes)[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

const onEveryAnswer = headersNamed('X-Data-Residency', 'X-Request-Id');

function headersOf(status: number): Json {
  if (status === 503) return headersNamed('Retry-After');
  if (status === 415) return headersNamed('Accept-Encoding');
  if (status !== 429) return {};
  return headersNamed('Retry-After', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset');
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
  409: 'The Idempotency-Key was used for another request, or its first one is still running; or it is there already',
  410: 'Used or expired',
  413: 'The body is too large',
  415: 'The body has a Content-Encoding; see `Accept-Encoding`',
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
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
  };
}

const ownerHeader: Json = {
  name: 'X-Owner-Id',
  in: 'header',
  required: false,
  description: 'With the dashboard secret: the owner for whom the call acts. Ignored with any other credential.',
  schema: { type: 'string', pattern: idPattern('owner').source },
};

function parameters(place: 'path' | 'query', schema: z.ZodObject | undefined, components: Json): Json[] {
  if (schema === undefined) return [];
  const object = schemaOf(schema, 'input', components) as { properties?: Record<string, Json>; required?: string[] };
  return Object.entries(object.properties ?? {}).map(([name, property]) => ({
    name,
    in: place,
    required: place === 'path' || (object.required ?? []).includes(name),
    ...(typeof property.description === 'string' ? { description: property.description } : {}),
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
