/**
 * Ends a request: with its answer, with a stored answer of an earlier request, or with `{error}`. Decides nothing.
 * @module
 */
import type { Response } from 'express';
import { limitedWarn } from '../platform/limited-log.ts';
import type { Logger } from '../platform/log.ts';
import { problemOf, problemType, refusalOf } from './errors.ts';
import { pageFor } from './pages.ts';
import { Streamed, sendStreamed } from './streamed.ts';

export type Answer = {
  readonly status: number;
  readonly body: unknown;
  /** The answer of an earlier request with the same key. */
  readonly isReplayed?: boolean;
};

export function answer(response: Response, { status, body }: Answer): undefined | Promise<void> {
  response.status(status);
  if (body instanceof Streamed) return sendStreamed(response, body);
  const page = pageFor(response);
  if (status === 204) response.end();
  else if (page === undefined) sendJson(response, body);
  else response.type('html').send(page.show(body).text);
  return undefined;
}

/** As `response.json` sends it, without the questions that it asks about each answer. */
function sendJson(response: Response, body: unknown): void {
  const text = body === undefined ? '' : JSON.stringify(body);
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(text));
  response.end(text);
}

/** `body` is the text as it was answered first. */
export function replay(response: Response, { status, body }: { status: number; body: string }): void {
  response.status(status).set('Idempotent-Replayed', 'true');
  if (status === 204) response.end();
  else response.type('application/json').send(body);
}

const warnOf503 = limitedWarn();

/** Ends a request with `{error}`, or with problem details; shared with the edge's own refusals. */
export function refuse(response: Response, error: unknown, log: Logger, { asProblem = false } = {}): void {
  const refusal = refusalOf(error);
  const requestId = response.get('X-Request-Id');
  if (refusal.bug !== undefined) log.error({ err: refusal.bug, requestId }, 'bug');
  else if (refusal.status === 503) warnOf503(log, { err: error, requestId }, 'answered 503');
  if (response.headersSent) {
    response.destroy();
    return;
  }
  if (refusal.retryAfterSeconds !== undefined) response.set('Retry-After', String(refusal.retryAfterSeconds));
  if (refusal.headers !== undefined) response.set(refusal.headers);
  if (refusal.status === 415) response.set('Accept-Encoding', 'identity');
  response.status(refusal.status).set('X-Service-Error-Code', refusal.label);
  const page = pageFor(response);
  if (asProblem) response.type(problemType).send(JSON.stringify(problemOf(refusal)));
  else if (page === undefined) response.json({ error: refusal.message });
  else response.type('html').send(page.refuse(refusal).text);
}
