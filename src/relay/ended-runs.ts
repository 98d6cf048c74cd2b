/**
 * Finds workflow runs that were ended from outside while their row is open, and has them started again. Slow on
 * purpose: it only repairs, and no decision depends on it. All worker processes share one rate.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../db/database.ts';
import { idRow } from '../db/row-values.ts';
import { runSql } from '../db/statement.ts';

import { hour, minute, second } from '../kernel/instant.ts';
import type { Logger } from '../platform/log.ts';
import { type Loop, startLoop } from '../platform/loop.ts';
import type { Temporal } from '../temporal/connection.ts';
import type { WorkflowGateway } from '../temporal/gateway.ts';
import { rowsByIndex } from './by-index.ts';

export type EndedRunsOptions = {
  readonly database: Database;
  readonly temporal: Pick<Temporal, 'epoch'>;
  readonly gateway: Pick<WorkflowGateway, 'isRunning'>;
  readonly log: Logger;
  /** Real time within which each open row is checked once. */
  readonly everyMs?: number;
};

/** A turn lasts a second: at most ten calls a second, and 36,000 an hour. With more open rows a round takes longer. */
const checksInTurn = 10;
const turnMs = second;
const againAfterFailureMs = minute;

export function startEndedRunsLoop(options: EndedRunsOptions): Loop {
  const loop = startLoop({
    name: 'ended-runs',
    everyMs: turnMs,
    log: options.log,
    pass: async () => {
      const begun = performance.now();
      if ((await checkSome(options)) < checksInTurn) return;
      await sleep(Math.max(0, turnMs - (performance.now() - begun)));
      loop.wake();
    },
  });
  return loop;
}

/** One turn, unless another process has it. Answers how many rows were taken; throws when Temporal is away. */
export async function checkSome(options: EndedRunsOptions): Promise<number> {
  const { database, temporal, gateway, log, everyMs = hour } = options;
  await temporal.epoch();
  const taken = await takeTurn(database, everyMs);
  const found = await Promise.all(
    taken.map(async (id, i) => {
      await sleep((i * turnMs) / checksInTurn);
      try {
        return { id, state: (await gateway.isRunning(id)) ? 'running' : 'ended' } as const;
      } catch (error) {
        log.warn({ err: error, workflowId: id }, 'workflow run not checked; it is checked again in a minute');
        return { id, state: 'unknown' } as const;
      }
    }),
  );
  const idsOf = (state: 'ended' | 'unknown') => found.filter((one) => one.state === state).map(({ id }) => id);
  const ended = idsOf('ended');
  if (ended.length > 0)
    log.info({ processIds: ended }, 'workflow runs were ended from outside; they are started again');
  await startAgain(database, ended);
  await checkAgainSoon(database, idsOf('unknown'), everyMs);
  return taken.length;
}

/** The process whose turn it is takes the rows that were not checked for longest. An idle installation writes nothing. */
async function takeTurn(database: Database, everyMs: number): Promise<string[]> {
  const taken = await rowsByIndex(
    database,
    idRow,
    `with turn as materialized (
       insert into relay_turns as t (name, next_at)
       select 'ended-runs', now() + interval '${turnMs} milliseconds'
       where exists (select from workflow_runs where ${isToCheck})
       on conflict (name) do update set next_at = excluded.next_at where t.next_at <= now()
       returning 1
     )
     update workflow_runs set checked_at = now()
     where exists (select from turn) and id = any(array(
       select id from workflow_runs where ${isToCheck} order by checked_at limit ${checksInTurn} for update skip locked))
     returning id`,
    [everyMs],
  );
  return taken.map(({ id }) => id);
}

const isToCheck = `is_open and started_epoch is not null and checked_at < now() - $1::float8 * interval '1 ms'`;

/** They count as not started, and the relay starts them with its other starts. */
const startAgain = (database: Database, ids: readonly string[]): Promise<unknown> =>
  runSql(
    database.read(),
    `update workflow_runs set started_epoch = null, retry_at = null where id = any($1::text[]) and is_open`,
    [ids],
  );

const checkAgainSoon = (database: Database, ids: readonly string[], everyMs: number): Promise<unknown> =>
  runSql(
    database.read(),
    `update workflow_runs set checked_at = now() + ($2::float8 - $3::float8) * interval '1 ms'
     where id = any($1::text[]) and is_open`,
    [ids, againAfterFailureMs, everyMs],
  );
