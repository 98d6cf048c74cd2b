/**
 * Goal: a connect to Temporal that fails leaves no channel behind that dials on, and the next one is made anew. Method: a
 * TCP server that ends each connection at once and counts them.
 * @module
 */
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTemporal } from '../../src/temporal/connection.ts';

let dials = 0;
const server = createServer((socket) => {
  dials += 1;
  socket.destroy();
});
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => new Promise((resolve) => server.close(resolve)));

/** The longest pause between two dials of a channel: 2 s, and a fifth by chance. */
const pauseMs = 2_500;
const lookedAtMs = 4_000;

const dialsIn = async (forMs: number): Promise<number> => {
  const before = dials;
  await sleep(forMs);
  return dials - before;
};

test('a client that cannot connect does not dial on, and dials again when it is asked again', async () => {
  const { port } = server.address() as AddressInfo;
  const temporal = createTemporal({ address: `127.0.0.1:${port}`, namespace: 'default' });
  const refused = () => expect(temporal.client()).rejects.toThrow('Failed to connect before the deadline');
  await Promise.all([refused(), refused(), refused()]);
  // gRPC ends the pause that a closed channel is in, with one last dial.
  expect(await dialsIn(pauseMs)).toBeLessThanOrEqual(1);
  expect(await dialsIn(lookedAtMs)).toBe(0);
  const before = dials;
  await refused();
  expect(dials).toBeGreaterThan(before);
  await temporal.close();
});
