/**
 * Claims bounded batches of the three queues of the table of workflow runs: wakes, starts and rescues. Each workflow
 * type has an equal share of a batch, and so has each owner within its type. Sends no signal.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import type { Database } from '../db/database.ts';
import { idRow } from '../db/row-values.ts';
import { rowsOf, runSql } from '../db/statement.ts';
import { workflowRun } from '../platform/workflow-runs.ts';
import { runByIndex } from './by-index.ts';

export type QueueName = 'wakes' | 'starts' | 'rescues';

const claimedRun = workflowRun.extend({
  isOpen: z.boolean(),
  /** Of a wake: until when the claim holds, as PostgreSQL writes it. The confirmation of the wake names it. */
  lease: z.string().nullable(),
  /** Of a rescue: false when the row's deadline has moved since the row was found overdue. */
  isOverdue: z.boolean(),
});
export type Claimed = Readonly<z.output<typeof claimedRun>>;

type Request = {
  readonly most: number;
  /** Rows that this pass has taken already. */
  readonly taken: readonly string[];
  /** A row whose deadline (business time) is older is overdue. */
  readonly overdueBefore: Date;
};

const markedAtOnce = 1_000;

/** Undoes the claim of a row whose call was not begun. */
const releases: Record<QueueName, string> = {
  wakes: 'wanted_wake = true, waking_until = null',
  starts: 'retry_at = null',
  rescues: `rescued_at = '-infinity'`,
};

export type Claims = {
  /** Takes at most `most` rows, first those that are first in their owner's part of the queue. */
  claim(queue: QueueName, request: Request): Promise<Claimed[]>;
  release(queue: QueueName, claimed: readonly Claimed[]): Promise<void>;
};

/** Remembers per queue and type which owner was served last; the next batch goes on behind it. */
export function createClaims(database: Database): Claims {
  const served: Record<QueueName, Record<string, string>> = { wakes: {}, starts: {}, rescues: {} };
  return {
    claim: async (queue, { most, taken, overdueBefore }) => {
      const claimed = await rowsOf(database.read(), claimedRun, claimStatement, [
        queue,
        most,
        JSON.stringify(served[queue]),
        taken,
        overdueBefore,
      ]);
      for (const { workflow, ownerId } of inServingOrder(claimed, served[queue])) served[queue][workflow] = ownerId;
      return interleaved(claimed);
    },
    release: async (queue, claimed) => {
      if (claimed.length === 0) return;
      await runSql(
        database.read(),
        `update workflow_runs set ${releases[queue]} where id in (
           select id from workflow_runs where id = any($1::text[]) for update skip locked)`,
        [claimed.map(({ id }) => id)],
      );
    },
  };
}

/** Of each owner the first row, then of each the second, and so on. */
export function interleaved<Row extends Pick<Claimed, 'workflow' | 'ownerId'>>(claimed: readonly Row[]): Row[] {
  const seen = new Map<string, number>();
  return claimed
    .map((row) => {
      const key = `${row.workflow} ${row.ownerId}`;
      const rank = seen.get(key) ?? 0;
      seen.set(key, rank + 1);
      return { row, rank };
    })
    .sort((a, b) => a.rank - b.rank)
    .map(({ row }) => row);
}

/** Owners behind the one served last, then from the beginning. */
const inServingOrder = (claimed: readonly Claimed[], served: Readonly<Record<string, string>>): Claimed[] => {
  const isNextRound = ({ workflow, ownerId }: Claimed): number => Number(ownerId <= (served[workflow] ?? ''));
  return claimed.toSorted((a, b) => isNextRound(a) - isNextRound(b) || (a.ownerId < b.ownerId ? -1 : 1));
};

/** Rows that were started in another Temporal, or in the same one before it lost its database, count as not started. */
export async function forgetOtherEpochs(database: Database, epoch: string): Promise<void> {
  await runByIndex(
    database,
    `update workflow_runs set started_epoch = null, retry_at = null where id = any(array(
       select id from (select id from workflow_runs
         where is_open and started_epoch < $1 limit ${markedAtOnce} for update skip locked) earlier
       union all
       select id from (select id from workflow_runs
         where is_open and started_epoch > $1 limit ${markedAtOnce} for update skip locked) later))`,
    [epoch],
  );
}

/** What has become overdue since the last look joins the queue of rescues. */
export async function noteOverdue(database: Database, overdueBefore: Date): Promise<void> {
  await runByIndex(
    database,
    `update workflow_runs set rescued_at = '-infinity' where id = any(array(
       select id from workflow_runs
       where is_open and due_at is not null and due_at < $1 and started_epoch is not null and rescued_at is null
         and not wanted_wake and waking_until is null
       order by due_at limit ${markedAtOnce} for update skip locked))`,
    [overdueBefore],
  );
}

/**
 * The wakes have arrived. A claim that was made anew meanwhile is left alone: it may be for a later change. What another
 * transaction holds is tried a few times, because an unconfirmed wake is sent again.
 */
export async function confirmWakes(database: Database, woken: readonly Claimed[]): Promise<void> {
  let open = woken;
  for (let attempt = 1; open.length > 0 && attempt <= confirmAttempts; attempt++) {
    if (attempt > 1) await sleep(confirmPauseMs);
    const confirmed = await rowsOf(
      database.read(),
      idRow,
      `update workflow_runs p set waking_until = null
       from unnest($1::text[], $2::timestamptz[]) as w(id, lease)
       where p.id = w.id and p.waking_until = w.lease and p.id in (
         select id from workflow_runs where id = any($1::text[]) order by id for update skip locked)
       returning p.id`,
      [open.map(({ id }) => id), open.map(({ lease }) => lease)],
    );
    const ids = new Set(confirmed.map(({ id }) => id));
    open = open.filter(({ id }) => !ids.has(id));
  }
}

const confirmAttempts = 3;
const confirmPauseMs = 20;

/** See src/db/functions/claim-runs.sql. */
export const claimStatement = `select id, workflow, subject_id as "subjectId", owner_id as "ownerId",
    agent_id as "agentId", stage, amount_cents::float8 as "amountCents", is_open as "isOpen", waking_until::text as lease,
    coalesce(due_at < $5::timestamptz, false) as "isOverdue"
  from claim_runs($1, $2::int, $3::jsonb, $4::text[], $5)`;
