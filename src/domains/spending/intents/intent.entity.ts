/** The intents table. Persistence only: no rule is decided here. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../../../db/tables.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { Cents } from '../../../kernel/money.ts';
import type { DeclinedCharge } from './allow-once.rules.ts';
import type { IntentStatus } from './intent.rules.ts';
import type { Recurring } from './windows/recurrence.rules.ts';

/** A transfer, or a split as a whole. */
export type PayingTransferId = Id<'transfer'> | Id<'transferSplit'>;

export type PolicyCheck = { allowed: boolean; requiresApproval: boolean; reason: string | null };

export const IntentSchema = defineEntity({
  name: 'Intent',
  tableName: 'intents',
  properties: {
    id: p.string().primary().$type<`int_${string}`>(),
    ownerId: p.string(),
    agentId: p.string(),
    clientIntentId: p.string().nullable(),
    purpose: p.string(),
    expectedAmountCents: p.bigint('number').$type<Cents>(),
    expectedMerchant: p.string().nullable(),
    cardId: p.string(),
    status: p.string().$type<IntentStatus>(),
    recurring: p.json<Recurring>().nullable(),
    expiresAt: p.datetime(),
    anchorAt: p.datetime().nullable(),
    windowNumber: p.integer().nullable(),
    windowDueAt: p.datetime().nullable(),
    windowFromAt: p.datetime().nullable(),
    windowToAt: p.datetime().nullable(),
    payWithinMinutes: p.integer().nullable(),
    policyCheck: p.json<PolicyCheck>(),
    policyVersion: p.integer().nullable(),
    attestedAt: p.datetime().nullable(),
    attestedBy: p.string().nullable(),
    isAutoApproved: p.boolean(),
    approvedBy: p.string().nullable(),
    approvedAt: p.datetime().nullable(),
    deniedReason: p.string().nullable(),
    completedAt: p.datetime().nullable(),
    matchedTransactionId: p.string().nullable(),
    transferId: p.string().$type<PayingTransferId>().nullable(),
    openPaymentId: p.string().nullable(),
    openPaymentAt: p.datetime().nullable(),
    transactionId: p.string().nullable(),
    declinedCharge: p.json<DeclinedCharge>().nullable(),
    allowsOnceOf: p.string().nullable(),
    verified: p.boolean(),
    requestId: p.string(),
    runId: p.string().nullable(),
    version: p.integer().version(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
  },
});
export class IntentRow extends IntentSchema.class {}
IntentSchema.setClass(IntentRow);

declare module '../../../db/tables.ts' {
  interface Tables {
    intents: TableOf<typeof IntentSchema>;
  }
}
