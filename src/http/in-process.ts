/**
 * Sends a request through the whole application over a connection in memory, so that another protocol (MCP) has the same
 * edge: credentials, scopes, isolation, idempotency and audit. The request comes from the client of the one that causes it.
 * @module
 */
import { createServer, type IncomingMessage, type RequestListener, request as send } from 'node:http';
import { duplexPair } from 'node:stream';
import { text } from 'node:stream/consumers';
import { DomainError, type RefusedBy } from '../kernel/errors.ts';
import { nameRequestsOver, requestIdOf } from './request-id.ts';

export type InProcessRequest = {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Its id, client address, credential and run id are this request's too. */
  readonly cause: IncomingMessage;
  /** Ends the connection: a call that waits does not go on for a caller that is gone. */
  readonly gone?: AbortSignal | undefined;
};

export type InProcessAnswer = {
  readonly status: number;
  readonly body: unknown;
  /** Of a refusal that has it; the body has only its sentence. */
  readonly refusedBy: RefusedBy | undefined;
  header(name: string): string | undefined;
};

/** The connection was ended with the caller's. */
export class CallerGone extends Error {
  override readonly name = 'CallerGone';
  constructor(options?: ErrorOptions) {
    super('the caller is gone', options);
  }
}

/** Throws `CallerGone` where `gone` has ended it. */
export type InProcess = (request: InProcessRequest) => Promise<InProcessAnswer>;

const connections = new WeakSet<object>();

/** True for a request of this process' own: the rate limit has counted the one that caused it. */
export const isInProcess = ({ socket }: IncomingMessage): boolean => connections.has(socket);

const passedOn = ['authorization', 'host', 'user-agent', 'x-forwarded-for', 'x-service-run-id'] as const;

/** With its length, because the body of a DELETE has no other frame. */
const framed = (body: string) => ({
  'content-type': 'application/json',
  'content-length': String(Buffer.byteLength(body)),
});

const refusals = new WeakMap<object, RefusedBy>();

/** Keeps what an error says beside its sentence for the caller within this process. */
export function noteRefusal(request: IncomingMessage, error: unknown): void {
  if (!isInProcess(request) || !(error instanceof DomainError) || error.refusedBy === undefined) return;
  refusals.set(request.socket, error.refusedBy);
}

export function inProcess(app: RequestListener): InProcess {
  const server = createServer({ requestTimeout: 0, headersTimeout: 0 }, app); // Never listens.
  return async ({ method, url, headers, body, cause, gone }) => {
    const [near, far] = duplexPair();
    connections.add(far);
    nameRequestsOver(far, requestIdOf(cause));
    if (gone?.aborted) throw new CallerGone();
    const end = () => far.destroy();
    gone?.addEventListener('abort', end, { once: true });
    server.emit('connection', Object.assign(far, { remoteAddress: cause.socket.remoteAddress }));
    const known = passedOn.flatMap((name) => {
      const value = cause.headers[name];
      return typeof value === 'string' ? [[name, value] as const] : [];
    });
    const asked = async () => {
      const answer = await new Promise<IncomingMessage>((resolve, reject) => {
        const request = send({
          createConnection: () => near,
          ...(gone && { signal: gone }),
          method: method.toUpperCase(),
          path: url,
          headers: {
            ...Object.fromEntries(known),
            ...(body === undefined ? {} : framed(body)),
            ...headers,
          },
        });
        request.on('error', reject).on('response', resolve).end(body);
      });
      return { answer, received: await text(answer) };
    };
    const { answer, received } = await asked()
      .catch((error: unknown) => {
        throw gone?.aborted === true ? new CallerGone({ cause: error }) : error;
      })
      .finally(() => gone?.removeEventListener('abort', end));
    return {
      status: answer.statusCode ?? 0,
      body: received === '' ? undefined : (JSON.parse(received) as unknown),
      refusedBy: refusals.get(far),
      header: (name) => {
        const value = answer.headers[name];
        return Array.isArray(value) ? value.join(', ') : value;
      },
    };
  };
}
