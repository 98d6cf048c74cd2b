/**
 * Reads a request body within its limit and parses JSON. What is over the limit is read off (up to 16 MiB), so that
 * the caller gets the 413 instead of a broken connection. Judges no content.
 * @module
 */
import type { IncomingMessage } from 'node:http';
import { DomainError } from '../kernel/errors.ts';

export const defaultBodyLimitBytes = 1024 * 1024;
const readOffBytes = 16 * 1024 * 1024;

const nothing = new Uint8Array();

export async function readBody(request: IncomingMessage, limitBytes: number): Promise<Uint8Array> {
  if (hasNone(request)) return nothing;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= limitBytes) chunks.push(chunk);
    if (size > readOffBytes) break;
  }
  if (size > limitBytes) {
    throw new DomainError('too_large', `the body is over ${limitBytes} bytes; send at most that many`);
  }
  return Buffer.concat(chunks);
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
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(raw));
  } catch (cause) {
    throw new DomainError('invalid_request', 'the body is not valid JSON in UTF-8', { cause });
  }
}
