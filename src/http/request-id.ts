/** The id of a request, and the run id that it names. @module */
import type { IncomingMessage } from 'node:http';
import { DomainError } from '../kernel/errors.ts';
import { uuidv7 } from '../kernel/ids.ts';
import { redactText } from '../platform/redact.ts';

const name = Symbol('request id');
type Named = IncomingMessage & { [name]?: string };

/** Of connections whose requests belong to another one. */
const idOfConnection = new WeakMap<object, string>();

/** Every request over this connection has the id of the request that causes it. */
export const nameRequestsOver = (connection: object, id: string): void => void idOfConnection.set(connection, id);

/** One id per request, a UUIDv7 of ours: a caller's own value is not trusted to be unique. */
export function requestIdOf(request: IncomingMessage): string {
  const named: Named = request;
  named[name] ??= idOfConnection.get(request.socket) ?? uuidv7();
  return named[name];
}

/** A name, and nothing that looks like a card number, a key or an account. */
const isRunId = (text: string): boolean => /^[\w-]{1,64}$/.test(text) && redactText(text) === text;

/** `X-Service-Run-Id`, stored on what the request makes; anything but a short name is refused. */
export function runIdOf(request: IncomingMessage): string | undefined {
  const value = headerOf(request, 'x-service-run-id');
  if (value === undefined || isRunId(value)) return value;
  throw new DomainError(
    'invalid_request',
    'X-Service-Run-Id must be 1 to 64 letters, digits, _ or -, and no number or key',
  );
}

/** The run to echo: only a well-formed one. */
export function validRunId(request: IncomingMessage): string | undefined {
  const value = headerOf(request, 'x-service-run-id');
  return value !== undefined && isRunId(value) ? value : undefined;
}

/** A header that was sent once and is not empty. */
export const headerOf = (request: IncomingMessage, name: string): string | undefined => {
  const value = request.headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
};
