/** An intent as callers and subscribers see it. Shapes only. @module */
import { eurosFromCents } from '../../../kernel/money.ts';
import type { IntentWire } from './intent.contract.ts';
import type { IntentRow } from './intent.entity.ts';
import type { IntentView } from './intent.messages.ts';

export const intentWire = (row: IntentRow): IntentWire => ({
  id: row.id,
  ownerId: row.ownerId,
  agentId: row.agentId,
  purpose: row.purpose,
  expectedAmountEuros: eurosFromCents(row.expectedAmountCents),
  expectedMerchant: row.expectedMerchant ?? null,
  status: row.status,
  recurring: row.recurring ?? null,
  expiresAt: row.expiresAt.toISOString(),
  cardId: row.cardId,
  policyCheck: row.policyCheck,
  clientIntentId: row.clientIntentId ?? null,
  approvedBy: row.approvedBy ?? null,
  approvedAt: row.approvedAt?.toISOString() ?? null,
  deniedReason: row.deniedReason ?? null,
  completedAt: row.completedAt?.toISOString() ?? null,
  matchedTransactionId: row.matchedTransactionId ?? null,
  transactionId: row.transactionId ?? null,
  attestedAt: null,
  verified: row.verified,
  createdAt: row.createdAt.toISOString(),
});

export const intentView = (row: IntentRow): IntentView => ({
  intentId: row.id,
  status: row.status,
  isMatched: isMatched(row),
  expiresAt: row.expiresAt.toISOString(),
  amountCents: row.expectedAmountCents,
  agentId: row.agentId,
  approvedBy: row.approvedBy ?? null,
});

const isMatched = (row: IntentRow): boolean => (row.matchedTransactionId ?? null) !== null;
