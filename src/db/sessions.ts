/**
 * The session of PostgreSQL that each connection of a pool has: begins it, and ends one whose connection was lost, so
 * that nothing which was sent on it is executed later.
 * @module
 */
import type { ClientBase, Pool } from 'pg';
import { answeredWithin } from './cut-off.ts';

/** `startedAt`: a later session may have the same process id. */
export type Session = { readonly pid: number; readonly startedAt: string };

/** PostgreSQL ends a transaction that does nothing for so long, because it holds locks and stalls the feed of events. */
const idleInTransactionMs = 60_000;

/**
 * No parameter of the connection's start: a pooler in session mode refuses those that it does not know. The process id
 * of the connection's start is the pooler's own.
 */
const begin = `select set_config('idle_in_transaction_session_timeout', '${idleInTransactionMs}', false), pid,
    extract(epoch from backend_start)::text as "startedAt"
  from pg_stat_activity where pid = pg_backend_pid()`;

const sessions = new WeakMap<ClientBase, Session>();

/** The first statement of a connection. A server that accepts connections and answers nothing keeps no caller waiting. */
export async function beginSession(client: ClientBase, withinMs: number): Promise<void> {
  const { rows } = await answeredWithin(client, withinMs, client.query<Session>(begin));
  const [row] = rows;
  if (row !== undefined) sessions.set(client, { pid: row.pid, startedAt: row.startedAt });
}

export const sessionOf = (client: ClientBase): Session | undefined => sessions.get(client);

/** PostgreSQL may still execute what was sent on a connection that was lost, so a repeat must not be answered yet. */
export class StillAtWork extends Error {
  override readonly name = 'StillAtWork';
  constructor(cause: unknown) {
    super('Connection terminated: what was sent on it may still be executed', { cause });
  }
}

const endWithinMs = 5_000;
const end = `select pg_terminate_backend(pid, ${endWithinMs}) as "isGone" from pg_stat_activity
  where pid = $1 and extract(epoch from backend_start)::text = $2`;

/** Returns when the session has ended, by itself or by this; throws when it is not known to have. */
export async function endSession(pool: Pool, session: Session | undefined, cause: unknown): Promise<void> {
  if (session === undefined || !(await isEnded(pool, session))) throw new StillAtWork(cause);
}

async function isEnded(pool: Pool, { pid, startedAt }: Session): Promise<boolean> {
  try {
    const client = await pool.connect();
    let isAnswered = false;
    try {
      const asked = client.query<{ isGone: boolean }>(end, [pid, startedAt]);
      const { rows } = await answeredWithin(client, 2 * endWithinMs, asked);
      isAnswered = true;
      return rows.every(({ isGone }) => isGone);
    } finally {
      client.release(!isAnswered);
    }
  } catch {
    return false; // Who is away tells nothing of the session.
  }
}
