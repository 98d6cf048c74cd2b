/** Writes of protect rules: created and deleted, with event and audit row in the caller's transaction. @module */
import { runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { recordChanges } from '../../../events/record.ts';
import { notFound } from '../../../kernel/errors.ts';
import type { Id } from '../../../kernel/ids.ts';
import { assertBelowLimit } from '../../../platform/assert-limit.ts';
import type { Cause } from '../../../platform/cause.ts';
import type { ProtectRuleBody } from './protect-rule.contract.ts';
import { ProtectRuleRow } from './protect-rule.entity.ts';
import { findProtectRule, findSameProtectRule } from './protect-rule.queries.ts';
import { protectRuleData } from './protect-rule.wire.ts';

type NewProtectRule = { readonly id: Id<'protectRule'>; readonly ownerId: string; readonly body: ProtectRuleBody };

/** `isNew` is false for a rule that another call has made. A repeat of the call that made it is answered as the call was. */
export async function createProtectRule(
  tx: Tx,
  { id, ownerId, body }: NewProtectRule,
  cause: Cause,
): Promise<{ readonly row: ProtectRuleRow; readonly isNew: boolean }> {
  const { type, merchant, agentId = null, reason = null } = body;
  // Two equal requests at once: the second finds the rule of the first.
  await runSql(tx, 'select lock_limit($1, $2, $2)', ['protect_rules', ownerId]);
  const known =
    (await findProtectRule(tx, id)) ?? (await findSameProtectRule(tx, { ownerId, agentId, type, merchant }));
  if (known !== null) return { row: known, isNew: known.id === id };
  await assertBelowLimit(tx, 'protect_rules', { ownerId, subject: ownerId, at: cause.at }, { isLocked: true });
  const { requestId, at: createdAt } = cause;
  const row = tx.create(ProtectRuleRow, { id, ownerId, agentId, type, merchant, reason, requestId, createdAt });
  await tx.flush();
  await recordChanges(tx, cause, [changeOf(row, 'mpp_rule.created')]);
  return { row, isNew: true };
}

export async function deleteProtectRule(tx: Tx, row: ProtectRuleRow, cause: Cause): Promise<void> {
  const count = await tx.nativeDelete(ProtectRuleRow, { id: row.id, ownerId: row.ownerId });
  if (count === 0) throw notFound('protect rule', row.id); // Another request was faster.
  await recordChanges(tx, cause, [changeOf(row, 'mpp_rule.deleted')]);
}

const changeOf = (row: ProtectRuleRow, event: 'mpp_rule.created' | 'mpp_rule.deleted') => ({
  event,
  ownerId: row.ownerId,
  agentId: row.agentId ?? null,
  subjectId: row.id,
  data: protectRuleData(row),
});
