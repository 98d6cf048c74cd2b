/**
 * Records, during a test run, which refusals, events and calls of the card network each published operation caused: each
 * new one is a line of a file. At the end of the run the lines are compared with the contracts.
 * @module
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { type Channel, channel } from 'node:diagnostics_channel';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { PublishedChanges } from '../../src/events/record.ts';
import type { Operation } from '../../src/http/route.ts';
import type { ErrorCode } from '../../src/kernel/errors.ts';
import type { Actor, Cause } from '../../src/platform/cause.ts';

type Asked = {
  method: string;
  originalUrl?: string;
  params?: Readonly<Record<string, string>>;
  headers: Readonly<Record<string, unknown>>;
};
type Answer = {
  readonly statusCode: number;
  /** The caller may have the whole answer. */
  readonly writableEnded: boolean;
  getHeader(name: string): unknown;
  once(event: 'close', then: () => void): void;
};
type Finished = { request: Asked; response: Answer };
type Recorder = (message: unknown) => void;
/** Answers which of these ids are events of the database. */
type CommittedOf = (ids: readonly string[]) => Promise<readonly string[]>;

type Recorded = {
  readonly name: string;
  /** The request whose handler recorded the event; undefined for a step of a workflow and for a background loop. */
  readonly request: Asked | undefined;
  /** A line for the call that had the card network make `request`. */
  readonly behind: string | undefined;
  readonly cause: Cause;
};

/** Of a message that a test sends in the network's place, perhaps while the call is answered that it belongs to. */
export const sentByTest = { 'x-sent-by-test': 'yes' };
const isSentByTest = ({ headers }: Asked): boolean => Object.keys(sentByTest).some((name) => name in headers);

const written = new Set<string>();
/** Method and path of each call, by the id of the request. */
const calls = new Map<string, string>();
/** By the event's id. */
const recorded = new Map<string, Recorded>();
/** What is being answered, and for a moment longer. */
const open = new Set<Finished>();
/** The request that the running code serves. */
const served = new AsyncLocalStorage<Asked>();

function addLine(file: string, line: string): void {
  if (written.has(line)) return;
  written.add(line);
  appendFileSync(file, `${line}\n`);
}

/** Records for one test file. */
export function recordAnswers(file: string): void {
  subscribeOnce('http.server.request.start', (message) => {
    const call = message as Finished;
    const { request, response } = call;
    served.enterWith(request);
    open.add(call);
    response.once('close', () => open.delete(call));
  });
  subscribeOnce('http.server.response.finish', (message) => {
    const { request, response } = message as Finished;
    if (request.params === undefined) return;
    const called = calledBy(request);
    calls.set(String(response.getHeader('X-Request-Id')), called);
    if (response.statusCode >= 400)
      addLine(file, `${called} ${response.statusCode} ${response.getHeader('X-Service-Error-Code')}`);
  });
  subscribeOnce('bursar.changes', (message) => {
    const { cause, events } = message as PublishedChanges;
    const request = served.getStore();
    const behind = callBehind(request, cause);
    for (const { id, name } of events) recorded.set(id, { name, request, behind, cause });
  });
}

/** The call for which the network makes `request`: still being answered, or answered before. */
function callBehind(request: Asked | undefined, { requestId }: Cause): string | undefined {
  if (request === undefined) return undefined;
  const behind = [...open].find(({ response }) => response.getHeader('X-Request-Id') === requestId);
  if (behind?.request === request) return undefined;
  const isAnswered = behind === undefined || behind.response.writableEnded;
  if (!isAnswered && !isSentByTest(request)) return `carried out by ${calledBy(request)}: ${calledBy(behind.request)}`;
  // Its caller may have asked again before its response is closed.
  const earlier = behind === undefined ? calls.get(requestId) : calledBy(behind.request);
  return earlier === undefined ? undefined : `followed by ${calledBy(request)}: ${earlier}`;
}

/** The subscriber of the test file before it in this process is removed with its modules. */
function subscribeOnce(name: string, recorder: Recorder): void {
  const source: Channel & { recorder?: Recorder } = channel(name);
  if (source.recorder !== undefined) source.unsubscribe(source.recorder);
  source.recorder = recorder;
  source.subscribe(recorder);
}

/** Adds the events of a database before it is dropped. */
export async function recordEvents(file: string, committedOf: CommittedOf): Promise<void> {
  for (const id of await committedOf([...recorded.keys()])) {
    const event = recorded.get(id);
    recorded.delete(id);
    const called = event && firedBy(event);
    if (called !== undefined) addLine(file, `fired ${event?.name} ${called}`);
    if (event?.behind !== undefined) addLine(file, event.behind);
  }
}

/**
 * An event belongs to the call whose handler recorded it. What a step of a workflow recorded for a caller belongs to the
 * call whose request id it carries: the one that decided, or that reserved the card. What a deadline, a signal or a
 * policy does carries the id of an earlier call, and is no event of that call.
 */
function firedBy({ request, cause }: Recorded): string | undefined {
  if (request !== undefined) return calledBy(request);
  return isCaller[cause.actor.kind] ? calls.get(cause.requestId) : undefined;
}

const isCaller: Readonly<Record<Actor['kind'], boolean>> = {
  key: true,
  agent: true,
  merchant: true,
  passkey: true,
  'approval-link': true,
  'webhook-page': true,
  invitation: true,
  dashboard: true,
  command: false,
  network: false,
  signal: false,
  policy: false,
  deadline: false,
  system: false,
};

/** `GET /agents/{id}` */
const calledBy = (request: Asked): string => `${request.method} ${placeOf(request)}`;

/** `/agents/{id}`: the path with its parameters as they are called. */
function placeOf({ originalUrl = '', params = {} }: Asked): string {
  const names = new Map(Object.entries(params).map(([name, value]) => [encodeURIComponent(value), `{${name}}`]));
  const [path = ''] = originalUrl.split('?');
  return path
    .split('/')
    .map((segment) => names.get(segment) ?? segment)
    .join('/');
}

/** A sentence for each difference between the contracts and the answers and events of a run of all tests. */
export async function contractFaults(file: string): Promise<string[]> {
  const operations = await publishedPromises();
  const lines = linesOf(file);
  return [
    ...compareRefusals(operations, lines),
    ...compareEvents(operations, lines),
    ...compareNetworkCalls(operations, lines),
  ];
}

/** What an operation promises about its refusals, its events and the card network. */
export type Promised = {
  readonly name: string;
  /** `POST /agents`, under each of its paths. */
  readonly calls: readonly string[];
  /** `403 policy_denied`: each refusal that it may answer. */
  readonly refusals: readonly string[];
  /** Of these, each that a test must provoke: those of its contract, and those of the edge that differ between operations. */
  readonly provoked: readonly string[];
  readonly fires: readonly string[];
  /** Names of operations. */
  readonly networkCalls: readonly string[];
};

async function publishedPromises(): Promise<Promised[]> {
  // Not at the top: before each test file that would load every contract.
  const { publishedAreas } = await import('../../src/main/modules/index.ts');
  const { labelOf, statusOf } = await import('../../src/http/error-codes.ts');
  const { codesOf } = await import('../../src/http/openapi-refusals.ts');
  const { pathsOf } = await import('../../src/http/route.ts');
  const refusal = (code: ErrorCode) => `${statusOf[code]} ${labelOf(code)}`;
  return publishedAreas.flatMap((area) =>
    Object.entries(area.operations).map(([name, operation]: [string, Operation]) => ({
      name,
      calls: pathsOf(area, operation).map((path) => `${operation.method.toUpperCase()} ${path || '/'}`),
      refusals: [
        ...codesOf(operation).map(refusal),
        ...(operation.success.also ?? []).map((code) => `${code} undefined`),
        // A live deployment does not serve it.
        ...(operation.sandboxOnly ? [refusal('not_found')] : []),
      ],
      provoked: provokedOf(operation).map(refusal),
      fires: operation.fires ?? [],
      networkCalls: operation.networkCalls ?? [],
    })),
  );
}

/**
 * A sentence for each refusal that an operation answered and its contract does not name, and for each it names in vain.
 * `lines` are those of a file of answers; what they say about other operations is left out.
 */
export function compareRefusals(
  operations: readonly Omit<Promised, 'fires' | 'networkCalls'>[],
  lines: readonly string[],
): string[] {
  const answered = Map.groupBy(
    lines.flatMap((line) => {
      const [, call, refusal] = /^([A-Z]+ \S+) (\d{3} \S+)$/.exec(line) ?? [];
      return call === undefined || refusal === undefined ? [] : [{ call, refusal }];
    }),
    ({ call }) => call,
  );
  return operations.flatMap(({ name, calls: paths, refusals, provoked }) => {
    const seen = new Set(paths.flatMap((call) => answered.get(call) ?? []).map(({ refusal }) => refusal));
    return [
      ...[...seen]
        // A bug is no refusal; tests plant some.
        .filter((refusal) => !refusals.includes(refusal) && refusal !== '500 internal')
        .map((refusal) => `${name} answered ${refusal}, which its contract does not name`),
      ...provoked
        .filter((refusal) => !seen.has(refusal))
        .map((refusal) => `no test provoked the declared refusal ${refusal} of ${name}`),
    ];
  });
}

/** A sentence for each event that an operation fired and its contract does not name, and for each it names in vain. */
export function compareEvents(
  operations: readonly Pick<Promised, 'name' | 'calls' | 'fires'>[],
  lines: readonly string[],
): string[] {
  const fired = new Set(lines);
  const events = new Set(lines.map((line) => /^fired (\S+) /.exec(line)?.[1]).filter((event) => event !== undefined));
  return operations.flatMap(({ name, calls: paths, fires }) => {
    const isFired = (event: string) => paths.some((call) => fired.has(`fired ${event} ${call}`));
    return [
      ...[...events]
        .filter((event) => isFired(event) && !fires.includes(event))
        .map((event) => `${name} fired ${event}, which its contract does not name`),
      ...fires
        .filter((event) => !isFired(event))
        .map((event) => `no call of ${name} fired ${event}, which its contract names`),
    ];
  });
}

/**
 * A sentence for each call of the card network that a contract does not name, and for each that it names in vain. A call
 * that came after the answer is none that it must name: a test may have sent it in the network's place.
 */
export function compareNetworkCalls(
  operations: readonly Pick<Promised, 'name' | 'calls' | 'networkCalls'>[],
  lines: readonly string[],
): string[] {
  const seen = new Set(lines.filter((line) => /^(?:carried out|followed) by /.test(line)));
  return operations.flatMap(({ name, calls: paths, networkCalls }) => {
    const callers = (how: string) =>
      operations
        .filter((one) => one.calls.some((by) => paths.some((call) => seen.has(`${how} by ${by}: ${call}`))))
        .map((one) => one.name);
    const carriedOut = callers('carried out');
    const known = [...carriedOut, ...callers('followed')];
    return [
      ...carriedOut
        // A batch decides what came with other requests of the same operation.
        .filter((caller) => caller !== name && !networkCalls.includes(caller))
        .map((caller) => `${name} was carried out by ${caller}, which its contract does not name`),
      ...networkCalls
        .filter((caller) => !known.includes(caller))
        .map((caller) => `no call of ${name} was carried out by ${caller}, which its contract names`),
    ];
  });
}

const linesOf = (file: string): string[] => (existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []);

/** The codes that its contract names, and those of the edge that differ between operations. */
const provokedOf = ({ auth, method, refusals }: Operation): ErrorCode[] => {
  const isBearers = auth.includes('key') || auth.includes('agent');
  return [
    ...refusals,
    'invalid_request',
    ...(auth.includes('public') ? [] : (['unauthenticated'] as const)),
    ...(auth.includes('agent') ? (['insufficient_scope'] as const) : []),
    ...(isBearers && !auth.includes('agent') ? (['forbidden'] as const) : []),
    ...(isBearers && method === 'post' ? (['idempotency_conflict'] as const) : []),
  ];
};
