/**
 * A client that costs little beside what it measures: requests are put into bytes before the measurement, and sent over
 * connections that stay open, one at a time on each. Understands answers with a Content-Length, as the API sends them.
 * @module
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Call } from './load.ts';

export type RawAnswer = { readonly status: number; readonly text: string };

export type RawConnection = {
  /** One request at a time. `wantsText`: the body of a success is read as well. */
  send(request: Buffer, wantsText?: boolean): Promise<RawAnswer>;
  close(): void;
};

/** The bytes of a POST. */
export function rawRequest(
  url: string,
  common: Readonly<Record<string, string>>,
  { path, headers, body }: Call,
): Buffer {
  const all = { host: new URL(url).host, ...common, ...headers, 'content-length': String(Buffer.byteLength(body)) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
}

export async function openRaw(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await once(socket, 'connect');
  return rawConnection(socket);
}

type Waiting = {
  readonly done: (answer: RawAnswer) => void;
  readonly failed: (error: Error) => void;
  readonly wantsText: boolean;
};

function rawConnection(socket: Socket): RawConnection {
  let waiting: Waiting | undefined;
  let received: Buffer | undefined;
  const fail = (error: Error): void => {
    waiting?.failed(error);
    waiting = undefined;
  };
  socket.on('error', fail);
  socket.on('close', () => fail(new Error('the server closed the connection')));
  socket.on('data', (chunk: Buffer) => {
    received = received === undefined ? chunk : Buffer.concat([received, chunk]);
    const answer = answerIn(received, waiting?.wantsText === true);
    if (answer === undefined) return;
    received = undefined;
    const asked = waiting;
    waiting = undefined;
    asked?.done(answer);
  });
  return {
    send: (request, wantsText = false) =>
      new Promise((done, failed) => {
        if (waiting !== undefined || socket.destroyed) return failed(new Error('this connection is busy or closed'));
        waiting = { done, failed, wantsText };
        socket.write(request);
      }),
    close: () => socket.destroy(),
  };
}

/** Undefined while a part is missing. */
function answerIn(received: Buffer, wantsText: boolean): RawAnswer | undefined {
  const end = received.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const head = received.toString('latin1', 0, end);
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]);
  if (Number.isNaN(length)) throw new Error(`an answer without a length: ${head}`);
  if (received.length < end + 4 + length) return undefined;
  const status = Number(head.slice(9, 12));
  const isRead = wantsText || status >= 300;
  return { status, text: isRead ? received.toString('utf8', end + 4, end + 4 + length) : '' };
}
