/**
 * Finds connections that are open and silent (half open): a caller waits for an answer that was lost, which TCP notices
 * after a quarter of an hour, or never where a proxy answers for the other side. PostgreSQL is asked, on another
 * connection, what their sessions do. One that works may take as long as it needs; one that waits for the next statement
 * has answered, or has never been asked.
 * @module
 */
import pg, { type Pool, type PoolClient } from 'pg';
import { second } from '../kernel/instant.ts';
import { cutOff, socketOf } from './cut-off.ts';
import { endSession, type Session, sessionOf } from './sessions.ts';

const usuallyEveryMs = 5 * second;
/** An answer may be on its way when PostgreSQL is asked, and a network may be late for some seconds. */
const looksBeforeCut = 2;
/** As often nobody answers before all that wait are given up: a server that is too busy for a connection may work. */
const looksWithoutServer = 3;

type Look = {
  isWaiting: boolean;
  bytesRead: number;
  /** Looks in a row at which PostgreSQL waited for this side. */
  idle: number;
  /** Looks in a row at which PostgreSQL could not be asked. */
  away: number;
};

/** What the driver does not publish: false from sending a statement until its answer is complete. */
const isWaiting = (client: PoolClient): boolean =>
  (client as unknown as { readonly readyForQuery?: boolean }).readyForQuery === false;

type Watch = {
  /** How long PostgreSQL has for a connection, and for its answer. */
  readonly askWithinMs: number;
  /** A statement that takes no longer costs nothing. */
  readonly lookEveryMs?: number | undefined;
};

export function cutSilentConnections(pool: Pool, { askWithinMs, lookEveryMs = usuallyEveryMs }: Watch): void {
  const looks = new Map<PoolClient, Look>();
  let timer: NodeJS.Timeout | undefined;
  let isLooking = false;

  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    try {
      const silent = [...looks].filter(([client, seen]) => isSilent(client, seen)).map(([client]) => client);
      if (silent.length > 0) await examine(silent);
    } finally {
      isLooking = false;
    }
  };

  const examine = async (silent: readonly PoolClient[]): Promise<void> => {
    const idle = await idleAmong(pool, silent, askWithinMs);
    for (const client of silent) {
      const seen = looks.get(client);
      // It may have been answered while PostgreSQL was asked.
      if (seen === undefined || socketOf(client).bytesRead !== seen.bytesRead) continue;
      seen.idle = idle?.has(client) === true ? seen.idle + 1 : 0;
      seen.away = idle === undefined ? seen.away + 1 : 0;
      if (seen.idle < looksBeforeCut && seen.away < looksWithoutServer) continue;
      cutOff(client);
      // Its locks are not kept until PostgreSQL notices; what is away needs no help.
      if (seen.idle > 0) void endSession(pool, sessionOf(client), undefined).catch(() => undefined);
    }
  };

  pool.on('connect', (client) => {
    looks.set(client, { isWaiting: false, bytesRead: 0, idle: 0, away: 0 });
    client.once('end', () => {
      looks.delete(client);
      if (looks.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    });
    // What goes wrong is tried again at the next look.
    timer ??= setInterval(() => void look().catch(() => undefined), lookEveryMs).unref();
  });
}

/** It waited at the look before, and nothing has arrived since. */
function isSilent(client: PoolClient, seen: Look): boolean {
  const { bytesRead } = socketOf(client);
  const isSame = seen.isWaiting && isWaiting(client) && seen.bytesRead === bytesRead;
  seen.isWaiting = isWaiting(client);
  seen.bytesRead = bytesRead;
  if (!isSame) Object.assign(seen, { idle: 0, away: 0 });
  return isSame;
}

type Activity = Session & { readonly isIdle: boolean };

const activity = `select pid, extract(epoch from backend_start)::text as "startedAt",
    coalesce(state like 'idle%' or wait_event_type = 'Client', false) as "isIdle"
  from pg_stat_activity where pid = any($1::int[])`;

/** Those whose sessions wait for this side, or are gone; undefined when PostgreSQL cannot be asked. */
async function idleAmong(pool: Pool, clients: readonly PoolClient[], withinMs: number) {
  const known = clients.flatMap((client) => {
    const session = sessionOf(client);
    return session === undefined ? [] : [{ client, session }];
  });
  const asking = new pg.Client({
    ...(pool.options as pg.ClientConfig),
    password: pool.options.password, // Not among those that a spread copies.
    application_name: 'bursar-watch',
    connectionTimeoutMillis: withinMs,
    query_timeout: withinMs,
  });
  asking.on('error', () => undefined); // Its statement fails as well.
  try {
    await asking.connect();
    const pids = known.map(({ session }) => session.pid);
    const { rows } = await asking.query<Activity>(activity, [pids]);
    return new Set(known.filter(({ session }) => isIdleIn(rows, session)).map(({ client }) => client));
  } catch (error) {
    // Who refuses the connection is there, and may be at work.
    return error instanceof pg.DatabaseError ? new Set<PoolClient>() : undefined;
  } finally {
    socketOf(asking).destroy();
  }
}

const isIdleIn = (rows: readonly Activity[], { pid, startedAt }: Session): boolean =>
  rows.find((row) => row.pid === pid && row.startedAt === startedAt)?.isIdle ?? true;
