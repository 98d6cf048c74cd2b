/** The card network's messages. Persistence only. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../../../db/tables.ts';
import type { MessageKind, Unsettled } from './received-message.ts';

export const NetworkMessageSchema = defineEntity({
  name: 'NetworkMessage',
  tableName: 'network_messages',
  properties: {
    adapter: p.text().primary(),
    id: p.text().primary(),
    kind: p.text().$type<MessageKind>().primary(),
    authorizationId: p.text().nullable(),
    cardRef: p.text(),
    requestHash: p.text(),
    transactionId: p.text().nullable(),
    answer: p.json<unknown>(),
    isWaiting: p.boolean().defaultRaw('default'),
    body: p.json<unknown>().nullable(),
    receivedAt: p.datetime(),
    unbookedReason: p.text().$type<Unsettled>().nullable(),
    requestId: p.text().nullable(),
    /** What an operator made of a message that waited for one. */
    settledAs: p.text().$type<'assigned' | 'dismissed'>().nullable(),
    settledReason: p.text().nullable(),
    settledAt: p.datetime().nullable(),
  },
});

declare module '../../../db/tables.ts' {
  interface Tables {
    network_messages: TableOf<typeof NetworkMessageSchema>;
  }
}
