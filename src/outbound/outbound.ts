/**
 * The only way to make outbound HTTP requests: with a total deadline and a body limit. Every address of a name is
 * evaluated, and only an evaluated address is connected to; redirects are answers and never followed.
 * @module
 */
import { lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { Agent, type Dispatcher } from 'undici';
import { allowedOriginsHint, checkAddress, checkUrl, readAllowedOrigin } from './address-rules.ts';
import type { RequestPurpose } from './message-signature.rules.ts';
import { OutboundError, outboundErrorFrom, refusedAddress } from './outbound-error.ts';
import type { RequestSigner } from './request-signer.ts';

export type OutboundRequest = {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** From the call to the last byte of the answer, name resolution included. */
  readonly timeoutMs: number;
  /** Further bytes of the answer are not read. */
  readonly maxBytes: number;
  readonly requireHttps?: boolean | 'always';
  /** The receiver may see it twice: where the connection ends before an answer begins, it is sent once more. */
  readonly isRepeatable?: boolean;
  /** A body that breaks off or takes too long is answered as far as it came, as a truncated one. */
  readonly acceptsPartialBody?: boolean;
  /** Signs each sending on its own, also the one that replaces a dead connection. */
  readonly signature?: OutboundSignature | undefined;
};
export type OutboundSignature = { readonly signer: RequestSigner; readonly purpose: RequestPurpose };
export type OutboundAnswer = {
  readonly status: number;
  /** Lower-case names; repeated headers joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  /** The lines of one header as received; the name in lower case. */
  linesOf(name: string): readonly string[];
  readonly text: string;
  readonly bytes: Uint8Array;
  readonly truncated: boolean;
};
export type Outbound = {
  request(url: string, options: OutboundRequest): Promise<OutboundAnswer>;
  close(): Promise<void>;
};
export type ResolvedAddress = { readonly address: string; readonly family: number };
export type Resolve = (host: string) => Promise<readonly ResolvedAddress[]>;
export type OutboundOptions = {
  readonly allowedOrigins: readonly string[];
  /** True in a sandbox: see `UrlRules`. */
  readonly namesAllowedOrigins?: boolean;
  /** Replaced in tests, to move a name between two questions. */
  readonly resolve?: Resolve;
  readonly connectionsPerOrigin?: number;
};

export function createOutbound({
  allowedOrigins: entries,
  namesAllowedOrigins = false,
  resolve = resolveBySystem,
  connectionsPerOrigin = 1_000,
}: OutboundOptions): Outbound {
  const allowedOrigins = entries.map(readAllowedOrigin);
  const pools = { connections: connectionsPerOrigin, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 };
  const guarded = new Agent({ ...pools, connect: { timeout: connectTimeoutMs, lookup: guardedLookup(resolve) } });
  const allowed = new Agent({ ...pools, connect: { timeout: connectTimeoutMs } });

  return {
    async request(raw, options) {
      const rules = { allowedOrigins, namesAllowedOrigins, requireHttps: options.requireHttps ?? false };
      const evaluated = checkUrl(raw, rules);
      if ('refused' in evaluated) throw refusedAddress(evaluated.refused);
      const { url, isAllowedOrigin } = evaluated;
      const dispatcher = isAllowedOrigin ? allowed : guarded;
      try {
        return await withinDeadline(options.timeoutMs, (deadline) => exchange({ url, dispatcher, deadline }, options));
      } catch (cause) {
        const error = outboundErrorFrom(cause, { host: url.host, timeoutMs: options.timeoutMs });
        if (error.kind !== 'refused_address') throw error;
        const hint = allowedOriginsHint(url, error.address ?? url.hostname, rules);
        throw refusedAddress(`${error.message}${hint}`, error.address);
      }
    },
    async close() {
      await Promise.all([guarded.destroy(), allowed.destroy()]);
    },
  };
}

const connectTimeoutMs = 10_000;

/** The total time of a request. An exchange that is under way says in `atEnd` how it is broken off. */
type Deadline = { passed?: Error; atEnd?: (reason: Error) => void };

function withinDeadline<T>(timeoutMs: number, work: (deadline: Deadline) => Promise<T>): Promise<T> {
  const deadline: Deadline = {};
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const timer = setTimeout(() => {
    const reason = new DOMException('deadline passed', 'TimeoutError');
    deadline.passed = reason;
    deadline.atEnd?.(reason);
    // One turn later, so that an answer in progress fails first, with its status. Also ends what was not sent yet.
    setImmediate(() => reject(reason));
  }, timeoutMs);
  work(deadline).then(
    (value) => {
      clearTimeout(timer);
      resolve(value);
    },
    (error: unknown) => {
      clearTimeout(timer);
      reject(error);
    },
  );
  return promise;
}

type Way = { readonly url: URL; readonly dispatcher: Dispatcher; readonly deadline: Deadline };

async function exchange(way: Way, options: OutboundRequest): Promise<OutboundAnswer> {
  const { url } = way;
  const signature = options.signature === undefined ? undefined : await signatureOf(url, options);
  const received = await send(way, options, { 'user-agent': ours, ...options.headers, ...signature });
  if (!('broken' in received)) return new Answer(received);
  const { broken, status } = received;
  const error = outboundErrorFrom(broken, { host: url.host, timeoutMs: options.timeoutMs, status });
  if (!options.isRepeatable || !error.isStaleConnection) throw error;
  return exchange(way, { ...options, isRepeatable: false });
}

type Headers = Record<string, string | string[] | undefined>;
type Head = { readonly status: number; readonly headers: Headers };
type Received = Head & { readonly bytes: Uint8Array; readonly truncated: boolean };
type Broken = { readonly broken: unknown; readonly status: number | undefined };

/** Sends once, and ends when the answer is complete, broken off or late, or holds all that is to be read of it. */
function send(
  { url, dispatcher, deadline }: Way,
  options: OutboundRequest,
  headers: Record<string, string>,
): Promise<Received | Broken> {
  const { method, body = null, maxBytes, acceptsPartialBody } = options;
  const { promise, resolve } = Promise.withResolvers<Received | Broken>();
  const chunks: Uint8Array[] = [];
  let length = 0;
  let head: Head | undefined;
  let connection: Dispatcher.DispatchController | undefined;

  const end = (isBroken: boolean): void => {
    if (head === undefined) return;
    const bytes = length === 0 ? empty : Buffer.concat(chunks).subarray(0, maxBytes);
    resolve({ ...head, bytes, truncated: isBroken || length > maxBytes });
  };
  const fail = (broken: unknown): void =>
    head !== undefined && acceptsPartialBody === true ? end(true) : resolve({ broken, status: head?.status });

  deadline.atEnd = (reason) => {
    fail(reason);
    connection?.abort(reason);
  };
  dispatcher.dispatch(
    { origin: url.origin, path: `${url.pathname}${url.search}`, method, headers, body },
    {
      onRequestStart: (controller) => {
        connection = controller;
        if (deadline.passed !== undefined) controller.abort(deadline.passed);
      },
      onResponseStart: (_, status, received) => {
        if (status >= 200) head = { status, headers: received };
      },
      onResponseData: (controller, chunk) => {
        chunks.push(chunk);
        length += chunk.byteLength;
        if (length <= maxBytes) return;
        end(false);
        controller.abort(new Error('more than is read')); // Closes the connection.
      },
      onResponseEnd: () => end(false),
      onResponseError: (_, error) => fail(error),
    },
  );
  return promise;
}

const ours = 'Bursar/0.5';
const empty = new Uint8Array();
const utf8 = new TextDecoder();

/**
 * Most callers read only a part, and many answers come in a second. A class, because an object with getters of its own
 * has a shape of its own, which keeps it in memory until the old generation is collected.
 */
class Answer implements OutboundAnswer {
  readonly status: number;
  readonly bytes: Uint8Array;
  readonly truncated: boolean;
  /** A function of its own, because a caller may take it off the answer. */
  readonly linesOf = (name: string): string[] => [this.#headers[name] ?? []].flat();
  readonly #headers: Headers;

  constructor({ status, headers, bytes, truncated }: Received) {
    this.status = status;
    this.bytes = bytes;
    this.truncated = truncated;
    this.#headers = headers;
  }

  get headers(): Record<string, string> {
    return flat(this.#headers);
  }

  get text(): string {
    return utf8.decode(this.bytes);
  }
}

async function signatureOf(
  url: URL,
  { method, body, signature }: OutboundRequest,
): Promise<Readonly<Record<string, string>>> {
  if (signature === undefined) return {};
  try {
    return await signature.signer({ method, url, body, purpose: signature.purpose });
  } catch (cause) {
    throw new OutboundError('protocol', `the request to ${url.host} cannot be signed`, { isUnsent: true, cause });
  }
}

function flat(headers: Headers): Record<string, string> {
  const joined: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) joined[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return joined;
}

/**
 * What it hands to the socket is exactly what it evaluated; one refused address refuses the whole name. A literal address
 * never comes here: the URL rules have evaluated it.
 */
function guardedLookup(resolve: Resolve): LookupFunction {
  return (host, { all }, callback) => {
    resolve(host).then(
      (addresses) => {
        const [first] = addresses;
        const refusal = addresses.map(refusalOf(host)).find((error) => error !== undefined);
        if (refusal !== undefined) callback(refusal, '');
        else if (first === undefined) callback(new OutboundError('unreachable', `${host} has no address`), '');
        else if (all) callback(null, [...addresses]);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, ''),
    );
  };
}

const refusalOf =
  (host: string) =>
  ({ address }: ResolvedAddress): OutboundError | undefined => {
    const evaluation = checkAddress(address);
    return evaluation.ok
      ? undefined
      : refusedAddress(`${host} resolves to ${address}, which ${evaluation.why}`, address);
  };

const resolveBySystem: Resolve = (host) =>
  new Promise((done, fail) => {
    systemLookup(host, { all: true }, (error, addresses) => (error ? fail(error) : done(addresses)));
  });
