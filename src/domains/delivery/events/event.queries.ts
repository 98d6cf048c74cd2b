/** Reads an owner's events behind a position, a bounded number of rows at a time. @module */
import * as z from 'zod';
import { rowsOf } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import './purged-events.entity.ts';

export type FeedFilter = {
  readonly ownerId: string;
  readonly agentId?: string | undefined;
  readonly after: number | 'now';
  /** Events behind it may still be joined by others. */
  readonly through: number;
  readonly limit: number;
};

const feedRow = z.object({
  scanned: z.number(),
  last: z.number().nullable(),
  position: z.number().nullable(),
  removedThrough: z.number().nullable(),
  id: z.string().nullable(),
  event: z.string().nullable(),
  agentId: z.string().nullable(),
  subjectId: z.string().nullable(),
  requestId: z.string().nullable(),
  runId: z.string().nullable(),
  createdAt: z.date().nullable(),
  data: z.record(z.string(), z.unknown()).nullable(),
});

const complete = feedRow.extend({
  position: z.number(),
  id: z.string(),
  event: z.string(),
  subjectId: z.string(),
  requestId: z.string(),
  createdAt: z.date(),
  data: z.record(z.string(), z.unknown()),
});
export type FeedRow = Omit<z.output<typeof complete>, 'scanned' | 'last' | 'removedThrough'>;
export type Feed = { readonly events: readonly FeedRow[]; readonly position: number; readonly hasMore: boolean };

/** `removedThrough`: the number of the owner's last event that is not kept any more; 0 where all are. */
export type FoundFeed = Feed & { readonly removedThrough: number };

/** An owner's events that one call looks at, however few of them are the agent's. */
const mostScanned = 1_000;

export async function readFeed(tx: Tx, { ownerId, agentId, after, through, limit }: FeedFilter): Promise<FoundFeed> {
  if (after === 'now') return { events: [], position: through, hasMore: false, removedThrough: 0 };
  const rows = await rowsOf(
    tx,
    feedRow,
    `with scanned as (
       select seq, agent_id from events where owner_id = $1 and seq > $2 and seq <= $3 order by seq limit $4
     ), wanted as (
       select seq from scanned where $5::text is null or agent_id = $5 order by seq limit $6
     )
     select s.scanned::float8 as scanned, s.last::float8 as last, e.seq::float8 as position, e.id, e.name as event,
       e.agent_id as "agentId", e.subject_id as "subjectId", e.request_id as "requestId", e.run_id as "runId",
       e.created_at as "createdAt", e.data,
       (select p.through from purged_events p where p.owner_id = $1)::float8 as "removedThrough"
     from (select count(*) as scanned, max(seq) as last from scanned) s
     left join (wanted join events e using (seq)) on true
     order by e.seq`,
    [ownerId, after, through, mostScanned, agentId ?? null, limit + 1],
  );
  const found = rows.filter(({ id }) => id !== null).map((row) => complete.parse(row));
  const events = found.slice(0, limit);
  const { scanned = 0, last = null } = rows[0] ?? {};
  const common = { events, removedThrough: rows[0]?.removedThrough ?? 0 };
  if (found.length > limit) return { ...common, position: events.at(-1)?.position ?? after, hasMore: true };
  if (scanned === mostScanned && last !== null) return { ...common, position: last, hasMore: true };
  return { ...common, position: Math.max(after, through), hasMore: false };
}
