/** Evidence writes: stored with its intent or deleted, with event and audit row in the caller's transaction. @module */
import type { Tx } from '../../../db/tx.ts';
import { recordChanges } from '../../../events/record.ts';
import { assertBelowLimit } from '../../../platform/assert-limit.ts';
import type { Cause } from '../../../platform/cause.ts';
import { type IntentRow, lockIntent } from '../intents/index.ts';
import type { EvidenceBody } from './evidence.contract.ts';
import { EvidenceRow } from './evidence.entity.ts';
import { findEvidence } from './evidence.queries.ts';
import { evidenceData } from './evidence.wire.ts';

type NewEvidence = { readonly id: EvidenceRow['id']; readonly intent: IntentRow; readonly body: EvidenceBody };

/** The same id again finds the first. */
export async function keepEvidence(tx: Tx, { id, intent, body }: NewEvidence, cause: Cause): Promise<EvidenceRow> {
  const known = await findEvidence(tx, id);
  if (known !== null) return known;
  await lockIntent(tx, intent.id); // So that two at once do not both find the last place.
  const counted = { ownerId: intent.ownerId, subject: intent.id, at: cause.at };
  await assertBelowLimit(tx, 'evidence', counted, { isLocked: true });
  const row = tx.create(EvidenceRow, {
    id,
    ownerId: intent.ownerId,
    agentId: intent.agentId,
    intentId: intent.id,
    type: body.type,
    description: body.description ?? null,
    url: body.url ?? null,
    amountCents: body.amountCents ?? null,
    merchant: body.merchant ?? null,
    requestId: cause.requestId,
    createdAt: cause.at,
  });
  await tx.flush();
  await recordChanges(tx, cause, [changeOf(row, 'evidence.created')]);
  return row;
}

/** Nothing of it is left but that it was there. */
export async function deleteEvidence(tx: Tx, row: EvidenceRow, cause: Cause): Promise<void> {
  if ((await tx.nativeDelete(EvidenceRow, { id: row.id, ownerId: row.ownerId })) === 0) return; // Another request was faster.
  await recordChanges(tx, cause, [changeOf(row, 'evidence.deleted')]);
}

const changeOf = (row: EvidenceRow, event: 'evidence.created' | 'evidence.deleted') => ({
  event,
  ownerId: row.ownerId,
  agentId: row.agentId,
  subjectId: row.id,
  data: evidenceData(row),
  details: { intentId: row.intentId },
});
