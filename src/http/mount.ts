/** Finds the operation of a request by path and method. The edge (edge.ts) then handles the request. @module */
import type { Request, RequestHandler, Response, Router } from 'express';
import { DomainError } from '../kernel/errors.ts';
import { isWellFormed } from '../kernel/text.ts';
import type { Logger } from '../platform/log.ts';
import { refuse } from './answer.ts';
import { type EdgeDeps, edge } from './edge.ts';
import { percentDecoded } from './query.ts';
import { type Lookups, reachingOf } from './reaches.ts';
import { type Mounted, pathsOf } from './route.ts';
import { Router as PathRouter } from './router.ts';

/** Serves every operation; a literal segment wins over a parameter, so `/tokens` is never an id. */
export function mount(router: Router, areas: readonly Mounted[], deps: EdgeDeps): void {
  const lookups: Lookups = Object.assign({}, ...areas.map((one) => one.lookups));
  const routes = areas.flatMap(({ area, handlers, pages }) =>
    Object.entries(area.operations).flatMap(([name, operation]) => {
      const handler = handlers[name];
      if (handler === undefined) throw new Error(`no handler for ${name}`);
      const paths = pathsOf(area, operation);
      const reaching = reachingOf(name, operation, lookups);
      const run = edge(name, operation, { handler, page: pages[name], paths, reaching }, deps);
      return paths.map((path) => ({ path, method: operation.method.toUpperCase(), run }));
    }),
  );
  const paths = new PathRouter<ReadonlyMap<string, Route>>();
  for (const [path, served] of Map.groupBy(routes, ({ path: one }) => one.replace(/\{\w+\}/g, '{}'))) {
    paths.add(
      path,
      new Map(served.map(({ path: named, method, run }) => [method, { run, names: named.match(/(?<=\{)\w+/g) ?? [] }])),
    );
  }
  router.use((request, response, next) => {
    const found = paths.find(request.path);
    if (found === undefined) return next();
    const { method } = request;
    const route = found.served.get(method === 'HEAD' && !found.served.has(method) ? 'GET' : method);
    if (route === undefined) return refuseMethod([...found.served.keys()], request, response, deps.log);
    request.params = Object.fromEntries(route.names.map((name, i) => [name, decoded(found.values[i] ?? '')]));
    return route.run(request, response, next);
  });
}

type Route = { readonly run: RequestHandler; readonly names: readonly string[] };

function decoded(segment: string): string {
  const text = percentDecoded(segment);
  if (text !== undefined && isWellFormed(text)) return text;
  throw new DomainError('invalid_request', 'path: its percent escapes must be UTF-8 text without NUL');
}

/** 405 for a path that is served, with the methods that it has. */
export function refuseMethod(served: readonly string[], request: Request, response: Response, log: Logger): void {
  response.set('Allow', served.join(', '));
  const message = `${request.method} is not served here; use ${served.join(', ')}`;
  refuse(response, new DomainError('method_not_allowed', message), log);
}
