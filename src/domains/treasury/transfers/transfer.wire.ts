/** Transfers and splits as callers see them, and the events that report them. Shapes only. @module */

import type { EventData } from '../../../events/catalog.ts';
import { isoOrNull } from '../../../kernel/instant.ts';
import { eurosFromCents } from '../../../kernel/money.ts';
import type { BankTransfer } from './bank-transfer.queries.ts';
import { failureInWords } from './failure.rules.ts';
import type { TransferRecord, TransferSplitRecord } from './transfer.contract.ts';
import type { SplitView, TransferView } from './transfer.queries.ts';
import { approvalEnds, arrived } from './transfer-split.rules.ts';

/** `approvalUrl` where the caller may have it. */
export const transferWire = (row: TransferView, approvalUrl: string | null = null): TransferRecord => ({
  id: row.id,
  ownerId: row.ownerId,
  agentId: row.agentId,
  type: row.type,
  fromWalletId: row.fromWalletId,
  toWalletId: row.toWalletId,
  beneficiaryId: row.beneficiaryId,
  toIbanMasked: row.payeeIbanMasked,
  payeeName: row.payeeName,
  scheme: row.scheme,
  amountEuros: eurosFromCents(row.amountCents),
  currency: 'EUR',
  reference: row.reference,
  sepaReference: row.remittance,
  memo: row.memo,
  status: row.status,
  failureReason: row.failureReason,
  failureText: failureInWords(row),
  payeeCheck: row.payeeCheck,
  approvalRule: row.approvalRule,
  approvalUrl,
  expiresAt: isoOrNull(row.expiresAt),
  decidedBy: row.decidedBy,
  decidedAt: isoOrNull(row.decidedAt),
  decisionReason: row.decisionReason,
  executionDate: row.executionDate,
  settlementDate: row.settlementDate,
  recall: row.recallOutcome,
  splitId: row.splitId,
  intentId: row.intentId,
  requestId: row.requestId,
  runId: row.runId,
  metadata: row.metadata,
  createdAt: row.createdAt.toISOString(),
  completedAt: isoOrNull(row.completedAt),
});

/** `approvalUrl` and `lineWire` where the caller may have the links. */
export const transferSplitWire = (
  row: SplitView,
  approvalUrl: string | null = null,
  lineWire: (line: TransferView) => TransferRecord = (line) => transferWire(line),
): TransferSplitRecord => ({
  id: row.id,
  ownerId: row.ownerId,
  agentId: row.agentId,
  fromWalletId: row.fromWalletId,
  totalAmountEuros: eurosFromCents(row.totalAmountCents),
  currency: 'EUR',
  completedAmountEuros: eurosFromCents(arrived(row.transfers).amountCents),
  status: row.status,
  approvalRule: row.approvalRule,
  approvalUrl,
  expiresAt: isoOrNull(approvalEnds(row.transfers)),
  decision: row.decision,
  decidedBy: row.decidedBy,
  decidedAt: isoOrNull(row.decidedAt),
  decisionReason: row.decisionReason,
  intentId: row.transfers[0]?.intentId ?? null,
  requestId: row.requestId,
  runId: row.runId,
  createdAt: row.createdAt.toISOString(),
  completedAt: isoOrNull(row.completedAt),
  transfers: row.transfers.map(lineWire),
});

export const splitData = (row: SplitView): EventData<'transfer.split.completed'> => {
  const there = arrived(row.transfers);
  return {
    id: row.id,
    ownerId: row.ownerId,
    agentId: row.agentId,
    status: row.status,
    fromWalletId: row.fromWalletId,
    totalAmountEuros: eurosFromCents(row.totalAmountCents),
    completedAmountEuros: eurosFromCents(there.amountCents),
    lines: row.transfers.length,
    completedLines: there.lines,
  };
};

/** Without name, account, texts and address: events leave the deployment. */
export const bankTransferData = (row: BankTransfer): EventData<'transfer.created'> => ({
  id: row.id,
  ownerId: row.ownerId,
  agentId: row.agentId,
  status: row.status,
  type: row.type,
  fromWalletId: row.fromWalletId,
  toWalletId: null,
  beneficiaryId: row.beneficiaryId,
  amountEuros: eurosFromCents(row.amountCents),
  splitId: row.splitId,
  intentId: row.intentId,
  failureReason: row.failureReason,
});
