/** What a request is called: its own id, and the run it says it belongs to. @module */
import type { IncomingMessage } from 'node:http';
import { DomainError } from '../kernel/errors.ts';
import { uuidv7 } from '../kernel/ids.ts';

const requestIds = new WeakMap<IncomingMessage, string>();

/** One id per request, a UUIDv7 of ours: a caller's own value is not trusted to be unique. */
export function requestIdOf(request: IncomingMessage): string {
  const known = requestIds.get(request);
  if (known !== undefined) return known;
  const id = uuidv7();
  requestIds.set(request, id);
  return id;
}

const runIdForm = /^[\w-]{1,64}$/;

/** `X-Service-Run-Id`, stored on what the request makes; anything but a short name is refused. */
export function runIdOf(request: IncomingMessage): string | undefined {
  const value = headerOf(request, 'x-service-run-id');
  if (value === undefined || runIdForm.test(value)) return value;
  throw new DomainError('invalid_request', 'X-Service-Run-Id must be 1 to 64 letters, digits, _ or -');
}

/** The run to echo: only a well-formed one. */
export function echoedRunId(request: IncomingMessage): string | undefined {
  const value = headerOf(request, 'x-service-run-id');
  return value !== undefined && runIdForm.test(value) ? value : undefined;
}

/** A header that was sent once and is not empty. */
export const headerOf = (request: IncomingMessage, name: string): string | undefined => {
  const value = request.headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
};
