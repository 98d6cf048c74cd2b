/**
 * A TCP proxy that loses chosen messages and says nothing of it: connections stay open and silent (half open), or what
 * was sent on one arrives after its sender has given up. A message is chosen by a text in it. Knows no protocol.
 * @module
 */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * `question`: it does not arrive, and nothing after it. `answer`: it arrives, and nothing comes back; the other side
 * never learns that the asker has gone. `late`: the asker's connection is reset, and it arrives with `deliver`.
 */
export type Loss = 'question' | 'answer' | 'late';

export type Wire = {
  readonly port: number;
  /** The same address behind this wire. */
  via(url: string): string;
  /** Every message from now on that contains the text, or only so many; what is lost stays so after `heal`. */
  lose(loss: Loss, text: string, most?: number): void;
  heal(): void;
  /** New connections are accepted, and no more happens on them; those that are open become silent. */
  goSilent(): void;
  /** Messages lost since the last `lose`. */
  lost(): number;
  /** Sends what is late, and resolves when the other side has answered it or has closed that connection. */
  deliver(): Promise<void>;
  /** Connections whose asker has not gone. */
  open(): number;
  close(): Promise<void>;
};

type Connection = { readonly asker: Socket; readonly other: Socket; state: 'carries' | 'silent' | 'deaf' | 'late' };

export async function startWire(target: string): Promise<Wire> {
  const { hostname: host, port } = new URL(target);
  const connections = new Set<Connection>();
  const late: { readonly other: Socket; readonly data: Buffer }[] = [];
  let losing: { readonly loss: Loss; readonly text: string; readonly most: number } | undefined;
  let isSilent = false;
  let lost = 0;

  const ask = (connection: Connection, data: Buffer): void => {
    if (connection.state === 'silent') return;
    if (losing === undefined || lost >= losing.most || !data.includes(losing.text))
      return void connection.other.write(data);
    lost += 1;
    if (losing.loss === 'question') connection.state = 'silent';
    if (losing.loss === 'answer') {
      connection.state = 'deaf';
      connection.other.write(data);
    }
    if (losing.loss === 'late') {
      connection.state = 'late';
      late.push({ other: connection.other, data });
      connection.asker.resetAndDestroy();
    }
  };

  const listener = createServer({ noDelay: true, allowHalfOpen: true }, (asker) => {
    const other = connect({ host, port: Number(port), noDelay: true });
    const connection: Connection = { asker, other, state: isSilent ? 'silent' : 'carries' };
    connections.add(connection);
    asker.on('data', (data) => ask(connection, data));
    other.on('data', (data) => connection.state === 'carries' && asker.write(data));
    // One that is silent does not answer an orderly close either.
    asker.on('end', () => connection.state === 'silent' || asker.end());
    asker
      .on('error', () => undefined)
      .on('close', () => {
        connections.delete(connection);
        if (connection.state === 'carries' || connection.state === 'silent') other.destroy();
      });
    other.on('error', () => undefined).on('close', () => connection.state === 'carries' && asker.destroy());
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const at = (listener.address() as AddressInfo).port;
  const others = new Set<Socket>();

  return {
    port: at,
    via: (url) => {
      const changed = new URL(url);
      changed.host = `127.0.0.1:${at}`;
      return changed.href;
    },
    lose: (loss, text, most = Number.POSITIVE_INFINITY) => {
      lost = 0;
      losing = { loss, text, most };
    },
    heal: () => {
      losing = undefined;
      isSilent = false;
    },
    goSilent: () => {
      isSilent = true;
      for (const connection of connections) connection.state = 'silent';
    },
    lost: () => lost,
    deliver: async () => {
      for (const { other, data } of late.splice(0)) {
        if (other.destroyed) continue;
        others.add(other);
        await new Promise<void>((resolve) => {
          other.once('data', () => resolve()).once('close', () => resolve());
          other.write(data);
        });
      }
    },
    open: () => connections.size,
    close: async () => {
      for (const { other } of late) other.destroy();
      for (const other of others) other.destroy();
      for (const { asker, other } of connections) {
        asker.destroy();
        other.destroy();
      }
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}
