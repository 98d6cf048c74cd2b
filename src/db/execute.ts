/**
 * Sends one statement: in the transaction, or outside of one on a connection of the pool. Only this folder uses it:
 * the rest of the code gets its rows typed (`db.ts`) or parsed (`statement.ts`).
 * @module
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { CompiledQuery, type Transaction } from 'kysely';
import type { PoolClient } from 'pg';
import { answeredWithin } from './cut-off.ts';
import { poolOf } from './pools.ts';
import { endSession, sessionOf } from './sessions.ts';

/** `count`: the rows that the statement returned or changed. */
export type Executed<Row> = { readonly rows: Row[]; readonly count: number };

export type Patience = {
  /**
   * Of a statement outside of a transaction that never takes long: its connection is closed then, sooner than
   * silent-connections.ts closes it.
   */
  readonly answeredWithinMs?: number;
  /**
   * Of a statement outside of a transaction that is repeated when its connection is lost: the repeat must not be answered
   * before this one, so its session is ended first. Throws StillAtWork when that is not possible.
   */
  readonly endsLostSession?: boolean;
};

export async function execute<Row>(
  tx: EntityManager,
  text: string,
  params: readonly unknown[],
  { answeredWithinMs, endsLostSession = false }: Patience = {},
): Promise<Executed<Row>> {
  const transaction = tx.getTransactionContext<Transaction<unknown>>();
  if (transaction !== undefined) {
    const { rows, numAffectedRows } = await transaction.executeQuery<Row>(CompiledQuery.raw(text, [...params]));
    return { rows, count: Number(numAffectedRows ?? rows.length) };
  }
  const pool = poolOf(tx);
  const client = await pool.connect();
  try {
    return await executeOn<Row>(client, text, params, answeredWithinMs);
  } catch (error) {
    // PostgreSQL itself has ended the statement where it says so.
    if (endsLostSession && severityOf(error) === undefined) await endSession(pool, sessionOf(client), error);
    throw error;
  }
}

/** And gives the connection back. */
async function executeOn<Row>(
  client: PoolClient,
  text: string,
  params: readonly unknown[],
  withinMs: number | undefined,
): Promise<Executed<Row>> {
  let isLost = false;
  const given = [...params];
  try {
    const asked = client.query(text, given);
    const { rows, rowCount } = await (withinMs === undefined ? asked : answeredWithin(client, withinMs, asked));
    return { rows: rows as Row[], count: rowCount ?? rows.length };
  } catch (error) {
    // Not only a failed statement: the next one must not get a connection that PostgreSQL is ending.
    isLost = severityOf(error) !== 'ERROR';
    throw error;
  } finally {
    // What the driver keeps of a statement mostly stays until the old generation is collected: a document is not kept too.
    given.length = 0;
    client.release(isLost);
  }
}

const severityOf = (error: unknown): unknown => (error as { severity?: unknown }).severity;
