/** A real webhook receiver on loopback with one box per path, each with a configured answer. @module */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Received = {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly at: number;
  /** Requests of the box that were open when it arrived, itself included. */
  readonly openAtOnce: number;
};
/** What a box does with its n-th delivery (from 1). */
export type Answer = (response: ServerResponse, n: number) => void;

export type Receiver = {
  readonly origin: string;
  urlOf(box: string): string;
  answers(box: string, answer: Answer): void;
  received(box: string): readonly Received[];
  /** The most requests that were open at once. */
  mostAtOnce(box: string): number;
  close(): Promise<void>;
};

export const status =
  (
    code: number,
    { headers = {}, body = '' }: { headers?: Record<string, string>; body?: string | Buffer } = {},
  ): Answer =>
  (response) =>
    void response.writeHead(code, headers).end(body);

export const hanging: Answer = () => undefined;

export const after =
  (ms: number, answer: Answer = status(200)): Answer =>
  (response, n) =>
    void setTimeout(() => answer(response, n), ms);

/** Answers of a box that come when the test says so. */
export function heldBack(answer: Answer = status(200)): { readonly answer: Answer; release(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { answer: (response, n) => void promise.then(() => answer(response, n)), release: resolve };
}

/** The first answers in their order, then the last one for ever. */
export const inTurn =
  (...answers: Answer[]): Answer =>
  (response, n) =>
    answers[Math.min(n, answers.length) - 1]?.(response, n);

export async function startReceiver(): Promise<Receiver> {
  const boxes = new Map<string, { received: Received[]; answer: Answer; open: number; most: number }>();
  const boxOf = (name: string) => {
    const box = boxes.get(name) ?? { received: [], answer: status(200), open: 0, most: 0 };
    boxes.set(name, box);
    return box;
  };
  const server = createServer((request, response) => {
    const box = boxOf((request.url ?? '/').slice(1));
    box.open++;
    box.most = Math.max(box.most, box.open);
    response.once('close', () => box.open--);
    const openAtOnce = box.open;
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      box.received.push({
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
        at: performance.now(),
        openAtOnce,
      });
      box.answer(response, box.received.length);
    });
  });
  await new Promise<void>((done) => {
    server.listen(0, '127.0.0.1', done);
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    urlOf: (box) => `${origin}/${box}`,
    answers: (box, answer) => {
      boxOf(box).answer = answer;
    },
    received: (box) => boxOf(box).received,
    mostAtOnce: (box) => boxOf(box).most,
    close: () =>
      new Promise((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  };
}
