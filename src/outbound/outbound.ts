/**
 * The only way to make outbound HTTP requests: with a total deadline and a body limit. Every address of a name is
 * evaluated, and only an evaluated address is connected to; redirects are answers and never followed.
 * @module
 */
import { lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { Agent, type Dispatcher, request as send } from 'undici';
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
  /** The receiver may see it twice: a pooled connection that had died is replaced once instead of failing. */
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
      const dispatcher = evaluated.isAllowedOrigin ? allowed : guarded;
      return withinDeadline(options.timeoutMs, (signal) => exchange(evaluated.url, dispatcher, options, signal)).catch(
        (cause: unknown) => {
          const error = outboundErrorFrom(cause, { host: evaluated.url.host, timeoutMs: options.timeoutMs });
          if (error.kind !== 'refused_address') throw error;
          const hint = allowedOriginsHint(evaluated.url, error.address ?? evaluated.url.hostname, rules);
          throw refusedAddress(`${error.message}${hint}`, error.address);
        },
      );
    },
    async close() {
      await Promise.all([guarded.destroy(), allowed.destroy()]);
    },
  };
}

const connectTimeoutMs = 10_000;

/** The client itself heeds a signal only once it is connected; a name that never resolves must end in time as well. */
async function withinDeadline<T>(timeoutMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const reason = new DOMException('deadline passed', 'TimeoutError');
    controller.abort(reason);
    setImmediate(() => late.reject(reason)); // One turn later, so that an answer in progress fails first, with its status.
  }, timeoutMs);
  try {
    return await Promise.race([work(controller.signal), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

async function exchange(
  url: URL,
  dispatcher: Dispatcher,
  options: OutboundRequest,
  signal: AbortSignal,
): Promise<OutboundAnswer> {
  const { method, headers, body, maxBytes } = options;
  const signature = await signatureOf(url, options);
  let status: number | undefined;
  try {
    const answer = await send(url, {
      method,
      dispatcher,
      signal,
      headers: { 'user-agent': 'Bursar/0.5', ...headers, ...signature },
      body: body ?? null,
    });
    status = answer.statusCode;
    const { bytes, truncated } = await readUpTo(answer.body, maxBytes, options.acceptsPartialBody === true);
    const text = new TextDecoder().decode(bytes);
    return { status, headers: flat(answer.headers), linesOf: linesIn(answer.headers), text, bytes, truncated };
  } catch (cause) {
    const error = outboundErrorFrom(cause, { host: url.host, timeoutMs: options.timeoutMs, status });
    if (options.isRepeatable && error.isStaleConnection) {
      return exchange(url, dispatcher, { ...options, isRepeatable: false }, signal);
    }
    throw error;
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

async function readUpTo(
  body: Dispatcher.ResponseData['body'],
  maxBytes: number,
  acceptsPart: boolean,
): Promise<{ bytes: Uint8Array; truncated: boolean }> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  let isBroken = false;
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      chunks.push(chunk);
      length += chunk.byteLength;
      if (length > maxBytes) break; // Leaving the loop destroys the stream, and with it the connection.
    }
  } catch (error) {
    if (!acceptsPart) throw error;
    isBroken = true;
  }
  return { bytes: Buffer.concat(chunks).subarray(0, maxBytes), truncated: isBroken || length > maxBytes };
}

type Headers = Record<string, string | string[] | undefined>;

const linesIn =
  (headers: Headers) =>
  (name: string): readonly string[] =>
    [headers[name] ?? []].flat();

const flat = (headers: Headers): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  );

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
