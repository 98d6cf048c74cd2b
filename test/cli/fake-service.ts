/** A service that answers as a test says, for bad days of the command. @module */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Asked = { readonly method: string; readonly path: string; readonly body: Record<string, unknown> };
/** Undefined: the connection ends without an answer. */
export type Answered =
  | { readonly status?: number; readonly body: unknown; readonly headers?: Record<string, string> }
  | undefined;
export type Service = { readonly url: string; readonly asked: readonly Asked[]; close(): Promise<void> };

export async function startService(answer: (asked: Asked, earlier: number) => Answered): Promise<Service> {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const one: Asked = {
      method: request.method ?? '',
      path: request.url ?? '',
      body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
    };
    const answered = answer(one, asked.push(one) - 1);
    if (answered === undefined) return request.socket.destroy();
    const { status = 200, body, headers = {} } = answered;
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
