/**
 * Reads a request body within its limit and parses JSON. A body over the limit is read to its end (up to 16 MiB), so
 * that the caller gets the 413 instead of a broken connection; one that says it is larger gets it at once. Strings that cannot be stored are refused here;
 * contracts check everything else.
 * @module
 */
import type { IncomingMessage } from 'node:http';
import { DomainError, unavailable } from '../kernel/errors.ts';
import { isWellFormed } from '../kernel/text.ts';

export const defaultBodyLimitBytes = 1024 * 1024;
const readOffBytes = 16 * 1024 * 1024;

export const nothing = new Uint8Array();

/** `advice`: for who sends more than the limit. */
export type BodyLimit = { readonly limitBytes: number; readonly advice?: string };

export async function readBody(request: IncomingMessage, limit: BodyLimit): Promise<Uint8Array> {
  if (hasNone(request)) return nothing;
  refuseEncoded(request);
  const declared = declaredBytesOf(request);
  if (Number.isFinite(declared) && declared > Math.max(limit.limitBytes, readOffBytes)) throw tooLarge(limit);
  return received(request, limit);
}

/** Infinite where the request does not say how long its body is. */
export function declaredBytesOf({ headers }: IncomingMessage): number {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : Number.POSITIVE_INFINITY;
}

const tooLarge = ({ limitBytes, advice = 'send at most that many' }: BodyLimit): DomainError =>
  new DomainError('too_large', `the body is over ${limitBytes} bytes; ${advice}`);

/** By events: an iterator over so few chunks costs more than reading them. */
function received(request: IncomingMessage, limit: BodyLimit): Promise<Uint8Array> {
  const { limitBytes } = limit;
  return new Promise((done, failed) => {
    const gone = (): void => failed(request.errored ?? unavailable('the caller is gone'));
    if (request.destroyed) return gone();
    const chunks: Buffer[] = [];
    let size = 0;
    const refuse = (): void => failed(tooLarge(limit));
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limitBytes) chunks.push(chunk);
      if (size <= readOffBytes) return;
      refuse();
      request.destroy();
    });
    request.on('end', () => (size > limitBytes ? refuse() : done(Buffer.concat(chunks))));
    request.on('error', failed);
    request.on('close', () => {
      if (!request.readableEnded) gone();
    });
  });
}

/** Bodies are small, so nothing is inflated: a compressed one would be measured only after it had grown. */
function refuseEncoded({ headers }: IncomingMessage): void {
  const encoding = headers['content-encoding'] ?? '';
  if (encoding === '' || encoding.toLowerCase() === 'identity') return;
  throw new DomainError('unsupported_encoding', 'send the body without Content-Encoding: nothing is decompressed here');
}

/** HTTP says so by naming neither a length nor an encoding. */
const hasNone = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0';

/** Undefined for an empty body, whatever its content type says. */
export function parseJson(raw: Uint8Array, contentType: string | undefined): unknown {
  if (raw.length === 0) return undefined;
  if (contentType !== undefined && !/^application\/([\w.+-]+\+)?json\b/i.test(contentType)) {
    throw new DomainError('invalid_request', `the body must be application/json, not ${contentType.slice(0, 80)}`);
  }
  const text = utf8Of(raw);
  const value = jsonOf(text);
  // Decoding UTF-8 yields no surrogate alone, and JSON no bare NUL, so only an escape can have made one.
  if (/\\u(?:d[89a-f]|0000)/i.test(text) && !isStorable(value)) {
    throw new DomainError('invalid_request', 'body: holds a string or name that is not Unicode text, or has a NUL');
  }
  return value;
}

/** The caller's text stays out of the error, because causes are logged. */
const invalidJson = (): DomainError => new DomainError('invalid_request', 'the body is not valid JSON in UTF-8');

/** Making one costs more than decoding a small body. */
const utf8 = new TextDecoder('utf-8', { fatal: true });

function utf8Of(raw: Uint8Array): string {
  try {
    return utf8.decode(raw);
  } catch {
    throw invalidJson();
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalidJson();
  }
}

/** Every string and every name in it, however deep, is one that can be stored. */
function isStorable(value: unknown): boolean {
  const left = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (typeof next === 'string' && !isWellFormed(next)) return false;
    if (typeof next !== 'object' || next === null) continue;
    for (const [name, inner] of Object.entries(next)) {
      if (!isWellFormed(name)) return false;
      left.push(inner);
    }
  }
  return true;
}
