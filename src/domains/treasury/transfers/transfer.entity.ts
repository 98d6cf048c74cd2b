/** The tables of transfers and splits. Persistence only. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../../../db/tables.ts';
import type { CalendarDate } from '../../../kernel/calendar-date.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { Cents } from '../../../kernel/money.ts';
import type { BankTransferStage, PayeeCheckResult, RecallOutcome } from '../sepa/bank-transfer.rules.ts';
import type { Scheme } from '../sepa/scheme.rules.ts';
import type { TransferStatus, TransferType } from './transfer.rules.ts';
import type { SplitDecision, SplitStatus } from './transfer-split.rules.ts';

export const TransferSchema = defineEntity({
  name: 'Transfer',
  tableName: 'transfers',
  properties: {
    id: p.text().$type<Id<'transfer'>>().primary(),
    ownerId: p.text().$type<Id<'owner'>>(),
    agentId: p.text().$type<Id<'agent'>>().nullable(),
    type: p.text().$type<TransferType>(),
    fromWalletId: p.text().$type<Id<'wallet'>>().nullable(),
    toWalletId: p.text().$type<Id<'wallet'>>().nullable(),
    beneficiaryId: p.text().$type<Id<'beneficiary'>>().nullable(),
    amountCents: p.bigint('number').$type<Cents>(),
    reference: p.text().nullable(),
    memo: p.text().nullable(),
    metadata: p.json().$type<Record<string, unknown>>(),
    status: p.text().$type<TransferStatus>(),
    /** What the agent declared, and this pays for. */
    intentId: p.text().$type<Id<'intent'>>().nullable(),
    splitId: p.text().$type<Id<'transferSplit'>>().nullable(),
    splitLine: p.smallint().nullable(),
    /** Of a transfer to a bank account: the journal that holds the money. */
    journalId: p.text().$type<Id<'journal'>>(),
    requestId: p.text(),
    runId: p.text().nullable(),
    createdAt: p.datetime(),
    completedAt: p.datetime().nullable(),
    failureReason: p.text().nullable(),
    version: p.integer(),
    updatedAt: p.datetime(),
    // From here on: of a transfer to a bank account.
    stage: p.text().$type<BankTransferStage>().nullable(),
    scheme: p.text().$type<Scheme>().nullable(),
    payerWalletId: p.text().$type<Id<'wallet'>>().nullable(),
    payerIban: p.text().nullable(),
    payeeName: p.text().nullable(),
    payeeIbanMasked: p.text().nullable(),
    remittance: p.text().nullable(),
    payeeCheck: p.text().$type<PayeeCheckResult>().nullable(),
    approvalRule: p.text().nullable(),
    expiresAt: p.datetime().nullable(),
    decidedBy: p.text().nullable(),
    decidedAt: p.datetime().nullable(),
    decisionReason: p.text().nullable(),
    sendingCause: p.text().nullable(),
    sendUntil: p.datetime().nullable(),
    sentAt: p.datetime().nullable(),
    executionDate: p.text().$type<CalendarDate>().nullable(),
    settlementDate: p.text().$type<CalendarDate>().nullable(),
    askedAt: p.datetime().nullable(),
    asks: p.smallint(),
    reminders: p.smallint(),
    reasonCode: p.text().nullable(),
    returnWindowEndsAt: p.datetime().nullable(),
    recallRequestedAt: p.datetime().nullable(),
    recallOutcome: p.text().$type<RecallOutcome>().nullable(),
    closedAt: p.datetime().nullable(),
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
    status: p.text().$type<SplitStatus>(),
    requestId: p.text(),
    runId: p.text().nullable(),
    createdAt: p.datetime(),
    /** When its last line had ended, whatever became of them. */
    completedAt: p.datetime().nullable(),
    version: p.integer(),
    updatedAt: p.datetime(),
    approvalRule: p.text().nullable(),
    decision: p.text().$type<SplitDecision>().nullable(),
    decidedBy: p.text().nullable(),
    decidedAt: p.datetime().nullable(),
    decisionReason: p.text().nullable(),
  },
});

declare module '../../../db/tables.ts' {
  interface Tables {
    transfers: TableOf<typeof TransferSchema>;
    transferSplits: TableOf<typeof TransferSplitSchema>;
  }
}
