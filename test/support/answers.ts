/**
 * Remembers what the published operations refused during a test run: the API under test tells where it found the
 * operation, each new one is a line of a file. At the end of a whole run nothing that is published may be missing there.
 * @module
 */
import { type Channel, channel } from 'node:diagnostics_channel';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { Operation } from '../../src/http/route.ts';

type Finished = {
  request: { method: string; originalUrl?: string; params?: Readonly<Record<string, string>> };
  response: { statusCode: number };
};
type Recorder = (message: unknown) => void;

const finished: Channel & { recorder?: Recorder } = channel('http.server.response.finish');

/** For one test file; the one before it in the same process is let go, because its modules are gone. */
export function recordAnswers(file: string): void {
  const seen = new Set<string>();
  const record: Recorder = (message) => {
    const { request, response } = message as Finished;
    if (request.params === undefined || response.statusCode < 400) return;
    const line = `${request.method} ${placeOf(request)} ${response.statusCode}\n`;
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

/** `POST /agents/{id}/fund (fundAgent) 409`, for each refusal of a published operation that nobody has seen. */
export async function neverSeen(file: string): Promise<string[]> {
  // Not at the top: before each test file that would load every contract.
  const { publishedAreas } = await import('../../src/main/modules/index.ts');
  const { pathsOf } = await import('../../src/http/route.ts');
  const lines = new Set(existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []);
  return publishedAreas.flatMap((area) =>
    Object.entries(area.operations).flatMap(([name, operation]: [string, Operation]) => {
      const method = operation.method.toUpperCase();
      const paths = pathsOf(area, operation);
      const isSeen = (status: number) => paths.some((path) => lines.has(`${method} ${path || '/'} ${status}`));
      return promised(operation)
        .filter((status) => !isSeen(status))
        .map((status) => `${method} ${area.base}${operation.path} (${name}) ${status}`);
    }),
  );
}

/** What its contract names, and what the edge answers for it: 413, 429 and 503 of the edge are the same everywhere. */
function promised({ auth, method, params, query, body, refusals }: Operation): number[] {
  const isBearers = auth.includes('key') || auth.includes('agent');
  const statuses = [
    ...refusals,
    ...((params ?? query ?? body) === undefined ? [] : [400]),
    ...(auth.includes('public') ? [] : [401]),
    ...(isBearers ? [403] : []),
    ...(isBearers && method === 'post' ? [409] : []),
  ];
  return [...new Set(statuses)].sort();
}
