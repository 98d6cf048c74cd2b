/** The messages that changed a transaction, and the decisions on payments. Persistence only. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../../../db/tables.ts';
import type { Cents } from '../../../kernel/money.ts';

export const TransactionEventSchema = defineEntity({
  name: 'TransactionEvent',
  tableName: 'transaction_events',
  properties: {
    seq: p.bigint('number').primary().defaultRaw('default'),
    transactionId: p.text(),
    kind: p.text(),
    adapter: p.text().nullable(),
    networkId: p.text().nullable(),
    amountCents: p.bigint('number').$type<Cents>(),
    isFinal: p.boolean().nullable(),
    at: p.datetime(),
    requestId: p.text().nullable(),
    /** What the merchant charged by this message, in its own currency. */
    merchantAmount: p.decimal('number').nullable(),
    merchantCurrency: p.text().nullable(),
  },
});

export const DecisionSchema = defineEntity({
  name: 'Decision',
  tableName: 'decisions',
  properties: {
    seq: p.bigint('number').primary().defaultRaw('default'),
    transactionId: p.text().nullable(),
    messageKind: p.text().defaultRaw('default'),
    messageId: p.text().nullable(),
    ownerId: p.text(),
    agentId: p.text(),
    cardId: p.text().nullable(),
    intentId: p.text().nullable(),
    outcome: p.text(),
    rule: p.text(),
    reason: p.text(),
    policyId: p.text().nullable(),
    policyVersion: p.integer().nullable(),
    facts: p.json<unknown>(),
    trace: p.json<unknown>(),
    at: p.datetime(),
  },
});

declare module '../../../db/tables.ts' {
  interface Tables {
    transaction_events: TableOf<typeof TransactionEventSchema>;
    decisions: TableOf<typeof DecisionSchema>;
  }
}
