/**
 * A typed client made from contracts: the same declaration that validates on the server names the calls here. Used
 * by tests and the demo; throws `Refused` for every answer that is not 2xx.
 * @module
 */
import type * as z from 'zod';
import type { Area, Operation } from '../http/route.ts';

type In<S, Otherwise> = S extends z.ZodType ? z.input<S> : Otherwise;
type Out<O extends Operation> = O['success'] extends { body: infer B extends z.ZodType } ? z.output<B> : undefined;

export type Arguments<O extends Operation> = {
  params?: In<O['params'], never>;
  query?: In<O['query'], never>;
  body?: In<O['body'], never>;
  headers?: Record<string, string>;
};

export type Answered<O extends Operation> = { status: number; headers: Headers; body: Out<O> };

export type Client<A extends Area> = {
  readonly [K in keyof A['operations']]: (
    arguments_?: Arguments<A['operations'][K]>,
  ) => Promise<Out<A['operations'][K]>>;
};

export type Send = (request: {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
}) => Promise<Response>;

/** An answer that is not 2xx; `message` is the service's own sentence. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly status: number;
  readonly headers: Headers;
  constructor(status: number, message: string, headers: Headers) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

export function createClient<A extends Area>(area: A, send: Send): Client<A> {
  const calls = Object.entries(area.operations).map(
    ([name, operation]) => [name, callOf(area, operation, send)] as const,
  );
  return Object.fromEntries(calls) as Client<A>;
}

function callOf(area: Area, operation: Operation, send: Send) {
  return async ({ params = {}, query = {}, body, headers = {} }: Loose = {}): Promise<unknown> => {
    const path = `${area.base}${operation.path}`.replace(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(String(params[name])),
    );
    const search = new URLSearchParams(
      Object.entries(query)
        .filter(([, value]) => value !== undefined)
        .map(([name, value]): [string, string] => [name, String(value)]),
    ).toString();
    const answer = await send({
      method: operation.method.toUpperCase(),
      path: search === '' ? path : `${path}?${search}`,
      headers: body === undefined ? headers : { 'Content-Type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return read(answer);
  };
}

type Loose = {
  params?: Record<string, unknown>;
  query?: Record<string, unknown>;
  body?: unknown;
  headers?: Record<string, string>;
};

async function read(answer: Response): Promise<unknown> {
  const text = await answer.text();
  const body: unknown = text === '' ? undefined : JSON.parse(text);
  if (answer.ok) return body;
  const error = (body as { error?: unknown } | undefined)?.error;
  throw new Refused(answer.status, typeof error === 'string' ? error : text.slice(0, 200), answer.headers);
}

/** Sends to a running service with a bearer token. */
export const sendTo =
  (baseUrl: string, bearer?: string): Send =>
  ({ method, path, headers, body }) =>
    fetch(`${baseUrl}${path}`, {
      method,
      headers: { ...(bearer === undefined ? {} : { Authorization: `Bearer ${bearer}` }), ...headers },
      ...(body === undefined ? {} : { body }),
    });
