/** Streamed answers over a real socket: no faster than the caller takes them, and no longer than it listens. @module */
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import type { Response } from 'express';
import { checkingLines, Streamed, sendStreamed } from '../../../src/http/streamed.ts';

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

type Source = { made: number; ended: Promise<void> };

/** Parts of 64 KiB without an end, or as many as are wanted. */
function parts(most = Number.POSITIVE_INFINITY, failsAt?: number): Source & { chunks: AsyncIterable<string> } {
  const ended = Promise.withResolvers<void>();
  const source = { made: 0, ended: ended.promise, chunks: made() };
  async function* made(): AsyncGenerator<string> {
    try {
      for (; source.made < most; source.made += 1) {
        if (source.made === failsAt) throw new Error('the database is gone');
        yield 'x'.repeat(65_536);
      }
    } finally {
      ended.resolve();
    }
  }
  return source;
}

async function open(chunks: AsyncIterable<string>, method = 'GET') {
  const failed = Promise.withResolvers<unknown>();
  server = createServer((_request, response) => {
    sendStreamed(response as Response, new Streamed('text/csv', 'book.csv', chunks)).then(
      () => failed.resolve(undefined),
      (error: unknown) => {
        failed.resolve(error);
        response.destroy();
      },
    );
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    get({ port, host: '127.0.0.1', method, agent: false }, resolve).on('error', reject);
  });
  return { answered, failed: failed.promise };
}

test('a caller that reads gets all of it', async () => {
  const source = parts(40);
  const answer = await (await open(source.chunks)).answered;
  expect(answer.headers).toMatchObject({
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': 'attachment; filename="book.csv"',
  });
  let length = 0;
  for await (const chunk of answer) length += (chunk as Buffer).length;
  expect(length).toBe(40 * 65_536);
});

test('a caller that does not read stops the reading; one that leaves ends it', async () => {
  const source = parts();
  const { answered, failed } = await open(source.chunks);
  const answer = await answered;
  answer.pause();
  let before = -1;
  while (before !== source.made) {
    before = source.made;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  expect(source.made).toBeLessThan(1_000); // What the buffers of both sockets hold, and no more.
  answer.destroy();
  await source.ended;
  expect(await failed).toBeUndefined();
});

test('an error before the first part is answered as a refusal; a later one cuts the answer off', async () => {
  const early = await open(parts(5, 0).chunks);
  expect(await early.failed).toEqual(new Error('the database is gone'));
  await expect(early.answered).rejects.toThrow();
  server?.close();
  const late = await open(parts(500, 100).chunks);
  const answer = await late.answered;
  await expect(
    (async () => {
      for await (const _chunk of answer);
    })(),
  ).rejects.toThrow(/aborted/);
  expect(await late.failed).toEqual(new Error('the database is gone'));
});

test('HEAD reads no more than the first part', async () => {
  const source = parts();
  const answer = await (await open(source.chunks, 'HEAD')).answered;
  expect(answer.headers['content-type']).toBe('text/csv; charset=utf-8');
  await source.ended;
  expect(source.made).toBeLessThanOrEqual(1);
});

test('lines of NDJSON are checked before they are sent; other files are left as they are', async () => {
  const file = (mediaType: 'application/x-ndjson' | 'text/csv') =>
    new Streamed(
      mediaType,
      'file',
      (async function* () {
        yield '{"n":1}\n{"n":2}\n';
        yield '{"n":3}\n';
      })(),
    );
  const refuseThree = (line: unknown) => {
    if ((line as { n: number }).n === 3) throw new Error('the answer breaks its contract');
  };
  const sent: string[] = [];
  const send = async (chunks: AsyncIterable<string>) => {
    for await (const chunk of chunks) sent.push(chunk);
  };
  await expect(send(checkingLines(file('application/x-ndjson'), refuseThree).chunks)).rejects.toThrow(/breaks its/);
  expect(sent).toEqual(['{"n":1}\n{"n":2}\n']);
  const csv = file('text/csv');
  expect(checkingLines(csv, refuseThree)).toBe(csv);
});
