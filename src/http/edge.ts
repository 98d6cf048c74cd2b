/**
 * Carries one request through the edge, in this order: rate limit, authenticate, parse, look the key up, validate,
 * reserve, run, validate the answer. Knows contracts, no domain.
 * @module
 */
import { hash } from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';
import type * as z from 'zod';
import { DomainError } from '../kernel/errors.ts';
import { newId, uuidv7, uuidv7Bytes } from '../kernel/ids.ts';
import type { Logger } from '../platform/log.ts';
import { type AdmitDeps, admit, admitAgain } from './admit.ts';
import { type Answer, answer, refuse, replay } from './answer.ts';
import type { AtomicKey } from './atomic-key.ts';
import { declaredBytesOf, defaultBodyLimitBytes, nothing, parseJson, readBody } from './body.ts';
import { actorOf, type Call, type Caller, ownOf } from './caller.ts';
import { withCents } from './cents-names.ts';
import { refusalOf } from './errors.ts';
import { hashOf, type Idempotency, type Lease, type RequestKey } from './idempotency.ts';
import { isInProcess, noteRefusal } from './in-process.ts';
import { negotiatePage, type Page } from './pages.ts';
import type { RateLimit } from './rate-limit.ts';
import type { Reaching } from './reaches.ts';
import type { RefusedAccess } from './refused-access.ts';
import { headerOf, requestIdOf, runIdOf } from './request-id.ts';
import { type Input, type Mounted, type Operation, Reply } from './route.ts';
import { checkingLines, Streamed } from './streamed.ts';
import { noFields, validated, validatedQuery } from './validate.ts';

export type EdgeDeps = AdmitDeps & {
  readonly idempotency: Idempotency;
  readonly rateLimit: RateLimit;
  readonly refusedAccess: RefusedAccess;
  readonly log: Logger;
  /** Answers are checked against the contract; off in live, where speed is measured. */
  readonly validatesAnswers: boolean;
};

type Handler = Mounted['handlers'][string];

type Answering = {
  readonly handler: Handler;
  readonly page: Page | undefined;
  /** Checks the ids of a request; undefined where it has none. */
  readonly reaching: Reaching | undefined;
  /** Every path of the operation, parameters in braces. */
  readonly paths: readonly string[];
};

export function edge(name: string, operation: Operation, answering: Answering, deps: EdgeDeps): RequestHandler {
  const { page } = answering;
  return async (request, response) => {
    if (page !== undefined) negotiatePage(page, request, response);
    let caller: Caller | undefined;
    const onIdentified = (one: Caller): void => {
      caller = one;
    };
    try {
      await limit(operation, request, response, deps);
      const admitted = await admit({ name, operation, request, requestId: requestIdOf(request), onIdentified }, deps);
      await serve(operation, answering, deps, request, response, admitted);
    } catch (error) {
      const client = deps.clientOf(request);
      void deps.refusedAccess.trace({ name, operation, request, caller, client, error });
      noteRefusal(request, error);
      refuse(response, error, deps.log, { asProblem: operation.problems === true });
    }
  };
}

async function limit(operation: Operation, request: Request, response: Response, deps: EdgeDeps): Promise<void> {
  if (operation.unlimited === true || isInProcess(request)) return;
  const { headers, refused } = await deps.rateLimit(request);
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (refused !== undefined) throw refused;
}

async function serve(
  operation: Operation,
  { handler, paths, reaching }: Answering,
  deps: EdgeDeps,
  request: Request,
  response: Response,
  caller: Caller,
) {
  const asking = { request, response, caller };
  const limitBytes = operation.bodyLimitBytes ?? defaultBodyLimitBytes;
  const rawBody = operation.takes === undefined ? await readBody(request, { limitBytes }) : nothing;
  const json = operation.auth.includes('network') ? undefined : parseJson(rawBody, request.headers['content-type']);
  const key = requestKey(operation, request, caller, { paths, rawBody });
  if (operation.idempotency === 'atomic') {
    const given = { deps, request, response, caller, json, rawBody, key };
    return serveAtomic(operation, { handler, reaching }, given);
  }
  const known = key === undefined ? undefined : await deps.idempotency.find(key);
  if (known !== undefined) return replay(response, known);

  const input = validate(operation, request, json, rawBody);
  if (key === undefined) {
    const done = await run(operation, { handler, reaching }, deps, asking, input);
    const { cacheSeconds } = operation;
    if (cacheSeconds !== undefined) response.setHeader('Cache-Control', `public, max-age=${cacheSeconds}`);
    return answer(response, done);
  }

  const reservation = await deps.idempotency.reserve(key);
  if (reservation.kind === 'replay') return replay(response, reservation);
  let done: Answer;
  try {
    done = await run(operation, { handler, reaching }, deps, asking, input, reservation);
  } catch (error) {
    const isForgotten = refusalOf(error).status < 500 && !reservation.wasAnswered;
    await (isForgotten ? deps.idempotency.drop(key, reservation) : release(deps, key, reservation));
    throw error;
  }
  if (reservation.wasAnswered) response.set('Idempotent-Replayed', 'true');
  try {
    const body = operation.answersFromRow === true ? null : JSON.stringify(done.body ?? null);
    await deps.idempotency.keep(key, reservation, { status: done.status, body, ...storageOf(operation) });
  } catch (error) {
    await release(deps, key, reservation);
    throw error;
  }
  await answer(response, done);
}

type Given = {
  readonly deps: EdgeDeps;
  readonly request: Request;
  readonly response: Response;
  readonly caller: Caller;
  readonly json: unknown;
  readonly rawBody: Uint8Array;
  readonly key: RequestKey | undefined;
};

/** Nothing is looked up or reserved: the handler's statement finds or keeps the answer. */
async function serveAtomic(
  operation: Operation,
  answering: Pick<Answering, 'handler' | 'reaching'>,
  { deps, request, response, caller, json, rawBody, key }: Given,
): Promise<void> {
  const asking = { request, response, caller };
  let input: Fields;
  try {
    input = validate(operation, request, json, rawBody);
  } catch (error) {
    if (key !== undefined) await deps.idempotency.find(key); // A key of another request is named first, as elsewhere.
    throw error;
  }
  const seed = seedOf(operation, request);
  const atomicKey = key === undefined ? null : atomicKeyOf(key, seed);
  const done = await run(operation, answering, deps, asking, input, { ...seed, atomicKey });
  if (done.isReplayed === true) response.set('Idempotent-Replayed', 'true');
  await answer(response, done);
}

const atomicKeyOf = ({ rawBody, paths, ...scope }: RequestKey, { seed, seedMs }: Seed): AtomicKey => ({
  ...scope,
  path: paths[0],
  paths,
  requestHash: hashOf(rawBody),
  seed,
  seedMs,
});

/** Aborts when the connection closes before the answer is written. */
function goneOf(response: Response): AbortSignal {
  const controller = new AbortController();
  const closed = (): void => {
    if (!response.writableFinished) controller.abort();
  };
  // The caller may have gone before anything waited for it.
  if (response.closed) closed();
  else response.once('close', closed);
  return controller.signal;
}

const storageOf = ({ secret, sealed }: Operation) => ({ isSecret: secret === true, isSealed: sealed === true });

/** Best effort, so that a repeat can continue at once; otherwise the lease expires. */
async function release(deps: EdgeDeps, key: RequestKey, lease: Lease): Promise<void> {
  await deps.idempotency
    .release(key, lease)
    .catch((error: unknown) => deps.log.warn({ err: error }, 'lease not released'));
}

type Asking = { readonly request: Request; readonly response: Response; readonly caller: Caller };

async function run(
  operation: Operation,
  { handler, reaching }: Pick<Answering, 'handler' | 'reaching'>,
  deps: EdgeDeps,
  asking: Asking,
  fields: Fields,
  seed: Seed = seedOf(operation, asking.request),
): Promise<Answer> {
  const call = await callOf(operation, asking, deps, seed);
  const own = actsForOwner(operation) ? ownOf(call) : undefined;
  const records = own === undefined ? {} : ((await reaching?.(fields, own)) ?? {});
  const result = await handler({ ...fields, own, records } as Input<Operation>, call);
  const { status, body, isReplayed } =
    result instanceof Reply ? result : { status: operation.success.status, body: result, isReplayed: false };
  if (!deps.validatesAnswers || operation.success.body === undefined) return { status, body, isReplayed };
  const { body: schema } = operation.success;
  return {
    status,
    body: body instanceof Streamed ? checkingLines(body, (line) => checked(schema, line)) : checked(schema, body),
    isReplayed,
  };
}

/** What validation makes of a request. */
type Fields = Omit<Input<Operation>, 'own' | 'records' | 'params' | 'query' | 'body'> & {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
};

const actsForOwner = ({ auth, ownerless }: Operation): boolean =>
  ownerless !== true && auth.some((kind) => kind === 'key' || kind === 'agent' || kind === 'dashboard');

type Seed = {
  readonly seed: string;
  readonly seedMs: number;
  readonly atomicKey?: AtomicKey | null;
};

/** What only reads makes nothing that has an id. */
const seedOf = ({ method }: Operation, request: Request): Seed => ({
  seed: method === 'get' ? requestIdOf(request) : uuidv7(),
  seedMs: Date.now(),
});

function checked(schema: z.ZodType, body: unknown): unknown {
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw new Error(`the answer breaks its contract: ${parsed.error.message}`);
  return body;
}

async function callOf(
  operation: Operation,
  { request, response, caller }: Asking,
  deps: EdgeDeps,
  { seed, seedMs, atomicKey = null }: Seed,
): Promise<Call> {
  const requestId = requestIdOf(request);
  const runId = runIdOf(request);
  const at = operation.method === 'get' ? new Date(0) : await deps.clock.now();
  let minted = 0;
  let gone: AbortSignal | undefined;
  return {
    caller,
    requestId,
    runId,
    idempotencyKey: headerOf(request, 'idempotency-key'),
    atomicKey,
    // Few calls wait: the others need no listener. A getter would give each call a shape of its own, which keeps the
    // call in memory until the old generation is collected.
    gone: () => {
      gone ??= goneOf(response);
      return gone;
    },
    cause: {
      causeId: `call:${seed}`,
      requestId,
      runId,
      actor: actorOf(caller),
      sourceAddress: deps.clientOf(request),
      at,
    },
    newId: (kind) => newId(kind, uuidv7Bytes(seedMs, randomFrom(seed, minted++))),
    now: () => deps.clock.now(),
    admitAgain: () => admitAgain(operation, request, deps),
    readFile: (limit) => readBody(request, limit),
    declaredBytes: declaredBytesOf(request),
  };
}

const randomFrom = (seed: string, index: number): Uint8Array =>
  hash('sha256', `${seed}/${index}`, 'buffer').subarray(0, 10);

function requestKey(
  operation: Operation,
  request: Request,
  caller: Caller,
  { paths, rawBody }: { readonly paths: readonly string[]; readonly rawBody: Uint8Array },
): RequestKey | undefined {
  if (operation.method !== 'post' || !('ownerId' in caller || caller.kind === 'merchant')) return undefined;
  const key = request.headers['idempotency-key'];
  if (typeof key !== 'string') {
    if (operation.idempotency !== 'required') return undefined;
    throw new DomainError('invalid_request', 'send an Idempotency-Key header: this operation needs one');
  }
  if (key.length < 1 || key.length > 255 || !/^[\x21-\x7e]+$/.test(key)) {
    throw new DomainError('invalid_request', 'Idempotency-Key must be 1 to 255 printable characters without spaces');
  }
  const agentId = caller.kind === 'agent' ? caller.agentId : '';
  // A merchant's requests are its own, no matter who pays.
  const ownerId = caller.kind === 'merchant' ? caller.merchantId : (caller.ownerId ?? '');
  const [first = request.path, ...others] = paths.map((path) => filled(path, request.params));
  const scope = { ownerId, callerKind: caller.kind, agentId, key };
  return { ...scope, method: request.method, paths: [first, ...others], rawBody };
}

const filled = (path: string, params: Request['params']): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])));

function validate(operation: Operation, request: Request, json: unknown, rawBody: Uint8Array): Fields {
  // The handler reads a network message only after it has checked the signature.
  const isNetwork = operation.auth.includes('network');
  const { params: path, query: wantedQuery = noFields, body: wantedBody } = operation;
  // A path parameter that cannot be an id is a typing error, which a 404 would hide.
  const params = path === undefined ? {} : withCents(path, validated(path, 'path', request.params));
  const query = isNetwork ? {} : withCents(wantedQuery, validatedQuery(wantedQuery, request.url));
  const body =
    isNetwork || wantedBody === undefined
      ? undefined
      : withCents(wantedBody, validated(wantedBody, 'body', json === undefined ? {} : json));
  const requestLine = `${request.method} ${request.originalUrl}`;
  return { params, query, body, requestLine, rawBody, headers: request.headers };
}
