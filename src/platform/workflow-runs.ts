/**
 * The workflow runs that rows need, stored beside the rows. Services write here inside their transaction; the relay and
 * the gateway make Temporal agree with it. No decision is made here.
 * @module
 */
import * as z from 'zod';
import { runSql } from '../db/statement.ts';
import type { Tx } from '../db/tx.ts';

export const workflowRun = z.object({
  /** Workflow id, `noun/{id}`. */
  id: z.string(),
  /** Workflow type. */
  workflow: z.string(),
  subjectId: z.string(),
  ownerId: z.string(),
  agentId: z.string().nullable(),
  /** Search attribute `BursarStage` at the start. */
  stage: z.string(),
  /** The amount that was asked for when the run was opened; none where the run is about no payment. */
  amountCents: z.number().nullish(),
});
export type WorkflowRun = Readonly<z.output<typeof workflowRun>>;
type NewWorkflowRun = WorkflowRun & { readonly dueAt: Date | null; readonly at: Date };

/** The run exists from this transaction on. `dueAt`: when it must act next, in business time. */
export async function openWorkflowRun(tx: Tx, run: NewWorkflowRun): Promise<void> {
  await runSql(
    tx,
    `insert into workflow_runs (id, workflow, subject_id, owner_id, agent_id, stage, due_at, created_at, amount_cents)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (id) do nothing`,
    valuesOf(run),
  );
}

/** Many new ones at once. */
export async function openWorkflowRuns(tx: Tx, runs: readonly NewWorkflowRun[]): Promise<void> {
  await runSql(
    tx,
    `insert into workflow_runs (id, workflow, subject_id, owner_id, agent_id, stage, due_at, created_at, amount_cents)
     select id, workflow, "subjectId", "ownerId", "agentId", stage, "dueAt", at, "amountCents"
     from jsonb_to_recordset($1::jsonb) as n (id text, workflow text, "subjectId" text, "ownerId" text, "agentId" text,
       stage text, "dueAt" timestamptz, at timestamptz, "amountCents" bigint)
     on conflict (id) do nothing`,
    [JSON.stringify(runs)],
  );
}

/**
 * Many at once, each open afterwards and due no later than asked: a missing one is inserted, a closed one opened again.
 * An open one is woken where it becomes due earlier, and left alone otherwise. Rows are locked in the order of their
 * ids.
 */
export async function ensureWorkflowRuns(
  tx: Tx,
  runs: readonly (NewWorkflowRun & { readonly dueAt: Date })[],
): Promise<void> {
  if (runs.length === 0) return;
  await runSql(
    tx,
    `insert into workflow_runs as p (id, workflow, subject_id, owner_id, agent_id, stage, due_at, created_at)
     select id, workflow, "subjectId", "ownerId", "agentId", stage, "dueAt", at
     from jsonb_to_recordset($1::jsonb) as n(id text, workflow text, "subjectId" text, "ownerId" text, "agentId" text,
       stage text, "dueAt" timestamptz, at timestamptz)
     order by id
     on conflict (id) do update set is_open = true, due_at = excluded.due_at, wanted_wake = true,
       stage = case when p.is_open then p.stage else excluded.stage end,
       started_epoch = case when p.is_open then p.started_epoch end
     where not p.is_open or p.due_at is null or p.due_at > excluded.due_at`,
    [JSON.stringify(runs)],
  );
}

/** The same, also where it had ended; either way it looks at its row soon. */
export async function reopenWorkflowRun(tx: Tx, run: NewWorkflowRun): Promise<void> {
  await runSql(
    tx,
    `insert into workflow_runs as p (id, workflow, subject_id, owner_id, agent_id, stage, due_at, created_at,
       amount_cents)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
     on conflict (id) do update set is_open = true, due_at = excluded.due_at, stage = excluded.stage,
       wanted_wake = true, started_epoch = case when p.is_open then p.started_epoch end`,
    valuesOf(run),
  );
}

/** The row changed: the run should look at it soon. `dueAt` undefined leaves the deadline as it is. */
export async function wakeWorkflowRun(tx: Tx, id: string, dueAt?: Date | null): Promise<void> {
  await (dueAt === undefined
    ? runSql(tx, 'update workflow_runs set wanted_wake = true where id = $1 and is_open', [id])
    : runSql(tx, 'update workflow_runs set wanted_wake = true, due_at = $2 where id = $1 and is_open', [id, dueAt]));
}

/** Many at once. */
export async function wakeWorkflowRuns(tx: Tx, ids: readonly string[], dueAt?: Date | null): Promise<void> {
  if (ids.length === 0) return;
  await runSql(
    tx,
    `update workflow_runs set wanted_wake = true, due_at = case when $2 then $3::timestamptz else due_at end
     where id = any($1::text[]) and is_open`,
    [[...ids], dueAt !== undefined, dueAt ?? null],
  );
}

/** Many at once, each with its deadline. */
export async function wakeWorkflowRunsAt(
  tx: Tx,
  wakes: readonly { readonly id: string; readonly dueAt: Date | null }[],
  { isOwnStep = false } = {},
): Promise<void> {
  if (wakes.length === 0) return;
  await runSql(
    tx,
    `update workflow_runs r set wanted_wake = r.wanted_wake or not $2, due_at = n."dueAt"
     from jsonb_to_recordset($1::jsonb) as n (id text, "dueAt" timestamptz) where r.id = n.id and r.is_open`,
    [JSON.stringify(wakes), isOwnStep],
  );
}

/**
 * For the run's own look at its rows: locks it until the transaction ends, so that no other transaction opens, closes
 * or moves it
 * meanwhile. A wake that was wanted is fulfilled by this look.
 */
export async function lockWorkflowRun(tx: Tx, id: string): Promise<void> {
  await runSql(tx, 'update workflow_runs set wanted_wake = false where id = $1', [id]);
}

/** Moves only the deadline; for the run's own steps, which need no wake. */
export async function setWorkflowRunDue(tx: Tx, id: string, dueAt: Date | null): Promise<void> {
  await runSql(tx, 'update workflow_runs set due_at = $2 where id = $1 and is_open', [id, dueAt]);
}

/**
 * The row is final. Its run is woken one last time and then ends, unless the change is its own step. Woken
 * also where no start is noted: one may be under way.
 */
export const closeWorkflowRun = (tx: Tx, id: string, options: { isOwnStep?: boolean } = {}): Promise<void> =>
  closeWorkflowRuns(tx, [id], options);

export async function closeWorkflowRuns(tx: Tx, ids: readonly string[], { isOwnStep = false } = {}): Promise<void> {
  if (ids.length === 0) return;
  await runSql(
    tx,
    `update workflow_runs set is_open = false, wanted_wake = not $2, due_at = null
     where id = any($1::text[]) and is_open`,
    [[...ids], isOwnStep],
  );
}

const valuesOf = ({
  id,
  workflow,
  subjectId,
  ownerId,
  agentId,
  stage,
  dueAt,
  at,
  amountCents = null,
}: NewWorkflowRun): unknown[] => [id, workflow, subjectId, ownerId, agentId, stage, dueAt, at, amountCents];
