/** Transfers and splits as callers see them, and the events that report them. Shapes only. @module */
import { eurosFromCents } from '../../../kernel/money.ts';
import type { TransferRecord, TransferSplitRecord } from './transfer.contract.ts';
import type { SplitView, TransferView } from './transfer.queries.ts';

export const transferWire = (row: TransferView): TransferRecord => ({
  id: row.id,
  ownerId: row.ownerId,
  agentId: row.agentId,
  type: row.type,
  fromWalletId: row.fromWalletId,
  toWalletId: row.toWalletId,
  amountEuros: eurosFromCents(row.amountCents),
  currency: 'EUR',
  reference: row.reference,
  memo: row.memo,
  status: row.status,
  splitId: row.splitId,
  requestId: row.requestId,
  runId: row.runId,
  metadata: row.metadata,
  createdAt: row.createdAt.toISOString(),
  completedAt: row.completedAt.toISOString(),
});

export const transferSplitWire = (row: SplitView): TransferSplitRecord => ({
  id: row.id,
  ownerId: row.ownerId,
  agentId: row.agentId,
  fromWalletId: row.fromWalletId,
  totalAmountEuros: eurosFromCents(row.totalAmountCents),
  currency: 'EUR',
  status: row.status,
  requestId: row.requestId,
  runId: row.runId,
  createdAt: row.createdAt.toISOString(),
  completedAt: row.completedAt.toISOString(),
  transfers: row.transfers.map(transferWire),
});
