/**
 * The client: areas with their operations, from the generated table. Builds each request (path, query, body, key) and
 * says how its answer is read.
 * @module
 */
import { eventsAfter, type FeedPage } from './feed.ts';
import { type Areas, errorClasses, type Operation, operations } from './generated/operations.ts';
import type { components } from './generated/schema.ts';
import { type Page, Pages } from './pages.ts';
import { type CallOptions, type Outgoing, type Sending, send } from './send.ts';

export type BursarOptions = {
  /** Where the service answers, for example `https://bursar.example.com`. */
  readonly baseUrl: string | undefined;
  /** An API key (`sk_…`) or an agent token (`at_…`). Absent: only operations that need neither. */
  readonly token?: string | undefined;
  /** Sent with each request, for example `X-Merchant-Key`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** How long one request may take; 60,000. */
  readonly timeoutMs?: number;
  /** How often a request is repeated at most; 3. */
  readonly maxRetries?: number;
  /** How long a call waits between its requests at most, in sum; 60,000. */
  readonly maxRetryWaitMs?: number;
  /** Instead of the platform's `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
};

type Params = Readonly<Record<string, unknown>>;

type Client = {
  readonly baseUrl: string;
  readonly token: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly sending: Sending;
};

class BursarClient {
  readonly #client: Client;

  constructor(options: BursarOptions) {
    const { token, timeoutMs = 60_000, maxRetries = 3, maxRetryWaitMs = 60_000 } = options;
    const baseUrl = URL.canParse(options.baseUrl ?? '') ? new URL(options.baseUrl ?? '') : undefined;
    if (baseUrl === undefined || !/^https?:$/.test(baseUrl.protocol)) {
      throw new TypeError('baseUrl must be the http(s) address of the service');
    }
    if (token === '') throw new TypeError('token is empty');
    this.#client = {
      baseUrl: baseUrl.href.replace(/\/+$/, ''),
      token,
      headers: options.headers ?? {},
      sending: {
        fetch: options.fetch ?? ((...request) => globalThis.fetch(...request)),
        errorClasses,
        timeoutMs,
        maxRetries,
        maxRetryWaitMs,
      },
    };
    const areas: Record<string, Record<string, unknown>> = {};
    for (const [name, operation] of Object.entries(operations)) {
      areas[operation.area] ??= {};
      Object.assign(areas[operation.area] ?? {}, { [name]: methodOf(this.#client, name, operation) });
    }
    areas.events = { ...areas.events, after: followingOf(this.#client) };
    Object.assign(this, areas);
  }

  /** An operation that is newer than this package: the parsed answer. A POST gets an automatic key as elsewhere. */
  request(method: string, path: string, body?: unknown, options: CallOptions = {}): Promise<unknown> {
    // Joined to the address of the service: anything else could name another host.
    if (!path.startsWith('/')) throw new TypeError('path must begin with /');
    const outgoing = outgoingOf(this.#client, {
      name: `${method} ${path}`,
      method,
      path,
      query: '',
      body,
      usesToken: true,
      isKeyed: method === 'POST',
      options,
    });
    return send({ ...outgoing, read: readJson }, options, this.#client.sending);
  }
}

export type FeedEvent = components['schemas']['FeedEvent'];

/** Beside the operations of the feed. */
export interface Feed {
  /**
   * Every event behind a position, as it happens: store `event.position` and go on from there. `now`: what happens from
   * now on. It never ends by itself; leave the loop, or give a signal.
   */
  after(position: number | 'now', options?: CallOptions): AsyncGenerator<FeedEvent, void, undefined>;
}

/** All areas of the service, each with its operations by their names. */
export type Bursar = BursarClient & Areas & { readonly events: Feed };
export const Bursar = BursarClient as new (options: BursarOptions) => Bursar;

function methodOf(client: Client, name: string, operation: Operation): unknown {
  const call = (params: Params, options: CallOptions): Promise<unknown> => {
    const { path, query, body } = placed(name, operation, params);
    const { method, usesToken, isKeyed } = operation;
    const outgoing = outgoingOf(client, { name, method, path, query, body, usesToken, isKeyed, options });
    return send({ ...outgoing, read: operation.isJson ? readJson : readNothing }, options, client.sending);
  };
  if (!operation.isPaged) return async (params: Params = {}, options: CallOptions = {}) => call(params, options);
  return (params: Params = {}, options: CallOptions = {}) =>
    new Pages((cursor) => call(cursor === undefined ? params : { ...params, cursor }, options) as Promise<Page<never>>);
}

function followingOf(client: Client): Feed['after'] {
  const operation = operations.listEvents;
  if (operation === undefined) throw new Error('the interface has no listEvents');
  const { path, method, usesToken, isKeyed } = operation;
  return (position, options = {}) => {
    // Less than a request may take.
    const timeoutMs = options.timeoutMs ?? client.sending.timeoutMs;
    const waitMs = Math.min(25_000, Math.max(0, Math.floor(timeoutMs - 5_000)));
    const read = (after: string): Promise<FeedPage<FeedEvent>> => {
      const query = `after=${after}&waitMs=${waitMs}`;
      const asked = { name: 'events.after', method, path, query, body: undefined, usesToken, isKeyed, options };
      const outgoing = outgoingOf(client, asked);
      return send({ ...outgoing, read: readJson }, options, client.sending) as Promise<FeedPage<FeedEvent>>;
    };
    return eventsAfter(position, { read, signal: options.signal });
  };
}

/** Each parameter at its place: what neither path nor query names belongs to the body. */
function placed(name: string, operation: Operation, params: Params): { path: string; query: string; body: unknown } {
  const rest = Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined));
  const take = (key: string): unknown => {
    const value = rest[key];
    delete rest[key];
    return value;
  };
  const path = operation.path.replace(/\{(\w+)\}/g, (_, key: string) => {
    const value = take(key);
    // An empty segment, or one of dots, would name another operation.
    if (typeof value !== 'string' || /^\.{0,2}$/.test(value)) throw new TypeError(`${name}: ${key} is missing`);
    return encodeURIComponent(value);
  });
  const query = new URLSearchParams();
  for (const key of operation.query) {
    const value = take(key);
    if (value !== undefined) query.append(key, String(value));
  }
  const [unknown] = Object.keys(rest);
  if (operation.body === 'none' && unknown !== undefined) throw new TypeError(`${name}: it takes no ${unknown}`);
  const hasBody = operation.body === 'required' || unknown !== undefined;
  return { path, query: query.toString(), body: hasBody ? rest : undefined };
}

type Asked = {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly body: unknown;
  readonly usesToken: boolean;
  readonly isKeyed: boolean;
  readonly options: CallOptions;
};

function outgoingOf(client: Client, asked: Asked): Omit<Outgoing, 'read'> {
  const { name, method, path, query, body, usesToken, isKeyed, options } = asked;
  if (!isKeyed && options.idempotencyKey !== undefined) throw new TypeError(`${name}: it takes no idempotencyKey`);
  const idempotencyKey = isKeyed ? (options.idempotencyKey ?? crypto.randomUUID()) : undefined;
  return {
    operation: name,
    method,
    url: `${client.baseUrl}${path}${query === '' ? '' : `?${query}`}`,
    idempotencyKey,
    headers: {
      Accept: 'application/json',
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...(usesToken && client.token !== undefined ? { Authorization: `Bearer ${client.token}` } : {}),
      ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
      ...client.headers,
      ...options.headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
}

async function readJson(response: Response): Promise<unknown> {
  const text = await response.text();
  return text === '' ? undefined : JSON.parse(text);
}

/** An export is read by its caller, as it arrives. */
const readNothing = async (response: Response): Promise<unknown> => response;
