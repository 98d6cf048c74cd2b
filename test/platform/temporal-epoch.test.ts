/**
 * Goal: the epoch of Temporal is as old as it may be by the time that passes, whatever the machine's clock says. Method:
 * an HTTP/2 server that answers as an empty Temporal and counts what is asked, and both clocks moved.
 * @module
 */
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { createTemporal, type Temporal } from '../../src/temporal/connection.ts';

const headers = { ':status': 200, 'content-type': 'application/grpc' };
const emptyMessage = Buffer.alloc(5);
let asked = 0;
const server = createServer();
server.on('stream', (stream, { ':path': path = '' }) => {
  if (path.endsWith('/DescribeNamespace')) asked += 1;
  stream.respond(headers, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  stream.end(emptyMessage);
});

let temporal: Temporal;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  temporal = createTemporal({ address: `127.0.0.1:${port}`, namespace: 'default' });
});
afterEach(() => {
  jest.restoreAllMocks();
});
afterAll(async () => {
  await temporal.close();
  await new Promise((resolve) => server.close(resolve));
});

const second = 1_000;
const hour = 3_600 * second;

/** Both from now on: what has passed, and what the machine's clock says. */
function move(passedMs: number, clockMs: number): void {
  const passed = performance.now();
  jest.spyOn(performance, 'now').mockImplementation(() => passed + passedMs);
  const clock = Date.now();
  jest.spyOn(Date, 'now').mockImplementation(() => clock + clockMs);
}

test('it is asked again after 6 s in which the clock was set back an hour, and not at once after it was set ahead', async () => {
  await temporal.epoch();
  await temporal.epoch();
  expect(asked).toBe(1);
  move(6 * second, -hour);
  await temporal.epoch();
  expect(asked).toBe(2);
  jest.restoreAllMocks();
  move(7 * second, hour);
  await temporal.epoch();
  expect(asked).toBe(2);
});
