/** The table bank_entries. Persistence only: no rule is decided here. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../../../db/tables.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { Cents } from '../../../kernel/money.ts';
import type { BankEntryStatus } from './bank-entry.rules.ts';

export const BankEntrySchema = defineEntity({
  name: 'BankEntry',
  tableName: 'bank_entries',
  properties: {
    id: p.string().primary().$type<Id<'bankEntry'>>(),
    adapter: p.string(),
    accountIban: p.string().nullable(),
    servicerReference: p.string(),
    entryReference: p.string().nullable(),
    direction: p.string().$type<'credit' | 'debit'>().nullable(),
    isReversal: p.boolean(),
    amountCents: p.bigint('number').$type<Cents>().nullable(),
    bookedOn: p.string().nullable(),
    status: p.string().$type<BankEntryStatus>(),
    why: p.string().nullable(),
    ownerId: p.string().$type<Id<'owner'>>().nullable(),
    walletId: p.string().$type<Id<'wallet'>>().nullable(),
    fundingId: p.string().$type<Id<'funding'>>().nullable(),
    journalId: p.string().nullable(),
    assignedJournalId: p.string().nullable(),
    contradicts: p.string().nullable(),
    paymentKey: p.string().nullable(),
    endToEndCheck: p.string().nullable(),
    payerCheck: p.string().nullable(),
    assignable: p.boolean(),
    sealedDetails: p.string().nullable(),
    requestId: p.string(),
    version: p.integer().version(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
  },
});
export class BankEntryRow extends BankEntrySchema.class {}
BankEntrySchema.setClass(BankEntryRow);

declare module '../../../db/tables.ts' {
  interface Tables {
    bankEntries: TableOf<typeof BankEntrySchema>;
  }
}
