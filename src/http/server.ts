/**
 * The Express application and its server: headers of every answer, also of errors, the mounted areas, the document and
 * its page. Decides nothing about money.
 * @module
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import express, { type Express } from 'express';
import helmet from 'helmet';
import { DomainError } from '../kernel/errors.ts';
import { uuidv7 } from '../kernel/ids.ts';
import type { Mode } from '../platform/mode.ts';
import { refuse } from './answer.ts';
import type { EdgeDeps } from './edge.ts';
import { serveFixedFiles } from './fixed-files.ts';
import { mount } from './mount.ts';
import { openApiOf } from './openapi.ts';
import { type Protocol, serveProtocol } from './protocol.ts';
import { requestIdOf, validRunId } from './request-id.ts';
import { type Mounted, pathsOf } from './route.ts';
import { sanitizePathForError } from './sanitize-for-error.ts';

export type ServerOptions = {
  readonly areas: readonly Mounted[];
  readonly edge: EdgeDeps;
  readonly mode: Mode;
  readonly version: string;
  readonly publicUrl: string;
  /** Served beside the operations. */
  readonly protocols?: readonly Protocol[];
};

export function createApp({ areas, edge, mode, version, publicUrl, protocols = [] }: ServerOptions): Express {
  const present = areas.map((one) => ({ ...one, area: withoutAbsent(one.area, mode) }));
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.set('query parser', 'simple');
  app.use((request, response, next) => {
    everyAnswer(response, requestIdOf(request));
    for (const [name, value] of securityHeaders) response.setHeader(name, value);
    const runId = validRunId(request);
    if (runId !== undefined) response.set('X-Service-Run-Id', runId);
    const why = whyAmbiguous(request);
    if (why === undefined) return next();
    response.set('Connection', 'close'); // Two parsers may understand the rest of this connection differently.
    refuse(response, new DomainError('invalid_request', why), edge.log);
  });

  const presentAreas = present.map(({ area }) => area);
  const openapi = openApiOf(presentAreas, { version, mode, serverUrl: publicUrl });
  serveFixedFiles(app, { openapi, clock: edge.clock, log: edge.log });

  const nothingThere: express.RequestHandler = (request, response) => {
    const where = `${request.method} ${sanitizePathForError(request.path.slice(0, 200))}`;
    refuse(response, new DomainError('not_found', `nothing is served at ${where}`), edge.log);
  };
  // Before what could take their place: an absent path is no id of another operation.
  for (const path of absentPaths(areas, mode)) app.all(path.replace(/\{(\w+)\}/g, ':$1'), nothingThere);
  for (const protocol of protocols) serveProtocol(app, protocol, presentAreas, openapi, edge);
  mount(app, present, edge);
  app.use(nothingThere);
  app.use(((error, _request, response, _next) =>
    refuse(response, asRefusal(error), edge.log)) as express.ErrorRequestHandler);
  return app;
}

/** A server whose own answers carry the headers too. `listen` and `close` are the caller's. */
export function createHttpServer(app: Express): Server {
  const options = {
    requestTimeout: 60_000,
    headersTimeout: 20_000,
    keepAliveTimeout: 65_000,
    requireHostHeader: false,
  };
  const server = createServer(options, app);
  server.on('checkExpectation', (_request, response) => {
    everyAnswer(response, uuidv7());
    response.writeHead(417, { 'Content-Type': 'application/json', Connection: 'close' });
    response.end(JSON.stringify({ error: 'send no Expect header but 100-continue' }));
  });
  server.on('connect', (_request, socket: Socket) => {
    socket.on('error', () => socket.destroy()); // Node has let go of this socket; a reset must not end the process.
    endRaw(socket, '405 Method Not Allowed', 'this is no proxy');
    socket.destroySoon();
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
    const isTooLarge = error.code === 'HPE_HEADER_OVERFLOW';
    const status = isTooLarge ? '431 Request Header Fields Too Large' : '400 Bad Request';
    endRaw(socket, status, isTooLarge ? 'the headers are too large' : 'this is not a well-formed HTTP request');
  });
  return server;
}

function endRaw(socket: Socket, status: string, error: string): void {
  const body = JSON.stringify({ error });
  socket.end(
    `HTTP/1.1 ${status}\r\nX-Data-Residency: EU\r\nX-Request-Id: ${uuidv7()}\r\nCache-Control: no-store\r\n` +
      'Content-Type: application/json\r\n' +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

/** Node keeps the first of several, so the headers are counted as they were received. HTTP/1.0 may have no Host. */
function whyAmbiguous({ rawHeaders, httpVersion }: IncomingMessage): string | undefined {
  let hosts = 0;
  let authorizations = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase();
    if (name === 'host') hosts += 1;
    if (name === 'authorization') authorizations += 1;
  }
  const hasHost = hosts === 1 || (hosts === 0 && httpVersion === '1.0');
  if (!hasHost) return 'a request needs exactly one Host header';
  return authorizations > 1 ? 'a request may have one Authorization header' : undefined;
}

/** What may be kept in a cache says so itself. */
function everyAnswer(response: ServerResponse, requestId: string): void {
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('X-Data-Residency', 'EU');
  response.setHeader('X-Request-Id', requestId);
}

/** The same for every answer, so they are worked out once. */
const securityHeaders = ((): ReadonlyMap<string, string> => {
  const headers = new Map<string, string>();
  const response = {
    setHeader: (name: string, value: string) => headers.set(name, value),
    removeHeader: (name: string) => headers.delete(name),
  };
  const directives = { 'upgrade-insecure-requests': null };
  const protect = helmet({ contentSecurityPolicy: { useDefaults: true, directives } });
  protect({} as IncomingMessage, response as unknown as ServerResponse, (error) => {
    if (error !== undefined) throw error;
  });
  return headers;
})();

function withoutAbsent(area: Mounted['area'], mode: Mode): Mounted['area'] {
  if (mode === 'sandbox') return area;
  const kept = Object.entries(area.operations).filter(([, operation]) => operation.sandboxOnly !== true);
  return { ...area, operations: Object.fromEntries(kept) };
}

/** Paths that are not served, or not in this mode, and that a parameter of another path must not take. */
const absentPaths = (areas: readonly Mounted[], mode: Mode): string[] =>
  areas.flatMap(({ area }) => {
    const withheld = mode === 'sandbox' ? [] : Object.values(area.operations).filter((one) => one.sandboxOnly === true);
    const notBuilt = (area.notBuilt ?? []).map((path) => ({ path }));
    return [...withheld, ...notBuilt].flatMap((one) => pathsOf(area, one));
  });

/** Express' own errors (a malformed percent escape, for one) carry a status. */
function asRefusal(error: unknown): unknown {
  const status = (error as { status?: unknown }).status;
  return typeof status === 'number' && status < 500
    ? new DomainError('invalid_request', 'malformed request', { cause: error })
    : error;
}
