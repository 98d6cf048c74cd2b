/** Requests of operations, built from arguments, and their answers as tools read them. @module */
import { createHash } from 'node:crypto';
import type { InProcess, InProcessRequest } from '../http/in-process.ts';
import { canonicalPath } from '../http/openapi.ts';
import type { Json } from '../http/openapi-schemas.ts';
import type { BearerCaller } from '../http/protocol.ts';
import type { Area, Operation } from '../http/route.ts';
import type { Answer, Ask } from './tool.ts';

/** Which list of tools. */
export type Kind = BearerCaller['kind'];

/** What this deployment serves. */
export type Described = { readonly served: ReadonlyMap<string, Served>; readonly openapi: Json };

export type Served = { readonly name: string; readonly operation: Operation; readonly path: string };

export const servedOperations = (areas: readonly Area[]): ReadonlyMap<string, Served> =>
  new Map(
    areas.flatMap((area) =>
      Object.entries(area.operations).map(
        ([name, operation]) => [name, { name, operation, path: canonicalPath(area, operation) }] as const,
      ),
    ),
  );

/** `gone` ends what only reads: what changes something is carried out, because its repeat finds the outcome. */
export function asker(
  served: ReadonlyMap<string, Served>,
  call: InProcess,
  { cause, gone }: Pick<InProcessRequest, 'cause' | 'gone'>,
) {
  return async (name: string, { params = {}, query = {}, body, idempotencyKey }: Ask): Promise<Answer> => {
    const found = served.get(name);
    if (found === undefined) throw new Error(`there is no operation ${name}`);
    const { operation } = found;
    const path = found.path.replace(/\{(\w+)\}/g, (_, field: string) => encodeURIComponent(textOf(params[field])));
    const search = new URLSearchParams(
      Object.entries(query).flatMap(([field, value]) =>
        value === undefined ? [] : [[field, textOf(value)] as [string, string]],
      ),
    ).toString();
    const answer = await call({
      method: operation.method,
      url: search === '' ? path : `${path}?${search}`,
      headers: idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey },
      ...(operation.body === undefined ? {} : { body: JSON.stringify(body ?? {}) }),
      cause,
      gone: operation.method === 'get' ? gone : undefined,
    });
    return answerOf(answer);
  };
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);

/** A list without pages is an array; tools answer with objects. */
function answerOf({ status, body, header, refusedBy }: Awaited<ReturnType<InProcess>>): Answer {
  const whole = Array.isArray(body) ? { data: body } : ((body ?? {}) as Answer['body']);
  const retryAfter = Number(header('retry-after'));
  return {
    status,
    body: whole,
    code: header('x-service-error-code') ?? 'internal',
    message: 'error' in whole ? String(whole.error) : '',
    refusedBy,
    retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : undefined,
  };
}

export const isDone = ({ status }: Answer): boolean => status < 400;

/** Equal parts give an equal key, whatever the conversation or the process. */
export const keyOf = (...parts: readonly unknown[]): string =>
  `mcp:${createHash('sha256').update(JSON.stringify(parts)).digest('hex')}`;
