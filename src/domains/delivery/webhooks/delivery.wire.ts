/** The shape of a delivery for its owner. Shapes only. @module */
import type { DeliveryRecord, WholeDelivery } from './delivery.queries.ts';
import { tierOf } from './delivery.rules.ts';
import type { DeliveryWire, WholeDeliveryWire } from './webhook.contract.ts';

export const deliveryWire = (row: DeliveryRecord): DeliveryWire => ({
  id: row.id,
  webhookId: row.webhookId,
  event: row.event,
  eventId: row.eventId,
  status: row.status,
  attempt: row.attemptsMade,
  maxAttempts: tierOf(row.plan).maxAttempts,
  nextAttemptAt: row.nextAttemptAt?.toISOString() ?? null,
  responseStatus: row.lastAttempt?.responseStatus ?? null,
  responseMs: row.lastAttempt?.responseMs ?? null,
  error: row.lostReason ?? row.lastAttempt?.error ?? null,
  origin: row.origin ?? 'event',
  createdAt: row.createdAt.toISOString(),
  deliveredAt: row.deliveredAt?.toISOString() ?? null,
});

export const wholeDeliveryWire = (row: WholeDelivery): WholeDeliveryWire => ({
  ...deliveryWire(row),
  sequence: row.sequence,
  payload: payloadOf(row),
  attempts: row.attempts,
});

const payloadOf = ({ event, occurredAt, data, sequence }: WholeDelivery): WholeDeliveryWire['payload'] =>
  occurredAt === null || data === null ? null : { event, createdAt: occurredAt.toISOString(), data, sequence };
