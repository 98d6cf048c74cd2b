/**
 * Takes bounded batches off the three queues of the table of workflow runs: wakes, starts and rescues. Each workflow
 * type has an equal share of a batch, and so has each owner within its type. Takes only; signals nobody.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../db/database.ts';
import { rows } from '../db/tx.ts';
import type { Process } from '../platform/processes.ts';
import { rowsByIndex } from './by-index.ts';

export type QueueName = 'wakes' | 'starts' | 'rescues';

export type Claimed = Process & {
  readonly isOpen: boolean;
  /** Of a wake: until when the claim holds, as PostgreSQL writes it. Whoever confirms the wake names it. */
  readonly lease: string | null;
  /** Of a rescue: false when the row's deadline has moved since the row was found overdue. */
  readonly isOverdue: boolean;
};

type Request = {
  readonly most: number;
  /** Rows that this pass has taken already. */
  readonly taken: readonly string[];
  /** A row whose deadline (business time) is older is overdue. */
  readonly overdueBefore: Date;
};

/** How long a claim holds: longer than the longest call to Temporal, so that a slow call is not repeated meanwhile. */
const leaseSeconds = 10;
const rescueEverySeconds = 60;
const markedAtOnce = 1_000;

type Queue = {
  /** The predicate of the queue's index. */
  readonly waits: string;
  /** From when a row may be taken, as the index has it. */
  readonly readyAt: string;
  readonly readyBefore: string;
  readonly order: string;
  readonly take: string;
  /** Undoes `take` for rows that nobody has got to. */
  readonly release: string;
};

// A run that is started or woken while it is overdue needs no rescue within the next minute.
const noteRescue = 'rescued_at = case when due_at < $4 then now() else rescued_at end';

const queues: Record<QueueName, Queue> = {
  // A claim that nobody confirms is made again: a wake may come twice, it is never lost.
  wakes: {
    waits: '(wanted_wake or waking_until is not null)',
    readyAt: `coalesce(waking_until, '-infinity')`,
    readyBefore: 'now()',
    order: '',
    take: `wanted_wake = false, waking_until = now() + interval '${leaseSeconds} seconds', ${noteRescue}`,
    release: 'wanted_wake = true, waking_until = null',
  },
  starts: {
    waits: 'is_open and started_epoch is null',
    readyAt: `coalesce(retry_at, '-infinity')`,
    readyBefore: 'now()',
    order: ', due_at',
    take: `retry_at = now() + interval '${leaseSeconds} seconds', ${noteRescue}`,
    release: 'retry_at = null',
  },
  rescues: {
    waits: 'is_open and rescued_at is not null and not wanted_wake',
    readyAt: 'rescued_at',
    readyBefore: `now() - interval '${rescueEverySeconds} seconds'`,
    order: '',
    take: 'rescued_at = case when due_at < $4 then now() end',
    release: `rescued_at = '-infinity'`,
  },
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
      const claimed = await rowsByIndex<Claimed>(database, claimStatements[queue], [
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
      await rows(
        database.read(),
        `update processes set ${queues[queue].release} where id in (
           select id from processes where id = any($1::text[]) for update skip locked)`,
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
  await rowsByIndex(
    database,
    `update processes set started_epoch = null, retry_at = null where id = any(array(
       select id from (select id from processes
         where is_open and started_epoch < $1 limit ${markedAtOnce} for update skip locked) earlier
       union all
       select id from (select id from processes
         where is_open and started_epoch > $1 limit ${markedAtOnce} for update skip locked) later))`,
    [epoch],
  );
}

/** What has become overdue since the last look joins the queue of rescues. */
export async function noteOverdue(database: Database, overdueBefore: Date): Promise<void> {
  await rowsByIndex(
    database,
    `update processes set rescued_at = '-infinity' where id = any(array(
       select id from processes
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
    const confirmed = await rows<{ id: string }>(
      database.read(),
      `update processes p set waking_until = null
       from unnest($1::text[], $2::timestamptz[]) as w(id, lease)
       where p.id = w.id and p.waking_until = w.lease and p.id in (
         select id from processes where id = any($1::text[]) order by id for update skip locked)
       returning p.id`,
      [open.map(({ id }) => id), open.map(({ lease }) => lease)],
    );
    const ids = new Set(confirmed.map(({ id }) => id));
    open = open.filter(({ id }) => !ids.has(id));
  }
}

const confirmAttempts = 3;
const confirmPauseMs = 20;

/** Each step from one type or owner to the next is one look into the queue's index, past all rows between them. */
const claimStatement = ({ waits, readyAt, readyBefore, order, take }: Queue): string => {
  const ready = `${waits} and ${readyAt} < ${readyBefore}`;
  return `
with recursive
  types as (
    (select workflow from processes where ${ready} order by workflow limit 1)
    union all
    select next.workflow from types t cross join lateral (
      select workflow from processes where ${ready} and workflow > t.workflow order by workflow limit 1) next
  ),
  -- The owner served last, and how many rows a type may have.
  shares as materialized (
    select workflow, coalesce($2::jsonb ->> workflow, '') as served, greatest(1, $1::int / count(*) over ()) as most
    from types
  ),
  owners as (
    select s.workflow, s.served, s.most, o.owner_id, o.is_again, 1 as number
    from shares s cross join lateral (
      (select owner_id, false as is_again from processes
        where ${ready} and workflow = s.workflow and owner_id > s.served order by owner_id limit 1)
      union all
      (select owner_id, true from processes
        where ${ready} and workflow = s.workflow and owner_id <= s.served order by owner_id limit 1)
      order by is_again limit 1) o
    union all
    select o.workflow, o.served, o.most, next.owner_id, next.is_again, o.number + 1
    from owners o cross join lateral (
      (select owner_id, o.is_again from processes
        where ${ready} and workflow = o.workflow and owner_id > o.owner_id
          and (not o.is_again or owner_id <= o.served) order by owner_id limit 1)
      union all
      (select owner_id, true from processes
        where ${ready} and not o.is_again and workflow = o.workflow and owner_id <= o.served order by owner_id limit 1)
      order by 2 limit 1) next
    where o.number < o.most
  ),
  owner_shares as materialized (
    select workflow, owner_id, greatest(1, most / count(*) over (partition by workflow)) as most from owners
  ),
  picked as materialized (
    select p.id from owner_shares s cross join lateral (
      select id from processes
      where ${ready} and workflow = s.workflow and owner_id = s.owner_id and id <> all($3::text[])
      order by ${readyAt}${order} limit s.most for update skip locked) p
  )
update processes set ${take} where id = any(array(select id from picked))
returning id, workflow, subject_id as "subjectId", owner_id as "ownerId", agent_id as "agentId", stage,
  is_open as "isOpen", waking_until::text as lease, due_at < $4::timestamptz as "isOverdue"`;
};

/** Exported for the test that reads their plans. */
export const claimStatements: Record<QueueName, string> = {
  wakes: claimStatement(queues.wakes),
  starts: claimStatement(queues.starts),
  rescues: claimStatement(queues.rescues),
};
