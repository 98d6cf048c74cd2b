/**
 * Makes Temporal agree with the table of processes: starts what is missing (also after Temporal lost its database),
 * wakes what changed, and rescues what is overdue. Runs in the worker process; keeps trying while Temporal is away.
 * @module
 */
import type { Database } from '../db/database.ts';
import { rows } from '../db/tx.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import type { Process } from '../platform/processes.ts';
import type { Temporal } from '../temporal/connection.ts';
import type { WorkflowGateway } from '../temporal/gateway.ts';

const batch = 50;
const concurrency = 8;
const overdueMs = 120_000;
const retrySeconds = 5;

type Deps = { database: Database; clock: Clock; temporal: Temporal; gateway: WorkflowGateway; log: Logger };

export type Pass = { started: number; woken: number; rescued: number };

/** One pass over everything; throws when Temporal or PostgreSQL is away. */
export async function reconcileProcesses(deps: Deps): Promise<Pass> {
  const epoch = await deps.temporal.epoch();
  return {
    started: await drain(
      () => claimToStart(deps.database, epoch),
      deps,
      (process) => deps.gateway.start(process),
    ),
    woken: await drain(
      () => claimToWake(deps.database),
      deps,
      (process) => wakeClaimed(deps, process),
    ),
    rescued: await drain(
      () => claimOverdue(deps),
      deps,
      (process) => deps.gateway.wake(process),
    ),
  };
}

/** Wakes every open process that is due at business time `now`; answers how many accepted it. */
export async function wakeDue(
  { database, gateway, log }: Pick<Deps, 'database' | 'gateway' | 'log'>,
  now: Date,
): Promise<number> {
  let woken = 0;
  let after = '';
  for (;;) {
    const due = await rows<Claimed>(
      database.read(),
      `select ${columns} from processes where is_open and due_at <= $1 and id > $2 order by id limit $3`,
      [now, after, batch * 4],
    );
    if (due.length === 0) return woken;
    after = due.at(-1)?.id ?? after;
    woken += await each(due, (process) => gateway.wake(process), log);
  }
}

const columns = `id, workflow, subject_id as "subjectId", owner_id as "ownerId", agent_id as "agentId", stage, is_open as "isOpen"`;

type Claimed = Process & { readonly isOpen: boolean };

/** Rows of another epoch (or of none), the ones due first; each is left alone for some seconds after a try. */
const claimToStart = (database: Database, epoch: string): Promise<Claimed[]> =>
  rows(
    database.read(),
    `update processes set retry_at = now() + interval '${retrySeconds} seconds' where id in (
       select id from processes
       where is_open and (started_epoch is null or started_epoch <> $1) and coalesce(retry_at, '-infinity') < now()
       order by due_at nulls last limit ${batch} for update skip locked)
     returning ${columns}`,
    [epoch],
  );

/** A claim that is not confirmed in time is made again: a wake may come twice, it is never lost. */
const claimToWake = (database: Database): Promise<Claimed[]> =>
  rows(
    database.read(),
    `update processes set wanted_wake = false, waking_until = now() + interval '${retrySeconds} seconds' where id in (
       select id from processes where (wanted_wake and waking_until is null) or waking_until < now()
       limit ${batch} for update skip locked)
     returning ${columns}`,
  );

async function wakeClaimed({ database, gateway }: Deps, process: Claimed): Promise<void> {
  await gateway.wake(process);
  await rows(database.read(), 'update processes set waking_until = null where id = $1', [process.id]);
}

async function claimOverdue({ database, clock }: Deps): Promise<Claimed[]> {
  const limit = new Date((await clock.now()).getTime() - overdueMs);
  return rows(
    database.read(),
    `update processes set retry_at = now() + interval '60 seconds' where id in (
       select id from processes where is_open and due_at < $1 and started_epoch is not null
         and coalesce(retry_at, '-infinity') < now()
       order by due_at limit ${batch} for update skip locked)
     returning ${columns}`,
    [limit],
  );
}

async function drain(
  claim: () => Promise<Claimed[]>,
  { log }: Deps,
  act: (process: Claimed) => Promise<void>,
): Promise<number> {
  let done = 0;
  for (;;) {
    const claimed = await claim();
    const reached = await each(claimed, act, log);
    if (claimed.length > 0 && reached === 0) throw new Error('no process could be reached; the next pass repeats them');
    done += reached;
    if (claimed.length < batch) return done;
  }
}

/** Acts on all with bounded concurrency; one that fails is left to the next pass and does not stop the others. */
async function each(
  processes: readonly Claimed[],
  act: (process: Claimed) => Promise<void>,
  log: Logger,
): Promise<number> {
  const open = [...processes];
  let done = 0;
  const lane = async (): Promise<void> => {
    for (let process = open.shift(); process !== undefined; process = open.shift()) {
      try {
        await act(process);
        done += 1;
      } catch (error) {
        log.warn({ err: error, processId: process.id }, 'process not reached; the next pass repeats it');
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  return done;
}
