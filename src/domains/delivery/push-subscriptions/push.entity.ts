/** The tables of push subscriptions, their keys and their messages. Persistence only. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../../../db/tables.ts';
import type { Cents } from '../../../kernel/money.ts';

export const PushKeySchema = defineEntity({
  name: 'PushKey',
  tableName: 'push_keys',
  properties: {
    id: p.bigint('number').primary(),
    publicKey: p.text(),
    sealedPrivateKey: p.text(),
    isCurrent: p.boolean(),
    createdAt: p.datetime(),
  },
});

export const PushSubscriptionSchema = defineEntity({
  name: 'PushSubscription',
  tableName: 'push_subscriptions',
  properties: {
    id: p.text().primary(),
    ownerId: p.text(),
    passkeyId: p.text().nullable(),
    endpoint: p.text(),
    sealedKeys: p.text(),
    keyId: p.bigint('number'),
    events: p.array(),
    deviceName: p.text().nullable(),
    createdAt: p.datetime(),
    lastSuccessAt: p.datetime().nullable(),
  },
});

export const PushMessageSchema = defineEntity({
  name: 'PushMessage',
  tableName: 'push_messages',
  properties: {
    id: p.bigint('number').primary(),
    subscriptionId: p.text(),
    kind: p.text(),
    subjectId: p.text(),
    event: p.text().nullable(),
    amountCents: p.bigint('number').$type<Cents>().nullable(),
    /** Of a webhook that was disabled. */
    detail: p.text().nullable(),
    attempts: p.integer().defaultRaw('default'),
    leaseUntil: p.datetime().nullable(),
    nextAttemptAt: p.datetime().nullable(),
    expiresAt: p.datetime(),
    outcome: p.text().nullable(),
    createdAt: p.datetime(),
  },
});

declare module '../../../db/tables.ts' {
  interface Tables {
    push_keys: TableOf<typeof PushKeySchema>;
    push_subscriptions: TableOf<typeof PushSubscriptionSchema>;
    push_messages: TableOf<typeof PushMessageSchema>;
  }
}
