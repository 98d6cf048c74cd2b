/** Deliveries that wait at one receiver, as rows, how many of them a condition holds for, and how many were read. @module */
import * as z from 'zod';
import type { Database } from '../../src/db/database.ts';
import { oneRowOf } from '../../src/db/statement.ts';
import type { Tx } from '../../src/db/tx.ts';
import type { Id } from '../../src/kernel/ids.ts';
import type { DeliveryWorld, Subscriber } from './delivery-world.ts';
import { businessNow } from './world.ts';

export type Subscribed = Subscriber & { readonly webhookId: Id<'webhook'> };

/** A new owner with one subscription, whose receiver is the box of that name. */
export async function subscribedTo(bursar: DeliveryWorld, box: string, ordered = false): Promise<Subscribed> {
  const owner = await bursar.subscriber();
  const { id } = await owner.webhooks.createWebhook({
    body: { url: bursar.receiver.urlOf(box), events: ['policy.created'], ordered },
  });
  return { ...owner, webhookId: id as Id<'webhook'> };
}

export type Backlog = {
  readonly count: number;
  readonly subject?: string;
  readonly attempts?: number;
  readonly dueInMs?: number;
};

/** Deliveries of one event, as many events would have left them. `subject` is SQL over their number `n`. */
export async function addBacklog(
  { world }: DeliveryWorld,
  { webhookId, ownerId }: Subscribed,
  { count, subject = 'null', attempts = 0, dueInMs = 0 }: Backlog,
): Promise<void> {
  const now = await businessNow(world);
  await world.sql(
    `with made as (
       insert into events (id, owner_id, subject_id, name, data, request_id, created_at)
       values (new_time_ordered_id('evt'), $1, 'po_1', 'policy.deleted', '{"id": "po_1"}', 'a-request', $2) returning *)
     insert into webhook_deliveries (id, webhook_id, owner_id, event_id, event, plan, status, attempts_made, claims,
       next_attempt_at, created_at, subject_id)
     select new_time_ordered_id('whd'), $3, $1, made.id, made.name, 'enterprise', 'pending', $4, $4, $5, $2, ${subject}
     from made, generate_series(1, $6::int) n`,
    [ownerId, now, webhookId, attempts, new Date(now.getTime() + dueInMs), count],
  );
}

export async function countDeliveries({ world }: DeliveryWorld, webhookId: string, condition: string): Promise<number> {
  const [row] = await world.sql<{ count: number }>(
    `select count(*)::int as count from webhook_deliveries where webhook_id = $1 and ${condition}`,
    [webhookId],
  );
  return row?.count ?? 0;
}

/** The holders of these claims died long ago. */
export const endLeases = async ({ world }: DeliveryWorld, webhookId: string | null = null): Promise<void> => {
  await world.sql(
    `update delivery_claims set lease_until = now() - interval '1 second' where $1::text is null or webhook_id = $1`,
    [webhookId],
  );
};

const readRow = z.object({ entries: z.int(), blocks: z.int() });

/** What the transaction has read of deliveries so far: entries of indexes and blocks, those that were not found too. */
export const readSoFar = (tx: Tx): Promise<z.output<typeof readRow>> =>
  oneRowOf(
    tx,
    readRow,
    `select coalesce(sum(pg_stat_get_xact_tuples_returned(oid)), 0)::int as entries,
       coalesce(sum(pg_stat_get_xact_blocks_fetched(oid)), 0)::int as blocks
     from (select 'webhook_deliveries'::regclass as oid
           union all select indexrelid from pg_index where indrelid = 'webhook_deliveries'::regclass) parts`,
  );

/** For steps that a relay takes one after the other: all of them in one transaction, so that what they read is counted. */
export const inside = (tx: Tx): Pick<Database, 'read' | 'write'> => ({ read: () => tx, write: (work) => work(tx) });
