/**
 * The database as services use it: a new fork for reads, one transaction for writes (repeated after a deadlock, a
 * serialization failure or a concurrent change of a row), and the errors that mean "the database is away".
 * @module
 */
import { IsolationLevel, OptimisticLockError } from '@mikro-orm/core';
import { unavailable } from '../kernel/errors.ts';
import type { Orm } from './orm.ts';
import { isOutdatedStatement } from './prepared-statements.ts';
import type { Tx } from './tx.ts';

export type Database = {
  /** A fork for reads; never shared between requests. */
  read(): Tx;
  /** Several reads of one state: what is committed meanwhile is in none of them. */
  snapshot<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** One transaction. `work` may run again from the start when what it has read changes, so it must only touch `tx`. */
  write<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
};

export const databaseOf = (orm: Orm): Database => ({
  read: () => orm.em.fork(),
  snapshot: (work) =>
    orm.em.fork().transactional(work, { isolationLevel: IsolationLevel.REPEATABLE_READ, readOnly: true }),
  write: async (work) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await orm.em.fork().transactional(work);
      } catch (error) {
        if (!isRepeatable(error)) throw error;
        if (attempt >= maximumAttempts) throw unavailable('too many changes at once', error);
      }
    }
  },
});

const maximumAttempts = 4;
const repeatableCodes = new Set(['40001', '40P01']);
/**
 * Also a full disk, no memory, a server that only reads because another one takes over, and a session that PostgreSQL
 * ended because this process did nothing in it.
 */
const awayCodes = /^(08...|57P0[1235]|53...|58030|25006|25P0[34])$/;
/** Of the system: of connecting, and of a connection that was there. */
const awayErrnos =
  /^(ECONNREFUSED|ECONNRESET|ECONNABORTED|ENOTFOUND|EAI_AGAIN|EPIPE|ETIMEDOUT|E(HOST|NET)(UNREACH|DOWN)|EADDRNOTAVAIL)$/;
const awayMessages =
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection/;

/** The same statement may succeed now: a deadlock, a serialization failure, a row or a plan that has changed. */
export const isRepeatable = (error: unknown): boolean =>
  causesOf(error).some(
    (cause) =>
      repeatableCodes.has(cause.code ?? '') || cause instanceof OptimisticLockError || isOutdatedStatement(cause),
  );

/** Another transaction held a lock longer than the statement waits. Nothing was written. */
export const isLockTimeout = (error: unknown): boolean => causesOf(error).some(({ code }) => code === '55P03');

/** PostgreSQL cannot be reached or is going away: the answer is 503, and repeating later helps. */
export function isDatabaseAway(error: unknown): boolean {
  return causesOf(error).some(
    ({ code, message }) =>
      awayCodes.test(code ?? '') || awayErrnos.test(code ?? '') || awayMessages.test(message ?? ''),
  );
}

/** True for a unique violation, of that constraint when one is named. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  return causesOf(error).some(
    (cause) => cause.code === '23505' && (constraint === undefined || cause.constraint === constraint),
  );
}

type PgCause = { code?: string; message?: string; constraint?: string; previous?: unknown; cause?: unknown };

function causesOf(error: unknown): PgCause[] {
  const found: PgCause[] = [];
  const open: unknown[] = [error];
  while (open.length > 0 && found.length < 10) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null) continue;
    const cause: PgCause = next;
    found.push(cause);
    open.push(cause.previous, cause.cause, ...(next instanceof AggregateError ? next.errors : []));
  }
  return found;
}
