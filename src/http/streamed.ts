/**
 * An answer that is sent as it is read: in bounded memory, no faster than the caller takes it, and no longer than the
 * caller listens.
 * @module
 */
import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';

export type StreamedType = 'application/x-ndjson' | 'text/csv';

export class Streamed {
  readonly mediaType: StreamedType;
  readonly fileName: string;
  /** Its `finally` runs when the caller goes away. */
  readonly chunks: AsyncIterable<string>;
  constructor(mediaType: StreamedType, fileName: string, chunks: AsyncIterable<string>) {
    this.mediaType = mediaType;
    this.fileName = fileName;
    this.chunks = chunks;
  }
}

/** Calls `check` with each line of NDJSON before it is sent; a chunk is whole lines. CSV is left as it is. */
export function checkingLines(file: Streamed, check: (line: unknown) => void): Streamed {
  if (file.mediaType !== 'application/x-ndjson') return file;
  const checked = async function* (): AsyncGenerator<string> {
    for await (const chunk of file.chunks) {
      for (const line of chunk.split('\n').slice(0, -1)) check(JSON.parse(line));
      yield chunk;
    }
  };
  return new Streamed(file.mediaType, file.fileName, checked());
}

/** An error before the first chunk is still a refusal; a later one cuts the answer off, which the caller sees. */
export async function sendStreamed(response: Response, { mediaType, fileName, chunks }: Streamed): Promise<void> {
  const iterator = chunks[Symbol.asyncIterator]();
  const first = await iterator.next();
  response.setHeader('Content-Type', `${mediaType}; charset=utf-8`);
  response.setHeader('Content-Disposition', `attachment; filename="${fileName}"`);
  if (response.req.method === 'HEAD') {
    await iterator.return?.();
    response.end();
    return;
  }
  try {
    await pipeline(beginningWith(first, iterator), response);
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error; // Otherwise the caller left.
  }
}

async function* beginningWith(first: IteratorResult<string>, iterator: AsyncIterator<string>): AsyncGenerator<string> {
  try {
    for (let step = first; step.done !== true; step = await iterator.next()) yield step.value;
  } finally {
    await iterator.return?.();
  }
}
