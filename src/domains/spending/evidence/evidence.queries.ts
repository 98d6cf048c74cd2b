/** Evidence reads: one, and all of an intent. No decision is made here. @module */
import type { Tx } from '../../../db/tx.ts';
import { EvidenceRow } from './evidence.entity.ts';

export const findEvidence = (tx: Tx, id: string): Promise<EvidenceRow | null> =>
  tx.findOne(EvidenceRow, { id: id as EvidenceRow['id'] });

/** Oldest first. */
export const evidenceOf = (tx: Tx, intentId: string): Promise<EvidenceRow[]> =>
  tx.find(EvidenceRow, { intentId }, { orderBy: { createdAt: 'asc', id: 'asc' } });

declare module '../../../http/reaches.ts' {
  interface Records {
    readonly evidence: EvidenceRow;
  }
}
