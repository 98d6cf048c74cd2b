/**
 * Stands in front of a Temporal server as a hosted cluster does: calls whose path matches are answered with
 * PERMISSION_DENIED, all others are passed on.
 * @module
 */
import { type ClientHttp2Session, connect, createServer, type Http2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';

export async function startForbidding(
  target: string,
  forbidden: RegExp,
): Promise<{ address: string; close(): Promise<void> }> {
  const upstream: ClientHttp2Session = connect(`http://${target}`);
  const sessions = new Set<Http2Session>();
  const server = createServer();
  server.on('session', (session) => sessions.add(session));
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    if (forbidden.test(String(headers[':path']))) {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '7' }, { endStream: true });
      return;
    }
    const onward = upstream.request({ ...headers, ':authority': target });
    onward.on('error', () => stream.close());
    stream.pipe(onward);
    onward.on('response', (answered) => {
      const isOver = answered['grpc-status'] !== undefined;
      stream.respond(answered, isOver ? { endStream: true } : { waitForTrailers: true });
    });
    let trailers = {};
    onward.on('trailers', (given) => {
      trailers = Object.fromEntries(Object.entries(given).filter(([name]) => !name.startsWith(':')));
    });
    stream.on('wantTrailers', () => stream.sendTrailers(trailers));
    onward.on('data', (chunk: Buffer) => stream.write(chunk));
    onward.on('end', () => stream.end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      upstream.destroy();
      for (const session of sessions) session.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
