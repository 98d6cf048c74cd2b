/**
 * A TCP proxy whose connections are faulty while a test says so: late, reset, half open, cut in the middle of a message,
 * or cut before an answer that the other side has sent already (after a commit). Seeded: each connection draws its
 * faults from the seed of its run and its number. Knows nothing of what it carries.
 * @module
 */

import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Random, randomFrom } from './random.ts';

export const faultKinds = ['late', 'reset', 'half open', 'cut in a message', 'answer lost'] as const;
export type FaultKind = (typeof faultKinds)[number];

/** How often a piece of data meets a fault, and how long the slow ones last at most. */
export type Faultiness = {
  readonly share: number;
  readonly lateMs: number;
  readonly halfOpenMs: number;
  readonly kinds?: readonly FaultKind[];
};

export type FaultyLink = {
  readonly port: number;
  /** What happened since the last `begin`. */
  readonly counts: Readonly<Record<string, number>>;
  begin(seed: number, faultiness: Faultiness): void;
  /** From here on it carries everything; what is half open is reset. */
  end(): void;
  close(): Promise<void>;
};

type Connection = { readonly client: Socket; readonly server: Socket; isHalfOpen: boolean };

export async function startFaultyLink(target: { host: string; port: number }): Promise<FaultyLink> {
  const open = new Set<Connection>();
  let counts: Record<string, number> = {};
  let faultiness: Faultiness | undefined;
  let seed = 0;
  let connections = 0;

  const listener = createServer({ noDelay: true }, (client) => {
    const server = connect({ ...target, noDelay: true });
    const connection: Connection = { client, server, isHalfOpen: false };
    const random = randomFrom(seed * 10_007 + connections++);
    open.add(connection);
    carry(connection, 'ask', random);
    carry(connection, 'answer', random);
  });

  const carry = (connection: Connection, direction: 'ask' | 'answer', random: Random): void => {
    const { client, server } = connection;
    const [from, to] = direction === 'ask' ? [client, server] : [server, client];
    let before: Promise<void> = Promise.resolve();
    const inTurn = (work: () => Promise<void> | void): void => {
      before = before.then(work, work);
    };
    from.on('data', (data: Buffer) => {
      from.pause();
      inTurn(async () => {
        await pass(connection, { direction, to, data, random });
        from.resume();
      });
    });
    from.on('end', () => inTurn(() => void (connection.isHalfOpen || to.end())));
    from.on('error', () => reset(connection));
    from.on('close', () => inTurn(() => end(connection)));
  };

  type Piece = { direction: 'ask' | 'answer'; to: Socket; data: Buffer; random: Random };
  const pass = async (connection: Connection, { direction, to, data, random }: Piece): Promise<void> => {
    if (connection.isHalfOpen) return;
    const fault =
      faultiness !== undefined && random.chance(faultiness.share)
        ? random.pick(faultiness.kinds ?? faultKinds)
        : undefined;
    if (fault === undefined || faultiness === undefined) return write(to, data);
    counts[fault] = (counts[fault] ?? 0) + 1;
    switch (fault) {
      case 'late':
        await sleep(random.below(faultiness.lateMs));
        return write(to, data);
      case 'reset':
        return reset(connection);
      case 'half open':
        connection.isHalfOpen = true;
        setTimeout(() => reset(connection), 1 + random.below(faultiness.halfOpenMs)).unref();
        return;
      case 'cut in a message':
        await write(to, data.subarray(0, random.below(data.length)));
        return end(connection);
      case 'answer lost':
        // A question is carried on, and its connection is closed before there is an answer.
        if (direction === 'ask') await write(to, data);
        if (direction === 'ask') await answered(connection);
        return reset(connection);
    }
  };

  const end = (connection: Connection): void => {
    if (connection.isHalfOpen) return;
    open.delete(connection);
    connection.client.destroySoon();
    connection.server.destroySoon();
  };
  const reset = ({ client, server }: Connection): void => {
    for (const connection of open) if (connection.client === client) open.delete(connection);
    client.resetAndDestroy();
    server.resetAndDestroy();
  };

  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  return {
    port: (listener.address() as AddressInfo).port,
    get counts() {
      return counts;
    },
    begin: (of, how) => {
      seed = of;
      connections = 0;
      counts = {};
      faultiness = how;
    },
    end: () => {
      faultiness = undefined;
      for (const connection of open) if (connection.isHalfOpen) reset(connection);
    },
    close: async () => {
      for (const connection of open) reset(connection);
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}

function write(to: Socket, data: Buffer): Promise<void> {
  if (to.destroyed || !to.writable) return Promise.resolve();
  return new Promise((resolve) => to.write(data, () => resolve()));
}

/** The other side has answered, which nobody gets, or its connection has ended. */
function answered({ server }: Connection): Promise<void> {
  if (server.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    server.once('data', () => resolve());
    server.once('close', () => resolve());
  });
}
