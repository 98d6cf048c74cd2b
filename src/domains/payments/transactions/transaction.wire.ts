/** A transaction as callers and subscribers see it. Shapes only. @module */
import { eurosFromCents } from '../../../kernel/money.ts';
import type { TransactionEventWire, TransactionWire } from './transaction.contract.ts';
import type { TransactionFields } from './transaction.entity.ts';
import type { TransactionEventRow } from './transaction.queries.ts';

type Fields = Omit<TransactionFields, 'version' | 'purse'>;

export const transactionWire = (row: Fields, events: readonly TransactionEventRow[]): TransactionWire => ({
  ...publicFields(row),
  events: events.map(eventWire),
});

/** The `data` of every transaction event but `transaction.completed`. What people note on it may name people. */
export function transactionData(row: Fields): Record<string, unknown> {
  const { memo: _personal, ...fields } = publicFields(row);
  return { transactionId: row.id, ...fields };
}

/** The `data` of `transaction.completed`: exactly the specification's fields. */
export const completedData = (row: Fields): Record<string, unknown> => ({
  transactionId: row.id,
  agentId: row.agentId,
  ...(row.intentId == null ? {} : { intentId: row.intentId }),
  amountEuros: eurosFromCents(row.amountCents),
  ...(row.merchant == null ? {} : { merchant: row.merchant }),
  status: row.status,
});

const publicFields = (row: Fields): Omit<TransactionWire, 'events'> => ({
  id: row.id,
  ownerId: row.ownerId,
  agentId: row.agentId,
  intentId: row.intentId ?? null,
  cardId: row.cardId ?? null,
  walletId: row.walletId ?? null,
  amountEuros: eurosFromCents(row.amountCents),
  heldEuros: eurosFromCents(row.heldCents),
  clearedEuros: eurosFromCents(row.clearedCents),
  currency: 'EUR',
  merchant: row.merchant ?? null,
  merchantId: row.merchantId ?? null,
  merchantMcc: row.merchantMcc ?? null,
  merchantCountry: row.merchantCountry ?? null,
  rail: row.rail,
  type: row.type,
  status: row.status,
  verified: row.verified,
  verifiedAt: row.verifiedAt?.toISOString() ?? null,
  mismatch: row.mismatch ?? null,
  memo: row.memo ?? null,
  issuerAuthorizationId: row.authorizationId ?? null,
  issuerSettlementId: row.issuerSettlementId ?? null,
  refundedEuros: eurosFromCents(row.refundedCents),
  originalTransactionId: row.originalTransactionId ?? null,
  declineRule: row.declineRule ?? null,
  declineReason: row.declineReason ?? null,
  confirmedAt: row.confirmedAt?.toISOString() ?? null,
  completedAt: row.completedAt?.toISOString() ?? null,
  requestId: row.requestId,
  runId: row.runId ?? null,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
});

const eventWire = (event: TransactionEventRow): TransactionEventWire => ({
  kind: event.kind,
  networkId: event.networkId,
  amountEuros: eurosFromCents(event.amountCents),
  final: event.isFinal,
  at: event.at.toISOString(),
});
