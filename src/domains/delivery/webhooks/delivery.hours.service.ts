/**
 * Counts attempts by subscription and hour, so that a page shows a week without reading each attempt. Called last in the
 * transaction that records results, because all results of a subscription write one row.
 * @module
 */
import { runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { day } from '../../../kernel/instant.ts';

export type CountedAttempt = {
  readonly webhookId: string;
  /** Business time of its beginning. */
  readonly at: Date;
  readonly isFailure: boolean;
  /** Null where no answer came. */
  readonly answerMs: number | null;
};

/** Longer than any page shows. */
export const hoursKeptMs = 8 * day;

export async function countAttempts(tx: Tx, attempts: readonly CountedAttempt[]): Promise<void> {
  if (attempts.length === 0) return;
  await runSql(tx, 'select count_attempts($1, $2, $3, $4)', [
    attempts.map(({ webhookId }) => webhookId),
    attempts.map(({ at }) => at),
    attempts.map(({ isFailure }) => isFailure),
    attempts.map(({ answerMs }) => answerMs),
  ]);
}
