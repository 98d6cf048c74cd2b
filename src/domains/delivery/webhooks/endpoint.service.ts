/**
 * The retries of one subscription for its workflow run: the waiting deliveries, the next step, and the commands of an
 * operator. The row in `workflow_runs` is locked while the end is decided, so that a concurrent failure either is seen
 * or opens it again.
 * @module
 */
import * as z from 'zod';
import { type Given, query } from '../../../db/db.ts';
import { firstRowOf, oneRowOf } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { notFound } from '../../../kernel/errors.ts';
import type { Id } from '../../../kernel/ids.ts';
import { isoOrNull, later } from '../../../kernel/instant.ts';
import type { Clock } from '../../../platform/clock.ts';
import { closeWorkflowRun, lockWorkflowRun, setWorkflowRunDue } from '../../../platform/workflow-runs.ts';
import { isNotUnderWay } from './delivery.lease.service.ts';
import { waitsForRetry } from './delivery.order.service.ts';
import { type EndpointChange, type EndpointNext, type EndpointView, endpointWorkflowId } from './endpoint.messages.ts';
import { type EndpointFacts, nextEndpointStep } from './endpoint.rules.ts';
import { isProbed } from './webhook.rules.ts';

/** Undefined while the subscription is open. */
export const whyEndpointClosed = async (
  tx: Tx,
  webhookId: Id<'webhook'>,
): Promise<'deleted' | 'disabled' | undefined> => whyClosed(await subscriptionOf(tx, webhookId));

/** What the run does now. Closes the run where nothing waits. */
export async function decideNextStep(
  tx: Tx,
  webhookId: string,
  perReceiver: number,
  clock: Pick<Clock, 'now'>,
): Promise<EndpointNext> {
  const workflowId = endpointWorkflowId(webhookId);
  await lockWorkflowRun(tx, workflowId);
  // Both reads after the lock, which fulfils the wake: they see every change, also of the clock, that wanted it.
  const now = await clock.now(tx);
  const standing = await standingOf(tx, webhookId);
  const step = nextEndpointStep(standing, perReceiver, now);
  if (step.kind === 'final') await closeWorkflowRun(tx, workflowId, { isOwnStep: true });
  else await setWorkflowRunDue(tx, workflowId, step.kind === 'wait' ? later(now, step.waitMs) : now);
  return { kind: step.kind, waitMs: step.waitMs, view: viewOf(webhookId, standing, step.kind === 'final') };
}

type Waiting = { readonly webhookId: Id<'webhook'>; readonly deliveryId: Id<'delivery'> | null };

const isWaiting = `d.webhook_id = $1 and ${waitsForRetry} and ${isNotUnderWay('d', 'array[$1::text]')}`;
const waiting = `($2::text is null or d.id = $2) and ${isWaiting}`;

/** Makes up to `limit` waiting deliveries due now; answers how many. `deliveryId` null: all of the subscription. */
export async function makeDue(tx: Tx, { webhookId, deliveryId }: Waiting, now: Date, limit: number): Promise<number> {
  const { changed } = await oneRowOf(
    tx,
    z.object({ changed: z.int() }),
    `with changed as (
       update webhook_deliveries set next_attempt_at = $3 where status = 'pending' and id in (
         select d.id from webhook_deliveries d where ${waiting} and d.next_attempt_at > $3 order by d.seq limit $4::int
         for update skip locked)
       returning 1)
     select count(*)::int as changed from changed`,
    [webhookId, deliveryId, now, limit],
  );
  return changed;
}

export const countDue = (tx: Tx, { webhookId, deliveryId }: Waiting, now: Date): Promise<EndpointChange> =>
  oneRowOf(
    tx,
    z.object({ deliveries: z.int() }),
    `select count(*)::int as deliveries from webhook_deliveries d where ${waiting} and d.next_attempt_at <= $3`,
    [webhookId, deliveryId, now],
  );

const subscription = query((from, given: Given<{ id: string }>) =>
  from.selectFrom('webhooks').select(['status', 'deletedAt']).where('id', '=', given('id')),
);
type Subscription = Awaited<ReturnType<typeof subscription.all>>[number];

async function subscriptionOf(tx: Tx, id: Id<'webhook'>): Promise<Subscription> {
  const row = await subscription.first(tx, { id });
  if (row === null) throw notFound('webhook', id);
  return row;
}

function whyClosed({ status, deletedAt }: Subscription): 'deleted' | 'disabled' | undefined {
  if (deletedAt !== null) return 'deleted';
  return status === 'disabled' ? 'disabled' : undefined;
}

type Standing = EndpointFacts &
  Pick<EndpointView, 'lastStatus' | 'lastOutcome'> & {
    readonly oldestAt: Date | null;
    /**
     * The subscription exists, and deliveries to it were given up that nobody has dismissed and whose event has not been
     * delivered, or queued, again.
     */
    readonly hasLost: boolean;
  };

const standingRow: z.ZodType<Standing> = z.object({
  isPaused: z.boolean(),
  waiting: z.int(),
  nextAttemptAt: z.date().nullable(),
  underWay: z.int(),
  orphaned: z.int(),
  leaseLeftMs: z.int(),
  openRequests: z.int(),
  unansweredInRow: z.int(),
  lastStatus: z.int().nullable(),
  lastOutcome: z.enum(['failure', 'timeout', 'gone']).nullable(),
  oldestAt: z.date().nullable(),
  hasLost: z.boolean(),
});

async function standingOf(tx: Tx, webhookId: string): Promise<Standing> {
  const row = await firstRowOf(
    tx,
    standingRow,
    `select w.status = 'paused' as "isPaused", h.timeouts_in_row as "unansweredInRow", h.last_status as "lastStatus",
       h.last_outcome as "lastOutcome", waits.*, held.*,
       w.deleted_at is null and exists (
         select from webhook_deliveries d where d.webhook_id = w.id and d.status in ('failed', 'dead')
           and d.dismissed_at is null and not exists (
             select from webhook_deliveries again where again.webhook_id = d.webhook_id and again.event_id = d.event_id
               and again.origin is not null and again.status in ('pending', 'delivering', 'succeeded'))) as "hasLost",
       (select created_at from webhook_deliveries d
        where ${isWaiting} order by d.seq limit 1) as "oldestAt"
     from webhooks w join webhook_health h on h.webhook_id = w.id
     cross join lateral (
       select count(*)::int as waiting, min(next_attempt_at) as "nextAttemptAt" from webhook_deliveries d
       where ${isWaiting}) waits
     cross join lateral (
       select coalesce(sum(requests) filter (where is_retry and lease_until > now()), 0)::int as "underWay",
         coalesce(sum(requests) filter (where is_retry and lease_until <= now()), 0)::int as orphaned,
         coalesce(sum(requests) filter (where lease_until > now()), 0)::int as "openRequests",
         coalesce(ceil(extract(epoch from min(lease_until) filter (where is_retry and lease_until > now()) - now())
           * 1000), 0)::int as "leaseLeftMs"
       from (
         select c.is_retry, c.lease_until, cardinality(c.seqs) as requests from delivery_claims c where c.webhook_id = $1
         union all
         -- Claimed by the version before this one.
         select d.attempts_made > 0, d.lease_until, 1 from webhook_deliveries d
         where d.webhook_id = $1 and d.status = 'delivering') c) held
     where w.id = $1`,
    [webhookId],
  );
  if (row === undefined) throw notFound('webhook', webhookId);
  return row;
}

const viewOf = (webhookId: string, standing: Standing, isFinal: boolean): EndpointView => ({
  webhookId,
  stage: stageOf(standing, isFinal),
  waiting: standing.waiting,
  underWay: standing.underWay,
  oldestAt: isoOrNull(standing.oldestAt),
  nextAttemptAt: isoOrNull(standing.nextAttemptAt),
  lastStatus: standing.lastStatus,
  lastOutcome: standing.lastOutcome,
});

function stageOf({ isPaused, unansweredInRow, hasLost }: Standing, isFinal: boolean): EndpointView['stage'] {
  if (isFinal) return hasLost ? 'dead_letters' : 'ended';
  if (isPaused) return 'paused';
  return isProbed(unansweredInRow) ? 'probing' : 'retrying';
}
