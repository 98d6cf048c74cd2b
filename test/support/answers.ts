/**
 * Remembers what the published operations refused during a test run: the API under test tells where it found the
 * operation, each new one is a line of a file. At the end of a whole run nothing that is published may be missing there.
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

const finished: Channel & { recorder?: Recorder } = channel('http.server.response.finish');

/** For one test file; the one before it in the same process is let go, because its modules are gone. */
export function recordAnswers(file: string): void {
  const seen = new Set<string>();
  const record: Recorder = (message) => {
    const { request, response } = message as Finished;
    if (request.params === undefined || response.statusCode < 400) return;
    const code = response.getHeader('X-Service-Error-Code');
    const line = `${request.method} ${placeOf(request)} ${response.statusCode} ${code}\n`;
    if (seen.has(line)) return;
    seen.add(line);
    appendFileSync(file, line);
  };
  if (finished.recorder !== undefined) finished.unsubscribe(finished.recorder);
  finished.recorder = record;
  finished.subscribe(record);
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

/** `POST /agents/{id}/fund (fundAgent) invalid_state`, for each refusal of a published operation that nobody has seen. */
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
