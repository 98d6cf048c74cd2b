/** Stores the result of comparing an intent with a receipt, and records its event once for each cause. @module */
import type { Tx } from '../../../db/tx.ts';
import { recordChanges } from '../../../events/record.ts';
import type { Cause } from '../../../platform/cause.ts';
import { hasMoved, recordTransition } from '../../../platform/transitions.ts';
import type { IntentRow } from './intent.entity.ts';
import { intentEventData } from './intent.wire.ts';
import { mismatchedField } from './verification.rules.ts';

/** The row is locked. */
export async function noteVerified(tx: Tx, row: IntentRow, mismatches: readonly string[], cause: Cause): Promise<void> {
  if (await hasMoved(tx, 'verification', row.id, cause.causeId)) return;
  const fits = mismatches.length === 0;
  row.verified = fits;
  row.updatedAt = cause.at;
  await tx.flush();
  await recordTransition(tx, 'verification', row.id, { from: null, to: fits ? 'verified' : 'mismatched' }, cause);
  const { ownerId, agentId, id } = row;
  const data = { ...intentEventData(row), intentId: id, mismatches: mismatches.map(mismatchedField) };
  const event = fits ? 'intent.verified' : 'verification.mismatch';
  await recordChanges(tx, cause, [{ event, ownerId, agentId, subjectId: id, data, details: { fits } }]);
}
