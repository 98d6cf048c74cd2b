/**
 * Records, during a test run, which refusals and which events each published operation caused: each new one is a line
 * of a file. At the end of the run the lines are compared with the contracts.
 * @module
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { type Channel, channel } from 'node:diagnostics_channel';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { PublishedChanges } from '../../src/events/record.ts';
import type { Operation } from '../../src/http/route.ts';
import type { ErrorCode } from '../../src/kernel/errors.ts';
import type { Actor, Cause } from '../../src/platform/cause.ts';

type Asked = { method: string; originalUrl?: string; params?: Readonly<Record<string, string>> };
type Finished = { request: Asked; response: { statusCode: number; getHeader(name: string): unknown } };
type Recorder = (message: unknown) => void;
/** Answers which of these ids are events of the database. */
type CommittedOf = (ids: readonly string[]) => Promise<readonly string[]>;

type Recorded = {
  readonly name: string;
  /** The request whose handler recorded the event; undefined for a step of a workflow and for a background loop. */
  readonly request: Asked | undefined;
  readonly cause: Cause;
};

const written = new Set<string>();
/** Method and path of each call, by the id of the request. */
const calls = new Map<string, string>();
/** By the event's id. */
const recorded = new Map<string, Recorded>();
/** The request that the running code serves. */
const served = new AsyncLocalStorage<Asked>();

function addLine(file: string, line: string): void {
  if (written.has(line)) return;
  written.add(line);
  appendFileSync(file, `${line}\n`);
}

/** Records for one test file. */
export function recordAnswers(file: string): void {
  subscribeOnce('http.server.request.start', (message) => served.enterWith((message as Finished).request));
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
    for (const { id, name } of events) recorded.set(id, { name, request: served.getStore(), cause });
  });
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
  passkey: true,
  'approval-link': true,
  dashboard: true,
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
  const refusals = await neverSeen(file);
  return [
    ...refusals.map((refusal) => `no test provoked the declared refusal ${refusal}`),
    ...(await eventFaults(file)),
  ];
}

/** `POST /agents/{id}/fund (fundAgent) invalid_state`, for each refusal of a published operation that no test caused. */
async function neverSeen(file: string): Promise<string[]> {
  // Not at the top: before each test file that would load every contract.
  const { publishedAreas } = await import('../../src/main/modules/index.ts');
  const { labelOf, statusOf } = await import('../../src/http/error-codes.ts');
  const { pathsOf } = await import('../../src/http/route.ts');
  const lines = new Set(linesOf(file));
  return publishedAreas.flatMap((area) =>
    Object.entries(area.operations).flatMap(([name, operation]: [string, Operation]) => {
      const method = operation.method.toUpperCase();
      const paths = pathsOf(area, operation);
      const isSeen = (code: ErrorCode) =>
        paths.some((path) => lines.has(`${method} ${path || '/'} ${statusOf[code]} ${labelOf(code)}`));
      return promised(operation)
        .filter((code) => !isSeen(code))
        .map((code) => `${method} ${area.base}${operation.path} (${name}) ${code}`);
    }),
  );
}

/** An operation as the comparison of events needs it. */
export type Firing = {
  readonly name: string;
  /** `POST /agents`, under each of its paths. */
  readonly calls: readonly string[];
  readonly fires: readonly string[];
};

/** A sentence for each event that an operation fired and its contract does not name, and for each it names in vain. */
async function eventFaults(file: string): Promise<string[]> {
  const { publishedAreas } = await import('../../src/main/modules/index.ts');
  const { pathsOf } = await import('../../src/http/route.ts');
  const operations = publishedAreas.flatMap((area) =>
    Object.entries(area.operations).map(([name, operation]: [string, Operation]) => ({
      name,
      calls: pathsOf(area, operation).map((path) => `${operation.method.toUpperCase()} ${path || '/'}`),
      fires: operation.fires ?? [],
    })),
  );
  return compareEvents(operations, linesOf(file));
}

/** `lines` are those of a file of answers; what they say about other operations is left out. */
export function compareEvents(operations: readonly Firing[], lines: readonly string[]): string[] {
  const fired = new Set(lines);
  const isFired = ({ calls: paths }: Firing, event: string) =>
    paths.some((call) => fired.has(`fired ${event} ${call}`));
  const events = new Set(lines.map((line) => /^fired (\S+) /.exec(line)?.[1]).filter((event) => event !== undefined));
  return operations.flatMap((operation) => [
    ...[...events]
      .filter((event) => isFired(operation, event) && !operation.fires.includes(event))
      .map((event) => `${operation.name} fired ${event}, which its contract does not name`),
    ...operation.fires
      .filter((event) => !isFired(operation, event))
      .map((event) => `no call of ${operation.name} fired ${event}, which its contract names`),
  ]);
}

const linesOf = (file: string): string[] => (existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []);

/** The codes that its contract names, and those of the edge that differ between operations. */
const promised = ({ auth, method, refusals }: Operation): ErrorCode[] => {
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
