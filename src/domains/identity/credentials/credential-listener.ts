/**
 * Hears on one connection of its own when any process takes a credential away, and says when it hears nothing: after
 * a lost connection it dials again until it is closed. Decides nothing about credentials.
 * @module
 */
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { second } from '../../../kernel/instant.ts';
import type { Logger } from '../../../platform/log.ts';

export type CredentialListener = { close(): Promise<void> };

type Options = {
  readonly databaseUrl: string;
  readonly log: Logger;
  onChange(): void;
  onListening(isListening: boolean): void;
};

export function listenForCredentials(options: Options): CredentialListener {
  const stop = new AbortController();
  const running = listenUntil(stop.signal, options);
  return {
    close: async () => {
      stop.abort();
      await running;
    },
  };
}

async function listenUntil(stop: AbortSignal, options: Options): Promise<void> {
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
async function listenOnce(stop: AbortSignal, { databaseUrl, log, onChange, onListening }: Options): Promise<boolean> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: 5 * second,
    query_timeout: 5 * second,
    application_name: 'bursar-credentials',
    keepAlive: true,
  });
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  client.on('error', () => end()).on('end', () => end());
  stop.addEventListener('abort', () => end(), { once: true });
  // A connection that died without a word is found by asking it something.
  const probe = setInterval(() => void client.query('select 1').catch(() => end()), probeMs).unref();
  let isListening = false;
  try {
    await client.connect();
    client.on('notification', onChange);
    await client.query('listen bursar_credentials');
    isListening = true;
    onListening(true);
    await ended;
  } catch (error) {
    log.debug({ err: error }, 'not listening for revoked credentials; nothing is remembered meanwhile');
  } finally {
    clearInterval(probe);
    await client.end().catch(() => undefined); // Already broken: there is nothing left to end.
  }
  return isListening;
}
