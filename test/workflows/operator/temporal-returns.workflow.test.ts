/**
 * Goal: a Temporal that was away for a while is found again within seconds of its return, not within the minutes that
 * a channel left to itself takes. Method: the real connection to the real dev server, through a port that goes away;
 * pauses are measured by the clock of this process, whose timers make them.
 * @module
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { connect, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { freePort } from '../../../src/supervisor/ports.ts';
import { createTemporal, type Temporal } from '../../../src/temporal/connection.ts';
import { startProcessClock } from '../../support/process-clock.ts';

const awayMs = 10_500;
/** Ours pauses 2.4 s at most; gRPC's own backoff pauses more than 3.2 s after the fourth dial already. */
const longestPauseMs = 3_000;

let door: Door;
let temporal: Temporal;
beforeAll(async () => {
  door = await openDoor();
  temporal = createTemporal({ address: `127.0.0.1:${door.port}`, namespace: 'default' });
});
afterAll(async () => {
  await temporal.close();
  await door.close();
});

test('it is dialled at least every three seconds, and after its return calls succeed', async () => {
  expect(await temporal.isReachable()).toBe(true);
  await door.close();
  const clock = startProcessClock();
  const dials = [clock.now()];
  const noteDial = () => dials.push(clock.now());
  subscribe('net.client.socket', noteDial);
  while (clock.now() < awayMs) {
    expect(await looks()).toBe(false);
    await aMoment();
  }
  await door.open();
  while (!(await looks())) await aMoment();
  clock.stop();
  unsubscribe('net.client.socket', noteDial);
  const pauses = dials.slice(1).map((dial, i) => dial - (dials[i] ?? 0));
  expect(pauses.length).toBeGreaterThan(3);
  // Also those after the return. How long the first call then takes is the server's time.
  expect(Math.max(...pauses)).toBeLessThan(longestPauseMs);
}, 120_000);

const aMoment = () => new Promise((resolve) => setTimeout(resolve, 50));

/** Short, because between its own repeats the client sleeps ever longer, and it is the channel that is asked here. */
async function looks(): Promise<boolean> {
  const { connection } = await temporal.client();
  const call = () => connection.workflowService.getSystemInfo({});
  return connection.withDeadline(Date.now() + 300, call).then(
    () => true,
    () => false,
  );
}

type Door = { readonly port: number; open(): Promise<void>; close(): Promise<void> };

/** A port in front of the dev server; closing it also breaks the open connections. */
async function openDoor(): Promise<Door> {
  const [host = '', inner] = (process.env.TEST_TEMPORAL ?? '').split(':');
  const sockets = new Set<Socket>();
  const server = createServer((outside) => {
    const inside = connect(Number(inner), host);
    for (const [socket, other] of [
      [outside, inside],
      [inside, outside],
    ] as const) {
      sockets.add(socket);
      socket.pipe(other);
      socket.on('error', () => other.destroy());
      socket.on('close', () => sockets.delete(socket));
    }
  });
  const listen = (port: number) => new Promise<void>((done) => void server.listen(port, '127.0.0.1', done));
  const port = await freePort();
  await listen(port);
  return {
    port,
    open: () => listen(port),
    close: () => {
      const closed = new Promise<void>((done) => void server.close(() => done()));
      for (const socket of sockets) socket.destroy();
      return closed;
    },
  };
}
