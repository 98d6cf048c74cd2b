/**
 * Records, during a test run, which refusals and which events each published operation caused: each new one is a line
 * of a file. At the end of the run the lines are compared with the contracts.
 * @module
 */
import { type Channel, channel } from 'node:diagnostics_channel';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { Operation } from '../../src/http/route.ts';
import type { ErrorCode } from '../../src/kernel/errors.ts';

type Finished = {
  request: { method: string; originalUrl?: string; params?: Readonly<Record<string, string>> };
  response: { statusCode: number; getHeader(name: string): unknown };
};
type Recorder = (message: unknown) => void;
type Query = (text: string, params: unknown[]) => Promise<{ rows: readonly Fired[] }>;
type Fired = { readonly name: string; readonly called: readonly string[] };

const finished: Channel & { recorder?: Recorder } = channel('http.server.response.finish');

const seen = new Set<string>();
/** Method and path of each call that was not refused, by the id of the request. */
const calls = new Map<string, string>();

function addLine(file: string, line: string): void {
  if (seen.has(line)) return;
  seen.add(line);
  appendFileSync(file, `${line}\n`);
}

/** Records for one test file. The recorder of the file before it in this process is removed with its modules. */
export function recordAnswers(file: string): void {
  const record: Recorder = (message) => {
    const { request, response } = message as Finished;
    if (request.params === undefined) return;
    const called = `${request.method} ${placeOf(request)}`;
    if (response.statusCode >= 400)
      addLine(file, `${called} ${response.statusCode} ${response.getHeader('X-Service-Error-Code')}`);
    else calls.set(String(response.getHeader('X-Request-Id')), called);
  };
  if (finished.recorder !== undefined) finished.unsubscribe(finished.recorder);
  finished.recorder = record;
  finished.subscribe(record);
}

/**
 * Adds the events of a database before it is dropped. An event belongs to the call whose request id it carries. What the
 * network reports for a payment carries the id of the call that asked for the payment; the network's own call is found
 * by the message, which has the same instant. What a deadline does carries the id of an earlier call, and is no event of
 * that call.
 */
export async function recordEvents(file: string, query: Query): Promise<void> {
  if (calls.size === 0) return;
  const { rows } = await query(
    `select distinct e.name, array(
       select e.request_id
       union select m.request_id from transactions t join transaction_events m on m.transaction_id = t.id
         where t.request_id = e.request_id and m.at = e.created_at and m.request_id = any($1)
     ) as called
     from events e
     where not exists (
       select from audit a
       where a.request_id = e.request_id and a.created_at = e.created_at and a.actor = 'deadline')`,
    [[...calls.keys()]],
  );
  for (const { name, called } of rows) {
    const known = called.map((id) => calls.get(id)).filter((call) => call !== undefined);
    if (known.length > 0) addLine(file, `fired ${name} ${[...new Set(known)].sort().join(', ')}`);
  }
}

/** `/agents/{id}`: the path with its parameters as they are called. */
function placeOf({ originalUrl = '', params = {} }: Finished['request']): string {
  const names = new Map(Object.entries(params).map(([name, value]) => [encodeURIComponent(value), `{${name}}`]));
  const [path = ''] = originalUrl.split('?');
  return path
    .split('/')
    .map((segment) => names.get(segment) ?? segment)
    .join('/');
}

/** `POST /agents/{id}/fund (fundAgent) invalid_state`, for each refusal of a published operation that no test caused. */
export async function neverSeen(file: string): Promise<string[]> {
  // Not at the top: before each test file that would load every contract.
  const { publishedAreas } = await import('../../src/main/modules/index.ts');
  const { labelOf, statusOf } = await import('../../src/http/error-codes.ts');
  const { pathsOf } = await import('../../src/http/route.ts');
  const lines = new Set(existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []);
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

/** `POST /agents (createAgent) 403 policy_denied`, for each refusal that was answered and that no contract declares. */
export async function undeclared(file: string): Promise<string[]> {
  const { publishedAreas } = await import('../../src/main/modules/index.ts');
  const { labelOf, statusOf } = await import('../../src/http/error-codes.ts');
  const { codesOf } = await import('../../src/http/openapi-refusals.ts');
  const { pathsOf } = await import('../../src/http/route.ts');
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  // A method that a path does not have, a bug, and a page or a health check that is no refusal of an operation.
  const answered = lines.filter(
    (line) => / \d+ \w+$/.test(line) && !/ (405 \w+|500 internal|503 undefined)$/.test(line),
  );
  return publishedAreas.flatMap((area) =>
    Object.entries(area.operations).flatMap(([name, operation]: [string, Operation]) => {
      const starts = pathsOf(area, operation).map((path) => `${operation.method.toUpperCase()} ${path || '/'} `);
      const declared = codesOf(operation).map((code) => `${statusOf[code]} ${labelOf(code)}`);
      return answered
        .flatMap((line) => starts.filter((start) => line.startsWith(start)).map((start) => line.slice(start.length)))
        .filter((refusal) => !declared.includes(refusal))
        .map((refusal) => `${operation.method.toUpperCase()} ${area.base}${operation.path} (${name}) ${refusal}`);
    }),
  );
}

type EventFaults = { readonly undeclared: readonly string[]; readonly neverFired: readonly string[] };

/** The differences between the events that the operations fired and those that their contracts name. */
export async function eventFaults(file: string): Promise<EventFaults> {
  const { publishedAreas } = await import('../../src/main/modules/index.ts');
  const { pathsOf } = await import('../../src/http/route.ts');
  const operations = publishedAreas.flatMap((area) =>
    Object.entries(area.operations).map(([name, operation]: [string, Operation]) => ({
      name,
      called: pathsOf(area, operation).map((path) => `${operation.method.toUpperCase()} ${path || '/'}`),
      fires: operation.fires ?? [],
    })),
  );
  const byCall = new Map(operations.flatMap((operation) => operation.called.map((call) => [call, operation])));
  const firedBy = new Map(operations.map(({ name }) => [name, new Set<string>()]));
  const undeclared = new Set<string>();
  for (const line of existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []) {
    const [, event, called = ''] = /^fired (\S+) (.*)$/.exec(line) ?? [];
    if (event === undefined) continue;
    const callers = called
      .split(', ')
      .map((call) => byCall.get(call))
      .filter((one) => one !== undefined);
    for (const { name } of callers) firedBy.get(name)?.add(event);
    if (callers.length > 0 && !callers.some(({ fires }) => fires.some((declared) => declared === event)))
      undeclared.add(
        `${callers.map(({ name }) => name).join(' or ')} fired ${event}, which its contract does not name`,
      );
  }
  const neverFired = operations.flatMap(({ name, fires }) =>
    fires
      .filter((event) => !firedBy.get(name)?.has(event))
      .map((event) => `no call of ${name} fired ${event}, which its contract names`),
  );
  return { undeclared: [...undeclared], neverFired };
}

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
