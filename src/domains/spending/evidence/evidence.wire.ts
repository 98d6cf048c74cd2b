/** Evidence as callers and subscribers see it. Shapes only. @module */
import { eurosFromCents } from '../../../kernel/money.ts';
import type { EvidenceWire } from './evidence.contract.ts';
import type { EvidenceRow } from './evidence.entity.ts';

export const evidenceWire = (row: EvidenceRow): EvidenceWire => ({
  ...evidenceData(row),
  description: row.description ?? null,
  url: row.url ?? null,
});

/** For events: an address may open what it names to whoever reads it, and a description may say anything. */
export const evidenceData = (row: EvidenceRow): Omit<EvidenceWire, 'description' | 'url'> => ({
  id: row.id,
  intentId: row.intentId,
  agentId: row.agentId,
  ownerId: row.ownerId,
  type: row.type,
  amountEuros: row.amountCents == null ? null : eurosFromCents(row.amountCents),
  merchant: row.merchant ?? null,
  createdAt: row.createdAt.toISOString(),
});
