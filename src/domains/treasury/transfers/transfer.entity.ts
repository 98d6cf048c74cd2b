/** The tables of transfers and splits. Persistence only. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../../../db/tables.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { Cents } from '../../../kernel/money.ts';
import type { TransferStatus, TransferType } from './transfer.rules.ts';

export const TransferSchema = defineEntity({
  name: 'Transfer',
  tableName: 'transfers',
  properties: {
    id: p.text().$type<Id<'transfer'>>().primary(),
    ownerId: p.text().$type<Id<'owner'>>(),
    agentId: p.text().$type<Id<'agent'>>().nullable(),
    type: p.text().$type<TransferType>(),
    fromWalletId: p.text().$type<Id<'wallet'>>().nullable(),
    toWalletId: p.text().$type<Id<'wallet'>>(),
    amountCents: p.bigint('number').$type<Cents>(),
    reference: p.text().nullable(),
    memo: p.text().nullable(),
    metadata: p.json().$type<Record<string, unknown>>(),
    status: p.text().$type<TransferStatus>(),
    splitId: p.text().$type<Id<'transferSplit'>>().nullable(),
    splitLine: p.smallint().nullable(),
    journalId: p.text().$type<Id<'journal'>>(),
    requestId: p.text(),
    runId: p.text().nullable(),
    createdAt: p.datetime(),
    completedAt: p.datetime(),
  },
});

export const TransferSplitSchema = defineEntity({
  name: 'TransferSplit',
  tableName: 'transfer_splits',
  properties: {
    id: p.text().$type<Id<'transferSplit'>>().primary(),
    ownerId: p.text().$type<Id<'owner'>>(),
    agentId: p.text().$type<Id<'agent'>>().nullable(),
    fromWalletId: p.text().$type<Id<'wallet'>>().nullable(),
    totalAmountCents: p.bigint('number').$type<Cents>(),
    status: p.text().$type<TransferStatus>(),
    requestId: p.text(),
    runId: p.text().nullable(),
    createdAt: p.datetime(),
    completedAt: p.datetime(),
  },
});

declare module '../../../db/tables.ts' {
  interface Tables {
    transfers: TableOf<typeof TransferSchema>;
    transferSplits: TableOf<typeof TransferSplitSchema>;
  }
}
