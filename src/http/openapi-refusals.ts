/** How the document describes refusals: the codes of an operation, and one response for each set of codes. @module */
import { type ErrorCode, errorCodes } from '../kernel/errors.ts';
import { exampleId } from '../kernel/ids.ts';
import { labelOf, meaningOf, statusOf } from './error-codes.ts';
import { problemOf, problemType } from './errors.ts';
import type { Json } from './openapi-schemas.ts';
import type { Operation } from './route.ts';

/** The codes that follow from an operation's other declarations, so that no contract repeats them. */
export function codesOfTheEdge(operation: Pick<Operation, 'auth' | 'method' | 'unlimited'>): ErrorCode[] {
  const { auth, method, unlimited } = operation;
  const isPublic = auth.includes('public');
  const isNetwork = auth.includes('network');
  const isForAgents = auth.includes('agent');
  const isForMerchants = auth.includes('merchant');
  return [
    'invalid_request',
    ...(isPublic ? [] : (['unauthenticated'] as const)),
    ...(isForAgents ? (['insufficient_scope'] as const) : []),
    ...(isPublic || isNetwork || isForAgents || isForMerchants ? [] : (['forbidden'] as const)),
    ...(method === 'post' && !isPublic ? (['idempotency_conflict'] as const) : []),
    ...(method === 'get' ? [] : (['too_large', 'unsupported_encoding'] as const)),
    ...(unlimited === true && isPublic ? [] : (['rate_limited'] as const)),
    'unavailable',
  ];
}

/** All codes that an operation answers, in the order of the published list. */
export function codesOf(operation: Operation): ErrorCode[] {
  const answered = new Set([...codesOfTheEdge(operation), ...operation.refusals]);
  return errorCodes.filter((code) => answered.has(code));
}

/** `400: #/components/responses/InvalidRequestOrInvalidState`, for each status that the operation refuses with. */
export function refusalResponses(operation: Operation, components: Record<string, Json>): Record<string, Json> {
  const byStatus = Map.groupBy(codesOf(operation), (code) => statusOf[code]);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => {
      const isProblem = operation.problems === true;
      const name = `${codes.map(pascal).join('Or')}${isProblem ? 'Problem' : ''}`;
      components[name] ??= response(status, codes, isProblem);
      return [String(status), { $ref: `#/components/responses/${name}` }];
    }),
  );
}

const pascal = (code: string): string => code.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());

const response = (status: number, codes: readonly ErrorCode[], isProblem: boolean): Json => ({
  description: codes.map((code) => `\`${labelOf(code)}\`: ${meaningOf[code]}`).join(' '),
  headers: {
    ...onEveryAnswer,
    ...headersOf(status),
    'X-Service-Error-Code': {
      description: 'Why the request was refused, for programs; docs/errors.md explains each code.',
      required: true,
      schema: { type: 'string', enum: codes.map(labelOf) },
      example: labelOf(codes[0] ?? 'invalid_request'),
    },
  },
  content: isProblem ? problemContent(status, codes) : errorContent(status),
});

const sentenceFor = (status: number): string => exampleSentences[status] ?? 'body.amountEuros: is missing';

const errorContent = (status: number): Json => ({
  'application/json': {
    schema: { $ref: '#/components/schemas/ApiError' },
    example: { error: sentenceFor(status) },
  },
});

const problemContent = (status: number, [code = 'invalid_request']: readonly ErrorCode[]): Json => ({
  [problemType]: {
    schema: { $ref: '#/components/schemas/Problem' },
    example: problemOf({ status, label: labelOf(code), message: sentenceFor(status) }),
  },
});

/** What a caller reads for each status. */
const exampleSentences: Readonly<Record<number, string>> = {
  400: 'body.amountEuros: is missing',
  401: 'send the header Authorization: Bearer <token>',
  403: 'an agent token may not do this; use the owner’s API key',
  404: `no intent ${exampleId('intent')}`,
  409: 'this Idempotency-Key was used for another request',
  413: 'the body is larger than 1048576 bytes',
  415: 'send the body without Content-Encoding',
  429: 'more than 100 requests in this minute',
  503: 'Temporal cannot be reached; repeat with the same Idempotency-Key',
};

export const headerShapes = {
  'X-Data-Residency': {
    description: 'Where the data is stored.',
    required: true,
    schema: { type: 'string', const: 'EU' },
    example: 'EU',
  },
  'X-Request-Id': {
    description: 'Identifies this request in records and logs.',
    required: true,
    schema: { type: 'string' },
    example: '019a9f2c-1d3e-7a4b-8c5d-6e7f8091a2b3',
  },
  'Accept-Encoding': {
    description: 'The encodings that a body may have: `identity` alone.',
    schema: { type: 'string', const: 'identity' },
    example: 'identity',
  },
  'Retry-After': {
    description: 'Seconds to wait before repeating the request.',
    schema: { type: 'integer', minimum: 1 },
    example: 5,
  },
  'X-RateLimit-Limit': {
    description: 'Requests allowed per minute.',
    schema: { type: 'integer', minimum: 1 },
    example: 100,
  },
  'X-RateLimit-Remaining': {
    description: 'Requests left in this minute.',
    schema: { type: 'integer', minimum: 0 },
    example: 0,
  },
  'X-RateLimit-Reset': {
    description: 'Seconds until the minute ends.',
    schema: { type: 'integer', minimum: 1 },
    example: 42,
  },
} satisfies Json;

const headersNamed = (...names: (keyof typeof headerShapes)[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

export const onEveryAnswer = headersNamed('X-Data-Residency', 'X-Request-Id');

function headersOf(status: number): Json {
  if (status === 503) return headersNamed('Retry-After');
  if (status === 415) return headersNamed('Accept-Encoding');
  if (status !== 429) return {};
  return headersNamed('Retry-After', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset');
}
