/**
 * Stores the attestation of an intent by a passkey, and deletes it when the passkey is removed. The caller has verified
 * the assertion; the policy decides how long an attestation counts.
 * @module
 */
import { idRow } from '../../../db/row-values.ts';
import { rowsOf, runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { recordChanges } from '../../../events/record.ts';
import { DomainError } from '../../../kernel/errors.ts';
import { actorInWords, type Cause } from '../../../platform/cause.ts';
import type { IntentRow } from './intent.entity.ts';
import { lockIntent } from './intent.lock.service.ts';
import { isFinalIntent } from './intent.rules.ts';
import { refusePastDeadline } from './intent.state.service.ts';
import { intentEventData } from './intent.wire.ts';

/** Throws for an intent that nothing can be attested of any more. */
export function refuseSettled(row: IntentRow, at: Date): void {
  if (isFinalIntent(row.status)) {
    throw new DomainError('invalid_state', `the intent is ${row.status}; only one that is open can be attested`);
  }
  refusePastDeadline(row, at);
}

/** The newest attestation counts; each fires an event. */
export async function recordAttestation(
  tx: Tx,
  id: string,
  { id: passkeyId, name }: { readonly id: string; readonly name: string },
  cause: Cause,
): Promise<IntentRow> {
  const row = await lockIntent(tx, id);
  refuseSettled(row, cause.at);
  row.attestedAt = cause.at;
  row.attestedBy = passkeyId;
  row.updatedAt = cause.at;
  await tx.flush();
  const { ownerId, agentId } = row;
  const details = { passkeyId, through: actorInWords(cause.actor) };
  const byPasskey = { ...cause, actor: { kind: 'passkey', id: passkeyId, name } } as const;
  await recordChanges(tx, byPasskey, [
    { event: 'intent.attested', ownerId, agentId, subjectId: id, data: intentEventData(row), details },
  ]);
  return row;
}

/**
 * Intents that a removed passkey attested and that are not paid yet lose their attestation: open ones and confirmed
 * ones.
 */
export async function voidAttestationsOf(tx: Tx, passkeyId: string, cause: Cause): Promise<void> {
  const locked = await rowsOf(
    tx,
    idRow,
    `select id from intents where attested_by = $1
       and (status in ('pending_approval', 'approved') or status = 'completed' and matched_transaction_id is null and transfer_id is null)
     order by id for update`,
    [passkeyId],
  );
  // A separate statement: it sees transactions that were confirmed while the locks were awaited.
  await runSql(
    tx,
    `update intents i set attested_at = null, attested_by = null, updated_at = $2
     where i.id = any($1::text[]) and (i.status <> 'completed' or exists (
       select 1 from transactions t where t.id = i.transaction_id and t.link_until is not null))`,
    [locked.map(({ id }) => id), cause.at],
  );
}
