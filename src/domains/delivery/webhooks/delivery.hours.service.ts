/**
 * Counts attempts by subscription and hour, so that a page shows a week without reading each attempt. Called last in the
 * transaction that records results, because all results of a subscription write one row.
 * @module
 */
import { runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { day, hour } from '../../../kernel/instant.ts';

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
  const perHour = Map.groupBy(attempts, ({ webhookId, at }) => `${webhookId}/${Math.floor(at.getTime() / hour)}`);
  const rows = [...perHour.values()].flatMap(rowOf);
  await runSql(
    tx,
    `insert into webhook_hours as h (webhook_id, hour, attempts, failures, answered, answer_ms, slowest_ms)
     select webhook_id, hour, attempts, failures, answered, answer_ms, slowest_ms
     from jsonb_to_recordset($1::jsonb) as r(webhook_id text, hour timestamptz, attempts int, failures int,
       answered int, answer_ms bigint, slowest_ms int)
     ${added}`,
    [JSON.stringify(rows)],
  );
}

/** In one order, so that no two transactions wait for each other. */
const added = `order by webhook_id, hour
  on conflict (webhook_id, hour) do update set attempts = h.attempts + excluded.attempts,
    failures = h.failures + excluded.failures, answered = h.answered + excluded.answered,
    answer_ms = h.answer_ms + excluded.answer_ms, slowest_ms = greatest(h.slowest_ms, excluded.slowest_ms)`;

/** The same within a statement that knows them as rows of `attempts` (webhook_id, began_at, answer_ms). */
export const countSuccesses = (attempts: string): string => `
  insert into webhook_hours as h (webhook_id, hour, attempts, failures, answered, answer_ms, slowest_ms)
  select webhook_id, date_trunc('hour', began_at, 'UTC') as hour, count(*), 0, count(*), sum(answer_ms), max(answer_ms)
  from ${attempts} group by 1, 2
  ${added}`;

function rowOf(attempts: readonly CountedAttempt[]) {
  const [first] = attempts;
  if (first === undefined) return [];
  const tookMs = attempts.flatMap(({ answerMs }) => (answerMs === null ? [] : [Math.round(answerMs)]));
  return {
    webhook_id: first.webhookId,
    hour: new Date(Math.floor(first.at.getTime() / hour) * hour),
    attempts: attempts.length,
    failures: attempts.filter(({ isFailure }) => isFailure).length,
    answered: tookMs.length,
    answer_ms: tookMs.reduce((sum, ms) => sum + ms, 0),
    slowest_ms: Math.max(0, ...tookMs),
  };
}
