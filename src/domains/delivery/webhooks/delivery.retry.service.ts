/** What a delivery's retry does now, from its row: attempt, wait or end. Ends it where its subscription is closed. @module */
import type { Database } from '../../../db/database.ts';
import { rows } from '../../../db/tx.ts';
import { notFound } from '../../../kernel/errors.ts';
import type { Id } from '../../../kernel/ids.ts';
import { later, longestWaitMs, minute, second } from '../../../kernel/instant.ts';
import { endDelivery } from './delivery.end.service.ts';
import type { DeliveryNext, DeliveryView } from './delivery.messages.ts';
import { type DeliveryStatus, isFinalDelivery, tierOf } from './delivery.rules.ts';
import type { WebhookStatus } from './webhook.rules.ts';

const pausedWaitMs = 5 * minute;

export async function nextDeliveryStep(database: Database, id: Id<'delivery'>, now: Date): Promise<DeliveryNext> {
  const row = await standingOf(database, id);
  if (row === undefined) throw notFound('delivery', id);
  const view = viewOf(row);
  if (isFinalDelivery(row.status)) return { kind: 'final', waitMs: 0, until: null, view };
  // Past its lease nobody delivers: whoever held it died, and this run takes it over.
  if (row.leaseLeftMs > 0) return waiting(Math.max(second, row.leaseLeftMs), now, view);
  if (row.isDeleted || row.webhookStatus === 'disabled') {
    const reason = `the subscription was ${row.isDeleted ? 'deleted' : 'disabled'}`;
    await database.write((tx) => endDelivery(tx, id, reason));
    return nextDeliveryStep(database, id, now); // As the row says now: somebody may have been faster.
  }
  const untilDueMs = (row.nextAttemptAt?.getTime() ?? 0) - now.getTime();
  if (untilDueMs > 0) return waiting(Math.min(untilDueMs, longestWaitMs), now, view);
  if (row.webhookStatus === 'paused') return waiting(pausedWaitMs, now, view);
  return { kind: 'attempt', waitMs: 0, until: null, view };
}

const waiting = (waitMs: number, now: Date, view: DeliveryView): DeliveryNext => ({
  kind: 'wait',
  waitMs,
  until: later(now, waitMs).toISOString(),
  view,
});

type Standing = {
  id: Id<'delivery'>;
  webhookId: string;
  event: string;
  plan: string;
  status: DeliveryStatus;
  attemptsMade: number;
  nextAttemptAt: Date | null;
  leaseLeftMs: number;
  lastStatus: number | null;
  webhookStatus: WebhookStatus;
  isDeleted: boolean;
};

async function standingOf(database: Database, id: Id<'delivery'>): Promise<Standing | undefined> {
  const [row] = await rows<Standing>(
    database.read(),
    `select d.id, d.webhook_id as "webhookId", d.event, d.plan, d.status, d.attempts_made as "attemptsMade",
       d.next_attempt_at as "nextAttemptAt", (d.attempts -> -1 ->> 'responseStatus')::int as "lastStatus",
       ceil(coalesce(extract(epoch from d.lease_until - now()), 0) * 1000)::int as "leaseLeftMs",
       w.status as "webhookStatus", w.deleted_at is not null as "isDeleted"
     from webhook_deliveries d join webhooks w on w.id = d.webhook_id where d.id = $1`,
    [id],
  );
  return row;
}

const viewOf = (row: Standing): DeliveryView => ({
  deliveryId: row.id,
  webhookId: row.webhookId,
  event: row.event,
  status: row.status,
  attemptsMade: row.attemptsMade,
  maxAttempts: tierOf(row.plan).maxAttempts,
  lastStatus: row.lastStatus,
});
