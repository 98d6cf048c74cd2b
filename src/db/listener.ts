/**
 * LISTEN on a separate connection. It is probed, because a connection can die without an error, and opened again after
 * each failure. Reports when it starts and stops receiving; notifications in between are lost, and the caller has to
 * read the tables instead.
 * @module
 */
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { second } from '../kernel/instant.ts';
import { answeredWithin } from './cut-off.ts';

export type Listener = { stop(): Promise<void> };

export type ListenerOptions = {
  readonly url: string;
  /** What to do when a channel is notified, with what the notification says. */
  readonly channels: Readonly<Record<string, (payload: string) => void>>;
  readonly applicationName: string;
  readonly log: { debug(details: object, message: string): void };
  /** True after every (re)connection, false when it is lost. */
  readonly onListening: (isListening: boolean) => void;
};

export function startListener(options: ListenerOptions): Listener {
  const stop = new AbortController();
  const running = listenUntil(stop.signal, options);
  return {
    stop: async () => {
      stop.abort();
      await running;
    },
  };
}

async function listenUntil(stop: AbortSignal, options: ListenerOptions): Promise<void> {
  let waitMs = shortestWaitMs;
  while (!stop.aborted) {
    const heard = await listenOnce(stop, options);
    options.onListening(false);
    waitMs = heard ? shortestWaitMs : Math.min(2 * waitMs, longestWaitMs);
    await wait(waitMs, undefined, { signal: stop, ref: false }).catch(() => undefined); // Aborted: the loop ends.
  }
}

const shortestWaitMs = second / 10;
const longestWaitMs = 5 * second;
const probeMs = 10 * second;

/** Returns when the connection ends; true when it had been listening. */
async function listenOnce(stop: AbortSignal, options: ListenerOptions): Promise<boolean> {
  const client = new pg.Client({
    connectionString: options.url,
    connectionTimeoutMillis: 5 * second,
    query_timeout: 5 * second,
    application_name: options.applicationName,
    keepAlive: true,
  });
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  client.on('error', () => end()).on('end', () => end());
  stop.addEventListener('abort', () => end(), { once: true });
  const probe = setInterval(() => void client.query('select 1').catch(() => end()), probeMs).unref();
  let isListening = false;
  try {
    await client.connect();
    client.on('notification', ({ channel, payload = '' }) => options.channels[channel]?.(payload));
    for (const channel of Object.keys(options.channels)) await client.query(`listen ${pg.escapeIdentifier(channel)}`);
    isListening = true;
    options.onListening(true);
    await ended;
  } catch (error) {
    options.log.debug({ err: error, listener: options.applicationName }, 'not listening; dialling again');
  } finally {
    clearInterval(probe);
    // One that is silent never closes in order; of one that is broken there is nothing left to end.
    await answeredWithin(client, second, client.end()).catch(() => undefined);
  }
  return isListening;
}
