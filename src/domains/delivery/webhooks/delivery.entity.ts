/** The deliveries of a webhook subscription, the samples of its tests, and its health, now and by the hour. Persistence only. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../../../db/tables.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { DeliveryOrigin, DeliveryStatus } from './delivery.rules.ts';
import type { WholeDeliveryWire } from './webhook.contract.ts';

export type AttemptRecord = WholeDeliveryWire['attempts'][number];

export const WebhookDeliverySchema = defineEntity({
  name: 'WebhookDelivery',
  tableName: 'webhook_deliveries',
  properties: {
    id: p.text().$type<Id<'delivery'>>().primary(),
    seq: p.bigint('number').defaultRaw('default'),
    webhookId: p.text().$type<Id<'webhook'>>(),
    ownerId: p.text(),
    eventId: p.text().$type<Id<'event'>>(),
    event: p.text(),
    plan: p.text(),
    status: p.text().$type<DeliveryStatus>(),
    attemptsMade: p.integer().defaultRaw('default'),
    claims: p.integer().defaultRaw('default'),
    leaseUntil: p.datetime().nullable(),
    nextAttemptAt: p.datetime().nullable(),
    /** Those that failed, and of older deliveries all. */
    attempts: p.json<AttemptRecord[]>().defaultRaw('default'),
    /** Of the attempt that succeeded, with `successMs`. */
    successStatus: p.integer().nullable(),
    successMs: p.integer().nullable(),
    lostReason: p.text().nullable(),
    subjectId: p.text().nullable(),
    isParked: p.boolean().defaultRaw('default'),
    origin: p.text().$type<DeliveryOrigin>().nullable(),
    causeId: p.text().nullable(),
    dismissedAt: p.datetime().nullable(),
    createdAt: p.datetime(),
    deliveredAt: p.datetime().nullable(),
    /** Of those with `lostReason`. */
    endedAt: p.datetime().nullable(),
  },
});

export const WebhookHealthSchema = defineEntity({
  name: 'WebhookHealth',
  tableName: 'webhook_health',
  properties: {
    webhookId: p.text().$type<Id<'webhook'>>().primary(),
    failuresInRow: p.integer().defaultRaw('default'),
    /** What `unansweredInRow` counts. The version before this one knows no other name, so this one is read. */
    timeoutsInRow: p.integer().defaultRaw('default'),
    /** Attempts in a row without an answer: no connection, or none in time. Written beside the old name, and read later. */
    unansweredInRow: p.integer().defaultRaw('default'),
    /** While it is probed: no first attempt begins before. Real time. */
    probeAfter: p.datetime().nullable(),
    failingSince: p.datetime().nullable(),
    lastOutcome: p.text().nullable(),
    lastStatus: p.integer().nullable(),
  },
});

export const WebhookHourSchema = defineEntity({
  name: 'WebhookHour',
  tableName: 'webhook_hours',
  properties: {
    webhookId: p.text().$type<Id<'webhook'>>().primary(),
    hour: p.datetime().primary(),
    attempts: p.integer(),
    failures: p.integer(),
    answered: p.integer(),
    answerMs: p.bigint('number'),
    slowestMs: p.integer(),
  },
});

export const WebhookTestEventSchema = defineEntity({
  name: 'WebhookTestEvent',
  tableName: 'webhook_test_events',
  properties: {
    id: p.text().$type<Id<'event'>>().primary(),
    ownerId: p.text(),
    name: p.text(),
    data: p.json<Record<string, unknown>>(),
    requestId: p.text(),
    runId: p.text().nullable(),
    createdAt: p.datetime(),
  },
});

declare module '../../../db/tables.ts' {
  interface Tables {
    webhook_deliveries: TableOf<typeof WebhookDeliverySchema>;
    webhook_health: TableOf<typeof WebhookHealthSchema>;
    webhook_hours: TableOf<typeof WebhookHourSchema>;
    webhook_test_events: TableOf<typeof WebhookTestEventSchema>;
  }
}
