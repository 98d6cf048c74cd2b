/** Reads and stores in the table of workflow runs which runs were started. Does not call Temporal. @module */
import * as z from 'zod';
import type { Database } from '../db/database.ts';
import { rowsOf, runSql } from '../db/statement.ts';
import { workflowRun } from '../platform/workflow-runs.ts';

const knownWorkflowRun = workflowRun.extend({ startedEpoch: z.string().nullable(), isRetried: z.boolean() });
export type KnownWorkflowRun = Readonly<z.output<typeof knownWorkflowRun>>;

/** The Temporal, by its epoch, in which the run was started. */
export type Started = { readonly id: string; readonly epoch: string };

export const findWorkflowRuns = (database: Database, ids: readonly string[]): Promise<KnownWorkflowRun[]> =>
  rowsOf(
    database.read(),
    knownWorkflowRun,
    `select id, workflow, subject_id as "subjectId", owner_id as "ownerId", agent_id as "agentId", stage,
       amount_cents::float8 as "amountCents",
       started_epoch as "startedEpoch", retry_at is not null as "isRetried"
     from workflow_runs where id = any($1::text[])`,
    [[...ids]],
  );

/** Neither started before, nor taken up by the relay. */
export const isUntouched = ({ startedEpoch, isRetried }: KnownWorkflowRun): boolean =>
  startedEpoch === null && !isRetried;

/**
 * A row that another transaction has locked is left out, so that no call waits for it: the run is only started again.
 * Of a run whose row is final nothing is noted: no one starts it, and what opens it again forgets the start.
 */
export async function noteAllStarted(database: Database, started: readonly Started[]): Promise<void> {
  await runSql(
    database.read(),
    `update workflow_runs p set started_epoch = n.epoch, retry_at = null
     from unnest($1::text[], $2::text[]) as n(id, epoch)
     where p.id = n.id and p.id in (
       select id from workflow_runs where id = any($1::text[]) order by id for update skip locked)
       and (p.is_open and p.started_epoch is distinct from n.epoch or p.retry_at is not null)`,
    [started.map(({ id }) => id), started.map(({ epoch }) => epoch)],
  );
}
