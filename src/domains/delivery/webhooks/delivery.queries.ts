/** Delivery reads: one with its payload and attempts, and pages of one subscription. @module */
import { rows, type Tx } from '../../../db/tx.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { PageQuery } from '../../../kernel/page.ts';
import type { DeliveryStatus } from './delivery.rules.ts';
import type { WholeDeliveryWire } from './webhook.contract.ts';

export type AttemptRecord = WholeDeliveryWire['attempts'][number];

export type DeliveryRecord = {
  readonly id: Id<'delivery'>;
  readonly webhookId: Id<'webhook'>;
  readonly ownerId: string;
  readonly event: string;
  readonly eventId: Id<'event'>;
  readonly plan: string;
  readonly status: DeliveryStatus;
  readonly attemptsMade: number;
  readonly nextAttemptAt: Date | null;
  readonly lastAttempt: AttemptRecord | null;
  readonly lostReason: string | null;
  readonly createdAt: Date;
  readonly deliveredAt: Date | null;
};
export type WholeDelivery = DeliveryRecord & {
  readonly attempts: AttemptRecord[];
  readonly data: Record<string, unknown>;
  readonly occurredAt: Date;
  readonly sequence: number;
};

export type DeliveryFilter = {
  readonly webhookId: Id<'webhook'>;
  readonly status?: DeliveryStatus | undefined;
  readonly event?: string | undefined;
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
};

export async function findDelivery(tx: Tx, id: Id<'delivery'>): Promise<WholeDelivery | null> {
  const [row] = await rows<WholeDelivery>(
    tx,
    `select ${columns}, d.attempts, e.data, e.created_at as "occurredAt", e.seq as sequence
     from webhook_deliveries d join events e on e.id = d.event_id where d.id = $1`,
    [id],
  );
  return row ?? null;
}

/** Up to `limit + 1` rows, newest first. */
export async function listDeliveries(tx: Tx, filter: DeliveryFilter, page: PageQuery): Promise<DeliveryRecord[]> {
  const conditions: [sql: string, value: unknown][] = [
    ['d.webhook_id = ?', filter.webhookId],
    ['d.status = ?', filter.status],
    ['d.event = ?', filter.event],
    ['d.created_at >= ?', filter.from],
    ['d.created_at < ?', filter.to],
  ];
  const given = conditions.filter(([, value]) => value !== undefined);
  const params = given.map(([, value]) => value);
  const where = given.map(([sql], index) => sql.replace('?', `$${index + 1}`));
  if (page.after !== undefined) {
    where.push(`(d.created_at, d.id) < ($${params.length + 1}::timestamptz, $${params.length + 2})`);
    params.push(page.after.createdAt, page.after.id);
  }
  return rows<DeliveryRecord>(
    tx,
    `select ${columns} from webhook_deliveries d where ${where.join(' and ')}
     order by d.created_at desc, d.id desc limit ${page.limit + 1}`,
    params,
  );
}

const columns = `d.id, d.webhook_id as "webhookId", d.owner_id as "ownerId", d.event, d.event_id as "eventId", d.plan,
  d.status, d.attempts_made as "attemptsMade", d.next_attempt_at as "nextAttemptAt", d.attempts -> -1 as "lastAttempt",
  d.lost_reason as "lostReason", d.created_at as "createdAt", d.delivered_at as "deliveredAt"`;
