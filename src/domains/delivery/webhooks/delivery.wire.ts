/** The shape of a delivery for its owner. Shapes only. @module */
import type { AttemptRecord } from './delivery.entity.ts';
import type { DeliveryRecord, WholeDelivery } from './delivery.queries.ts';
import { tierOf } from './delivery.rules.ts';
import type { DeliveryWire, WholeDeliveryWire } from './webhook.contract.ts';

export function deliveryWire(row: DeliveryRecord): DeliveryWire {
  const last = successOf(row) ?? row.lastRecorded;
  return {
    id: row.id,
    webhookId: row.webhookId,
    event: row.event,
    eventId: row.eventId,
    status: row.status,
    attempt: row.attemptsMade,
    maxAttempts: tierOf(row.plan).maxAttempts,
    nextAttemptAt: row.nextAttemptAt?.toISOString() ?? null,
    responseStatus: last?.responseStatus ?? null,
    responseMs: last?.responseMs ?? null,
    error: row.lostReason ?? last?.error ?? null,
    origin: row.origin ?? 'event',
    createdAt: row.createdAt.toISOString(),
    deliveredAt: row.deliveredAt?.toISOString() ?? null,
  };
}

export const wholeDeliveryWire = (row: WholeDelivery): WholeDeliveryWire => ({
  ...deliveryWire(row),
  sequence: row.sequence,
  payload: payloadOf(row),
  attempts: attemptsOf(row),
});

const attemptsOf = (row: WholeDelivery): AttemptRecord[] => {
  const success = successOf(row);
  return success === null ? [...row.attempts] : [...row.attempts, success];
};

/** Of a success no more is stored than what the delivery does not tell itself. */
function successOf(row: DeliveryRecord): AttemptRecord | null {
  const { successStatus, successMs, deliveredAt } = row;
  if (successStatus === null || successMs === null || deliveredAt === null) return null;
  return {
    attempt: row.attemptsMade,
    deliveryId: `${row.id}.${row.claims}`,
    at: new Date(deliveredAt.getTime() - successMs).toISOString(),
    responseStatus: successStatus,
    responseMs: successMs,
    error: null,
    responseBody: null,
  };
}

const payloadOf = ({ event, occurredAt, data, sequence }: WholeDelivery): WholeDeliveryWire['payload'] =>
  occurredAt === null || data === null ? null : { event, createdAt: occurredAt.toISOString(), data, sequence };
