/** The shape of evidence for callers and for its events. Shapes only. @module */
import type { EventData } from '../../../events/catalog.ts';
import { eurosFromCents } from '../../../kernel/money.ts';
import type { EvidenceWire } from './evidence.contract.ts';
import type { EvidenceRow } from './evidence.entity.ts';

export const evidenceWire = (row: EvidenceRow): EvidenceWire => ({
  ...evidenceData(row),
  merchant: row.merchant ?? null,
  description: row.description ?? null,
  url: row.url ?? null,
});

/** Without texts and without the URL, which may hold a capability. */
export const evidenceData = (
  row: EvidenceRow,
): EventData<'evidence.created'> & Pick<EvidenceWire, 'type' | 'amountEuros'> => ({
  id: row.id,
  intentId: row.intentId,
  agentId: row.agentId,
  ownerId: row.ownerId,
  type: row.type,
  amountEuros: row.amountCents == null ? null : eurosFromCents(row.amountCents),
  createdAt: row.createdAt.toISOString(),
});
