/** A server that gives every request the same answer, however wrong, and keeps what it was asked. @module */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export type FixedAnswer = { status: number; headers?: Record<string, string>; body?: string; hangUp?: boolean };
export type Asked = { method: string; url: string; headers: IncomingHttpHeaders; body: string };

export async function startAnswering() {
  const asked: Asked[] = [];
  const settings: { answer: FixedAnswer } = { answer: { status: 200 } };
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      asked.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body });
      const { status, headers, body: said = '', hangUp } = settings.answer;
      if (hangUp) response.destroy();
      else response.writeHead(status, headers).end(said);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    answerWith(answer: FixedAnswer): void {
      settings.answer = answer;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
export type AnsweringServer = Awaited<ReturnType<typeof startAnswering>>;
