/**
 * Sends one logical call: one request, and repeats of it where a repeat is safe. Decides what is repeated and how long
 * to wait; every repeat carries the same idempotency key, and a signal ends requests and waits alike.
 * @module
 */
import { BursarError, ConnectionError, RefusedError, type RefusedErrorClass, TimeoutError } from './errors.ts';

export type CallOptions = {
  /** Ends the call, also while it waits for a repeat. The signal's own reason is thrown. */
  readonly signal?: AbortSignal | undefined;
  /** How long one request may take, its answer included. */
  readonly timeoutMs?: number | undefined;
  /** How often a request is repeated at most; 0 for never. */
  readonly maxRetries?: number | undefined;
  /** How long the call waits between its requests at most, in sum. */
  readonly maxRetryWaitMs?: number | undefined;
  /** Instead of the automatic key: the same purchase, declared again by another process, has the same key. */
  readonly idempotencyKey?: string | undefined;
  /** Further headers, for example `X-Service-Run-Id`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
};

export type Outgoing = {
  readonly operation: string;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Set where the service answers a repeat with the first answer. */
  readonly idempotencyKey?: string | undefined;
  /** Reads an answer that is 2xx, within the request's time. */
  readonly read: (response: Response) => Promise<unknown>;
};

export type Sending = {
  readonly timeoutMs: number;
  readonly maxRetries: number;
  readonly maxRetryWaitMs: number;
  readonly fetch: typeof globalThis.fetch;
  readonly errorClasses: Readonly<Record<string, RefusedErrorClass>>;
};

export async function send(outgoing: Outgoing, options: CallOptions, defaults: Sending): Promise<unknown> {
  const limits = {
    timeoutMs: options.timeoutMs ?? defaults.timeoutMs,
    maxRetries: options.maxRetries ?? defaults.maxRetries,
    maxRetryWaitMs: options.maxRetryWaitMs ?? defaults.maxRetryWaitMs,
  };
  let waitedMs = 0;
  for (let attempts = 1; ; attempts++) {
    options.signal?.throwIfAborted();
    try {
      return await once(outgoing, { ...limits, attempts, signal: options.signal }, defaults);
    } catch (error) {
      if (attempts > limits.maxRetries || !mayRepeat(error, outgoing)) throw error;
      const waitMs = (error instanceof RefusedError ? error.retryAfterMs : undefined) ?? backoffMs(attempts);
      if (waitedMs + waitMs > limits.maxRetryWaitMs) throw error;
      waitedMs += waitMs;
      await sleep(waitMs, options.signal);
    }
  }
}

type Once = { readonly timeoutMs: number; readonly attempts: number; readonly signal: AbortSignal | undefined };

async function once(outgoing: Outgoing, { timeoutMs, attempts, signal }: Once, sending: Sending): Promise<unknown> {
  const { operation, method, url, headers, body, idempotencyKey, read } = outgoing;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), timeoutMs);
  try {
    const response = await sending.fetch(url, {
      method,
      headers: { ...headers },
      ...(body === undefined ? {} : { body }),
      redirect: 'error', // The service does not redirect; a credential goes nowhere else.
      signal: signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]),
    });
    return response.ok
      ? await read(response)
      : await refuse(response, { operation, attempts, idempotencyKey }, sending);
  } catch (error) {
    if (error instanceof BursarError) throw error;
    signal?.throwIfAborted();
    const about = { attempts, idempotencyKey, cause: error };
    if (late.signal.aborted) throw new TimeoutError(`${operation}: no answer within ${timeoutMs} ms`, about);
    throw new ConnectionError(`${operation}: no answer, or no whole one, from ${new URL(url).origin}`, about);
  } finally {
    clearTimeout(timer); // A stream that was begun may take longer.
  }
}

async function refuse(
  response: Response,
  about: { operation: string; attempts: number; idempotencyKey: string | undefined },
  { errorClasses }: Sending,
): Promise<never> {
  const { status, headers } = response;
  const code = headers.get('X-Service-Error-Code') ?? undefined;
  const text = await response.text();
  const body = parsed(text);
  const sentence = (body as { error?: unknown } | null)?.error;
  const message = typeof sentence === 'string' ? sentence : `answered ${status}: ${text.slice(0, 200)}`;
  const known = code !== undefined && Object.hasOwn(errorClasses, code) ? errorClasses[code] : undefined;
  const ErrorClass = known ?? RefusedError;
  throw new ErrorClass({ ...about, status, code, message, body, headers });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text; // Not of the service: a proxy's page, for one.
  }
}

/**
 * A 429 did nothing. After a 503, and without an answer, the request may have taken effect: a POST is repeated only under
 * a key. What is deleted or changed is not repeated without an answer, because the repeat could meet its own effect as a
 * 404. A 409 with `Retry-After` says that the first request under this key still runs.
 */
function mayRepeat(error: unknown, { method, idempotencyKey }: Outgoing): boolean {
  const isSame = ['GET', 'PUT'].includes(method) || idempotencyKey !== undefined;
  if (!(error instanceof RefusedError)) return error instanceof BursarError && isSame;
  if (error.status === 429) return true;
  if (error.status === 409) return error.code === 'idempotency_conflict' && error.retryAfterMs !== undefined;
  if (error.status === 503) return isSame || method !== 'POST';
  return isSame && [502, 504].includes(error.status);
}

/** Where the service names no time: 0.25 s, doubled, at most 8 s, and up to half of it less, so that callers spread. */
const backoffMs = (attempts: number): number => Math.min(8_000, 250 * 2 ** (attempts - 1)) * (1 - Math.random() / 2);

export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, ms);
    if (signal?.aborted === true) end();
    else signal?.addEventListener('abort', end, { once: true });
  });
}
