/**
 * LISTEN on one connection of its own, reconnecting for ever. A notification only says "look"; what is missed while
 * the connection is down is found by the loops' own polling.
 * @module
 */
import pg from 'pg';
import type { Logger } from '../platform/log.ts';

export type Listener = { stop(): Promise<void>; isListening(): boolean };

type Options = {
  url: string;
  channels: Readonly<Record<string, (payload: string) => void>>;
  log: Logger;
  /** After every (re)connection: whatever was said meanwhile was missed. */
  onConnected?: () => void;
};

const reconnectMs = 500;

export function startListener({ url, channels, log, onConnected }: Options): Listener {
  let client: pg.Client | undefined;
  let stopping = false;
  let listening = false;
  let timer: NodeJS.Timeout | undefined;

  const connect = async (): Promise<void> => {
    const next = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000, keepAlive: true });
    client = next;
    next.on('notification', ({ channel, payload }) => channels[channel]?.(payload ?? ''));
    next.on('error', () => undefined); // `end` follows, and reconnects.
    next.on('end', again);
    try {
      await next.connect();
      for (const channel of Object.keys(channels)) await next.query(`listen ${pg.escapeIdentifier(channel)}`);
      listening = true;
      onConnected?.();
    } catch (error) {
      log.warn({ err: error }, 'cannot listen to the database; retrying');
      await next.end().catch(() => again());
    }
  };

  const again = (): void => {
    listening = false;
    if (stopping || timer !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      void connect();
    }, reconnectMs);
  };

  void connect();
  return {
    isListening: () => listening,
    stop: async () => {
      stopping = true;
      clearTimeout(timer);
      await client?.end().catch(() => undefined);
    },
  };
}
