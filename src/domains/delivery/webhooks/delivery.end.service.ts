/**
 * Ends deliveries that get no further attempt: their subscription takes none, or an operator gave them up. They become
 * dead letters where their plan has these. An attempt under way is left to its result.
 * @module
 */
import * as z from 'zod';
import { businessNow } from '../../../db/business-now.ts';
import { oneRowOf } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { wakeWorkflowRuns } from '../../../platform/workflow-runs.ts';
import { isNotUnderWay, lockHealth, releaseExpired } from './delivery.lease.service.ts';
import { endedInOrder, freeNextOf, waitsForRetry, waitsUnparked } from './delivery.order.service.ts';
import { lostStatus, plans } from './delivery.rules.ts';
import { endpointWorkflowId } from './endpoint.messages.ts';

/**
 * Ends what waits at those of these subscriptions that are closed, however much, and wakes the runs of their retries. Returns
 * how many ended.
 */
export async function endPendingOf(tx: Tx, webhookIds: readonly string[], reason: string): Promise<number> {
  const ended = await endWaitingOf(tx, webhookIds, reason);
  await wakeWorkflowRuns(tx, webhookIds.map(endpointWorkflowId));
  return ended;
}

/** The same without a wake; also ends what was under way and whose holder died. */
export async function endWaitingOf(tx: Tx, webhookIds: readonly string[], reason: string): Promise<number> {
  await lockHealth(tx, webhookIds);
  await releaseExpired(tx, webhookIds);
  return end(
    tx,
    // One part for each index: finished deliveries are never read.
    `select d.id from webhook_deliveries d
     where d.webhook_id = any(${closed}) and ${waitsUnparked} and ${isNotUnderWay('d', '$3::text[]')}
     union all
     select id from webhook_deliveries where webhook_id = any(${closed}) and is_parked
     union all
     select d.id from webhook_deliveries d
     where d.webhook_id = any(${closed}) and ${waitsForRetry} and ${isNotUnderWay('d', '$3::text[]')}`,
    reason,
    [webhookIds],
  );
}

/**
 * Of the subscriptions in `$3`. Read by the statement that ends, because the caller may have read them in an earlier
 * transaction: what was added after the owner opened one again must not end.
 */
const closed = `array(
  select w.id from webhooks w where w.id = any($3::text[]) and (w.deleted_at is not null or w.status = 'disabled'))`;

/** Ends up to `most` deliveries of one subscription that wait for another attempt. `deliveryId` null: any of them. */
export async function endRetriesOf(
  tx: Tx,
  { webhookId, deliveryId }: { readonly webhookId: string; readonly deliveryId: string | null },
  most: number,
  reason: string,
): Promise<number> {
  await lockHealth(tx, [webhookId]);
  return end(
    tx,
    `select d.id from webhook_deliveries d
     where d.webhook_id = $3 and ($4::text is null or d.id = $4) and ${waitsForRetry}
       and ${isNotUnderWay('d', 'array[$3::text]')}
     order by d.seq limit $5::int for update skip locked`,
    reason,
    [webhookId, deliveryId, most],
  );
}

/**
 * Ends deliveries that the caller has claimed and whose event is not kept any more, and what else waits
 * without an event at their subscriptions. What another transaction holds is left to a later claim. Waits for no lock,
 * because a claim of retries holds the health of its receiver.
 */
export function endWithoutEvent(
  tx: Tx,
  claimed: readonly { readonly id: string; readonly webhookId: string }[],
): Promise<number> {
  return end(
    tx,
    `select unnest($3::text[])
     union all
     select id from (
      select d.id from webhook_deliveries d
      where d.webhook_id = any($4::text[]) and d.status = 'pending' and not (${eventIsKept('d')})
        and ${isNotUnderWay('d', '$4::text[]')}
      for update skip locked) waiting`,
    'its event is not kept any more',
    [claimed.map(({ id }) => id), [...new Set(claimed.map(({ webhookId }) => webhookId))]],
    'skip locked',
  );
}

/** Whether there is still something to send; `d` names the delivery. */
export const eventIsKept = (d: string): string =>
  `exists (select from events e where e.id = ${d}.event_id)
   or exists (select from webhook_test_events t where t.id = ${d}.event_id)`;

/** A dead letter of a deleted subscription can only be looked at, so it is not put into the queue; `d` has `webhook_id`. */
export const hasNoSubscription = (d: string): string =>
  `exists (select from webhooks gone where gone.id = ${d}.webhook_id and gone.deleted_at is not null)`;

async function end(
  tx: Tx,
  which: string,
  reason: string,
  params: readonly unknown[],
  locked: '' | 'skip locked' = '',
): Promise<number> {
  const { ended, inOrder } = await oneRowOf(
    tx,
    z.object({ ended: z.int(), inOrder: z.array(endedInOrder) }),
    `with ended as (
       update webhook_deliveries
       set status = case when plan = any($1::text[]) then 'dead' else 'failed' end, lost_reason = $2,
         next_attempt_at = null, is_parked = false, ended_at = ${businessNow},
         dismissed_at = case when plan = any($1::text[]) and ${hasNoSubscription('webhook_deliveries')} then ${businessNow} end
       where id in (${which}) and status = 'pending'
       returning webhook_id, subject_id, seq),
     subjects as (
       select webhook_id as "webhookId", subject_id as "subjectId", min(seq)::text as seq
       from ended where subject_id is not null group by webhook_id, subject_id)
     select (select count(*)::int from ended) as ended,
       (select coalesce(jsonb_agg(s), '[]') from subjects s) as "inOrder"`,
    [deadLetterPlans, reason, ...params],
  );
  await freeNextOf(tx, inOrder, locked);
  return ended;
}

const deadLetterPlans = plans.filter((plan) => lostStatus(plan) === 'dead');
