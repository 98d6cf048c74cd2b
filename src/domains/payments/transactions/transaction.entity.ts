/** The transactions table. Persistence only; `spent_cents` is the database's own and not mapped. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../../../db/tables.ts';
import type { Cents } from '../../../kernel/money.ts';
import type { Rail, TransactionStatus, TransactionType } from './transaction.rules.ts';

export const TransactionSchema = defineEntity({
  name: 'Transaction',
  tableName: 'transactions',
  properties: {
    id: p.string().primary().$type<`tx_${string}`>(),
    ownerId: p.string(),
    agentId: p.string(),
    cardId: p.string().nullable(),
    intentId: p.string().nullable(),
    walletId: p.string().nullable(),
    adapter: p.string().nullable(),
    authorizationId: p.string().nullable(),
    fundingSource: p.string().nullable(),
    rail: p.string().$type<Rail>(),
    type: p.string().$type<TransactionType>(),
    status: p.string().$type<TransactionStatus>(),
    amountCents: p.bigint('number').$type<Cents>(),
    requestedCents: p.bigint('number').$type<Cents>(),
    approvedCents: p.bigint('number').$type<Cents>(),
    heldCents: p.bigint('number').$type<Cents>(),
    clearedCents: p.bigint('number').$type<Cents>(),
    reversedCents: p.bigint('number').$type<Cents>(),
    refundedCents: p.bigint('number').$type<Cents>(),
    currency: p.string(),
    merchantId: p.string().nullable(),
    merchant: p.string().nullable(),
    merchantMcc: p.string().nullable(),
    merchantCountry: p.string().nullable(),
    merchantAmount: p.decimal('number').nullable(),
    merchantCurrency: p.string().nullable(),
    isVerification: p.boolean(),
    isRecurring: p.boolean(),
    isFinal: p.boolean(),
    declineRule: p.string().nullable(),
    declineReason: p.string().nullable(),
    verified: p.boolean(),
    verifiedAt: p.datetime().nullable(),
    mismatch: p.string().nullable(),
    memo: p.string().nullable(),
    originalTransactionId: p.string().nullable(),
    issuerSettlementId: p.string().nullable(),
    holdExpiresAt: p.datetime().nullable(),
    linkUntil: p.datetime().nullable(),
    confirmedAt: p.datetime().nullable(),
    confirmCause: p.string().nullable(),
    authorizedAt: p.datetime().nullable(),
    completedAt: p.datetime().nullable(),
    requestId: p.string(),
    runId: p.string().nullable(),
    version: p.integer().version(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
  },
});
export class TransactionRow extends TransactionSchema.class {}
TransactionSchema.setClass(TransactionRow);

/** A row's columns without the ORM around them: what a decision is about to write. */
export type TransactionFields = { [K in keyof TransactionRow as K extends string ? K : never]: TransactionRow[K] };

declare module '../../../db/tables.ts' {
  interface Tables {
    transactions: TableOf<typeof TransactionSchema>;
  }
}
