/**
 * Goal: a process that stops while Temporal is away ends as it should: a call that begins or is repeated after the
 * connection was closed fails, and throws nothing. Method: an HTTP/2 server that answers each call as a Temporal that is
 * away, and a closed connection.
 * @module
 */
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Client } from '@temporalio/client';
import { createTemporal } from '../../src/temporal/connection.ts';

const headers = { ':status': 200, 'content-type': 'application/grpc' };
const unavailable = { ...headers, 'grpc-status': '14' };
const emptyMessage = Buffer.alloc(5);
let calls = 0;
let isAway = false;
const server = createServer();
server.on('stream', (stream) => {
  calls += 1;
  if (isAway) return stream.respond(unavailable, { endStream: true });
  stream.respond(headers, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  stream.end(emptyMessage);
});

beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => new Promise((resolve) => server.close(resolve)));

beforeEach(() => {
  isAway = false;
});

const opened = async () => {
  const { port } = server.address() as AddressInfo;
  const temporal = createTemporal({ address: `127.0.0.1:${port}`, namespace: 'default' });
  return { temporal, client: await temporal.client() };
};
const outcomeOf = (client: Client): Promise<string> =>
  client.workflow
    .getHandle('intent/int_1')
    .describe()
    .then(
      () => 'answered',
      (error: Error) => String((error.cause as Error | undefined)?.message ?? error.message),
    );

test('a call that waits for its repetition when the connection is closed fails, and throws nothing', async () => {
  const { temporal, client } = await opened();
  isAway = true;
  const before = calls;
  const outcome = outcomeOf(client);
  while (calls === before) await new Promise((resolve) => setTimeout(resolve, 5));
  await temporal.close();
  expect(await outcome).toContain('the connection to Temporal was closed');
});

test('a call that begins after the connection was closed fails, and throws nothing', async () => {
  const { temporal, client } = await opened();
  await temporal.close();
  expect(await outcomeOf(client)).toContain('the connection to Temporal was closed');
}, 20_000);
